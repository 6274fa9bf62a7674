package analysis_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
)

func TestRatio(t *testing.T) {
	got, ok := analysis.Ratio([]float64{100, 101, 99}, []float64{50, 50.5, 49.5})
	assert.True(t, ok)
	assert.InDelta(t, 0.5, got.Value, 1e-9)
	assert.True(t, analysis.Certain(got))

	got, ok = analysis.Ratio([]float64{100}, []float64{50})
	assert.True(t, ok)
	assert.Nil(t, got.Lower, "one value on each side has no spread")
	assert.False(t, analysis.Certain(got))

	for _, values := range [][]float64{nil, {0}, {-1}, {1, 0}, {math.NaN()}} {
		_, ok := analysis.Ratio(values, []float64{1})
		assert.False(t, ok, values)
		_, ok = analysis.Ratio([]float64{1}, values)
		assert.False(t, ok, values)
	}
}

func TestSweepNameIsThatOfTheKnee(t *testing.T) {
	var steps []step
	for depth := 1; depth <= 8; depth *= 2 {
		steps = append(steps, randomRead(depth, 1000))
	}
	assert.Equal(t, analysis.Knees(steps)[0].Load, analysis.SweepName(*steps[2].Workload, steps[2].Workload.Direction))
}
