package report_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func TestBrief(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, report.Brief(&b, depthRun()))
	golden(t, "brief_depth.txt", b.String())
	b.Reset()
	require.NoError(t, report.Brief(&b, record.RunReport{Suite: "quick", Target: "/dev/x"}))
	assert.Contains(t, b.String(), "Nothing was measured.")
}

// A knee is not reported if its repeats have an interval wider than their mean.
func TestNoKneeAmongRepeatsThatDiffer(t *testing.T) {
	r := depthRun()
	r.Steps[5].Series = "random-read-qd32"
	r.Analysis.Spreads = []record.Spread{{
		Load: "random-read-qd32", Direction: record.Read, Repeats: 3,
		IOPS: record.SpreadOf{Mean: record.Interval{Value: 100, Lower: new(10.0), Upper: new(190.0)}, Min: 20, Max: 258},
	}}
	var b bytes.Buffer
	require.NoError(t, report.Run(&b, r))
	assert.Contains(t, b.String(), "4 KiB random read: the knee is not known: repeats differ by 238 %.")
	assert.NotContains(t, b.String(), "the knee is at")
	r.Analysis.Spreads[0].IOPS.Mean = record.Interval{Value: 100, Lower: new(60.0), Upper: new(140.0)}
	b.Reset()
	require.NoError(t, report.Run(&b, r))
	assert.Contains(t, b.String(), "the knee is at depth 32")
}

// A job with gtod_reduce or disable_lat measures no latencies, and all forms of its report can be written.
func TestKneeWithoutLatencies(t *testing.T) {
	r := depthRun()
	for i := range r.Steps {
		r.Steps[i].Read.Mean, r.Steps[i].Read.Latency = 0, nil
	}
	r.Analysis.Knees = analysis.Knees(r.Steps)
	var text, page, document bytes.Buffer
	require.NoError(t, report.Brief(&text, r))
	assert.Regexp(t, `the knee is at depth 32 with .* IOPS; from there to depth 1024 IOPS grow 1.26×\. Latencies were\s+not measured\.`, text.String())
	require.NoError(t, report.HTML(&page, report.NewDocument(r, nil)))
	assert.NotContains(t, page.String(), "mean 0 µs")
	require.NoError(t, report.JSON(&document, report.NewDocument(r, nil)))
}

// A run that was stopped may have fewer rounds than the rule takes, and one round has no range: nothing says that it is not steady.
func TestSteadyStateOfTooFewRounds(t *testing.T) {
	r := steadyRun()
	r.Steps = r.Steps[:1]
	r.Analysis.Steady = analysis.Steadiness(r.Steps, analysis.PTS())
	var b bytes.Buffer
	require.NoError(t, report.Run(&b, r))
	assert.Contains(t, b.String(), "Whether it is steady is not known: that takes 5 rounds, and 1 ran to the end")
	assert.NotContains(t, b.String(), "(here 0.0 %)")
	assert.NotContains(t, b.String(), "Not steady")
}
