package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// few leaves so few I/Os in each step that none of them supports a p99.
func few(r record.RunReport) record.RunReport {
	for i, s := range r.Steps {
		for _, at := range []**record.Result{&r.Steps[i].Read, &r.Steps[i].Write} {
			if *at != nil {
				*at = result(spread(900, at99(**at)...), 4<<10, float64(s.Workload.InFlight()))
			}
		}
	}
	return r
}

// at99 keeps the median and p99 of a result.
func at99(r record.Result) []at {
	return []at{{0, r.Min}, {0.5, r.Quantile(0.5)}, {0.99, r.Quantile(0.99)}, {1, r.Max}}
}

// Every table marks a p99 of few I/Os as the table of results does.
func TestEveryTableMarksPercentilesOfFewIOs(t *testing.T) {
	for title, r := range map[string]record.RunReport{
		"IOPS and latency over depth": few(depthRun()), "Latency over span": few(spanRun()), "Over-provisioning": few(spanRun()), "How many CPUs it takes": few(cpusRun()),
	} {
		r.Analysis = &record.Analysis{
			Knees: analysis.Knees(r.Steps), Spans: analysis.Spans(r.Steps), Spares: analysis.Spares(r.Steps, analysis.PTS()),
			CPUs: analysis.CPUScalings(r.Steps, analysis.Machine{CPUs: 32}),
		}
		_, section, found := strings.Cut(runText(t, r), "\n"+title)
		require.True(t, found, title)
		assert.Contains(t, section, " ~", title)
	}
	assert.True(t, analysis.Knees(few(depthRun()).Steps)[0].P99Unsure)
	assert.False(t, analysis.Knees(depthRun().Steps)[0].P99Unsure)
}

// A comparison marks such a p99, too, and tells programs.
func TestComparisonsMarkPercentilesOfFewIOs(t *testing.T) {
	before, after := quickRun(), quickRun()
	before.Steps[2].Read = result(sequential(900), 128<<10, 8)
	text := comparisonText(t, before, after)
	assert.Regexp(t, `p99 +~388 µs +390 µs`, text)
	assert.Contains(t, text, "~ fewer than 10 I/Os lie above this percentile")
	c := compare.Pair(before, after, 0.2)
	assert.Equal(t, []bool{true, false}, []bool{c.Loads[2].Figures[2].BeforeUnsure, c.Loads[2].Figures[2].AfterUnsure})
	var csv strings.Builder
	require.NoError(t, report.Comparisons{Names: []string{"a", "b"}, Comparisons: []record.Comparison{c}}.CSV(&csv))
	assert.Contains(t, csv.String(), ",percentile_of_few_ios\n")
	assert.Contains(t, csv.String(), ",from\n")
}
