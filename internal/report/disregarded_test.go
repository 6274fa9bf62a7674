package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Steps that were all disturbed give no headline.
func TestDisturbedRunsHaveNoHeadline(t *testing.T) {
	for want, r := range map[string]record.RunReport{
		"the knee is not known: 22 steps did not measure the drive alone (disturbed).":                  twice(depthRun()),
		"The evenness of the speed is not known: 96 steps did not measure the drive alone (disturbed).": twice(linearRun()),
	} {
		for i := range r.Steps {
			r.Steps[i].Warnings = []record.Warning{{Code: record.WarnDisturbed, Text: "The host was busy."}}
		}
		r.Analysis = &record.Analysis{Knees: analysis.Knees(r.Steps), Offsets: analysis.Offsets(r.Steps)}
		text := strings.Join(strings.Fields(runText(t, r)), " ")
		assert.Contains(t, text, want)
		assert.NotContains(t, text, "The slowest place")
	}
}
