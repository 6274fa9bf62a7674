package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
)

func TestSweepNameIsThatOfTheKnee(t *testing.T) {
	var steps []step
	for depth := 1; depth <= 8; depth *= 2 {
		steps = append(steps, randomRead(depth, 1000))
	}
	assert.Equal(t, analysis.Knees(steps)[0].Load, analysis.SweepName(*steps[2].Workload, steps[2].Workload.Direction))
}
