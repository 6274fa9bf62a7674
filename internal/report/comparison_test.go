package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func comparisonText(t *testing.T, c report.Comparison) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, c.Text(&b))
	return b.String()
}

// beforeUpdate is quickRun a fortnight before: older firmware, a full-speed link,
// faster; one step had another plan and one is gone since.
func beforeUpdate() record.RunReport {
	r := quickRun()
	r.Started = r.Started.AddDate(0, 0, -14)
	r.Conditions.Firmware, r.Conditions.PCIeLink = "GDC5302Q", record.LinkRate{GTs: 16, Lanes: 4}
	r.Warnings = nil
	r.Steps[0].Read = result(slowed(depth1(124_300), 0.75), 4<<10, 1)
	r.Steps[1].Read = result(slowed(depth32(312_000), 0.98), 4<<10, 32)
	r.Steps[2].Plan = "128 KiB sequential read, depth 32"
	r.Steps = append(r.Steps, record.Step{Name: "random-write-qd1", Plan: "4 KiB random write, depth 1"})
	return r
}

func TestComparisonText(t *testing.T) {
	slow := probeRun()
	slow.Started = slow.Started.Add(-time.Hour)
	for name, c := range map[string]report.Comparison{
		"comparison_slower.txt":  report.Compare(beforeUpdate(), quickRun(), 0.1),
		"comparison_faster.txt":  report.Compare(quickRun(), beforeUpdate(), 0.1),
		"comparison_same.txt":    report.Compare(slow, probeRun(), 0.25),
		"comparison_nothing.txt": report.Compare(probeRun(), quickRun(), 0.1),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, comparisonText(t, c)) })
	}
}

func TestComparisonJSON(t *testing.T) {
	var b strings.Builder
	require.NoError(t, report.JSON(&b, report.Compare(beforeUpdate(), quickRun(), 0.1)))
	golden(t, "comparison_slower.json", b.String())
}

// oneStep is a run of one step with n I/Os of one latency each for the median and for the slowest 2 %.
func oneStep(n int64, median, tail time.Duration, iops float64) record.RunReport {
	slow := n / 50
	return record.RunReport{Suite: "probe", TargetID: "a", Steps: []record.Step{{
		Name: "read-4k", Plan: "4 KiB random read, depth 1",
		Read: &record.Result{IOs: n, IOPS: iops, Latency: record.Histogram{{Latency: median, Count: n - slow}, {Latency: tail, Count: slow}}},
	}}}
}

func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		baseline, now record.RunReport
		want          report.Verdict
	}{
		"equal":                      {oneStep(256, 80*us, 200*us, 12_000), oneStep(256, 80*us, 200*us, 12_000), report.Same},
		"p50 at the threshold":       {oneStep(256, 80*us, 200*us, 12_000), oneStep(256, 88*us, 200*us, 12_000), report.Same},
		"p50 beyond it":              {oneStep(256, 80*us, 200*us, 12_000), oneStep(256, 89*us, 200*us, 12_000), report.Slower},
		"iops alone":                 {oneStep(256, 80*us, 200*us, 12_000), oneStep(256, 80*us, 200*us, 10_000), report.Slower},
		"tail of few I/Os":           {oneStep(256, 80*us, 200*us, 12_000), oneStep(256, 80*us, 900*us, 12_000), report.Same},
		"tail of few in baseline":    {oneStep(999, 80*us, 200*us, 12_000), oneStep(5000, 80*us, 900*us, 12_000), report.Same},
		"tail of few now":            {oneStep(5000, 80*us, 200*us, 12_000), oneStep(999, 80*us, 900*us, 12_000), report.Same},
		"tail of enough I/Os":        {oneStep(1000, 80*us, 200*us, 12_000), oneStep(1000, 80*us, 900*us, 12_000), report.Slower},
		"faster":                     {oneStep(256, 80*us, 200*us, 12_000), oneStep(256, 60*us, 200*us, 12_100), report.Faster},
		"faster p50, slower iops":    {oneStep(256, 80*us, 200*us, 12_000), oneStep(256, 60*us, 200*us, 9_000), report.Slower},
		"no I/O now":                 {oneStep(256, 80*us, 200*us, 12_000), record.RunReport{Suite: "probe", TargetID: "a"}, report.Incomplete},
		"figures empty on one side":  {oneStep(256, 80*us, 200*us, 12_000), oneStep(0, 0, 0, 0), report.Incomplete},
		"both empty":                 {record.RunReport{}, record.RunReport{}, report.Incomplete},
		"iops known on one side":     {oneStep(256, 80*us, 200*us, 0), oneStep(256, 80*us, 200*us, 12_000), report.Same},
		"faster tail of few I/Os":    {oneStep(256, 80*us, 900*us, 12_000), oneStep(256, 80*us, 200*us, 12_000), report.Same},
		"faster tail of enough I/Os": {oneStep(1000, 80*us, 900*us, 12_000), oneStep(1000, 80*us, 200*us, 12_000), report.Faster},
	} {
		t.Run(name, func(t *testing.T) {
			got := report.Compare(c.baseline, c.now, 0.1)
			assert.Equal(t, c.want, got.Verdict)
			assert.Equal(t, c.want == report.Slower, got.Slower())
		})
	}
}

func TestCompare(t *testing.T) {
	baseline, now := oneStep(256, 80*us, 200*us, 12_000), oneStep(1024, 100*us, 150*us, 9_600)
	baseline.Conditions.Scheduler, now.Conditions.Scheduler = "none", "mq-deadline"
	baseline.TargetID, baseline.Suite = "b", "quick"
	governor := record.Warning{Code: record.WarnGovernor, Text: "The governor saves power."}
	baseline.Warnings, now.Warnings = []record.Warning{governor, linkWarning()}, []record.Warning{governor}
	disturbed := record.Warning{Code: record.WarnDisturbed, Text: "Waited for a CPU."}
	now.Steps[0].Warnings = []record.Warning{disturbed}
	now.Steps[0].Write = &record.Result{}
	baseline.Steps[0].Sync = &record.Result{}
	baseline.Steps = append(baseline.Steps, record.Step{Name: "gone"})

	assert.Equal(t, report.Comparison{
		Baseline:   report.RunReference{Suite: "quick", TargetID: "b"},
		Now:        report.RunReference{Suite: "probe", TargetID: "a"},
		Threshold:  0.1,
		Verdict:    report.Slower,
		Conditions: []record.Change{{Condition: "scheduler", From: "none", To: "mq-deadline"}},
		Warnings: []record.Warning{
			{Code: record.WarnConditionsDiffer, Text: "The baseline is of another target: b, not a."},
			{Code: record.WarnConditionsDiffer, Text: "The baseline is of another suite: quick, not probe."},
			{
				Code: record.WarnConditionsDiffer,
				Text: "1 condition changed since the baseline and may explain any difference: save a new baseline once the change is meant to stay.",
			},
			{
				Code: record.WarnFewSamples,
				Text: "Fewer than 1 000 I/Os on one side of read-4k read: p95 and p99 are shown but do not count; measure longer to compare tails.",
			},
			governor,
			{Code: record.WarnLinkBelowMaximum, Text: "The baseline: " + linkWarning().Text},
		},
		Steps: []report.StepComparison{{
			Step: "read-4k", Plan: "4 KiB random read, depth 1", Direction: "read", BaselineIOs: 256, NowIOs: 1024,
			Statistics: []report.StatisticComparison{
				{Statistic: record.LatencyP50, Baseline: 80e-6, Now: 100e-6, Ratio: 1.25, Verdict: report.Slower, Counts: true},
				{Statistic: record.LatencyP95, Baseline: 80e-6, Now: 100e-6, Ratio: 1.25, Verdict: report.Slower},
				{Statistic: record.LatencyP99, Baseline: 200e-6, Now: 150e-6, Ratio: 0.75, Verdict: report.Faster},
				{Statistic: record.IOPS, Baseline: 12_000, Now: 9_600, Ratio: 1.25, Verdict: report.Slower, Counts: true},
			},
			Warnings: []record.Warning{{Code: record.WarnDisturbed, Text: "This run: Waited for a CPU."}},
		}},
		NotCompared: []report.UnmatchedFigures{
			{Step: "read-4k", Direction: "write", Reason: "only in this run"},
			{Step: "read-4k", Direction: "sync", Reason: "only in the baseline"},
			{Step: "gone", Reason: "only in the baseline"},
		},
	}, roundedRatios(report.Compare(baseline, now, 0.1)))
}

// roundedRatios takes the last bits of division out of ratios.
func roundedRatios(c report.Comparison) report.Comparison {
	for i := range c.Steps {
		for k := range c.Steps[i].Statistics {
			s := &c.Steps[i].Statistics[k]
			s.Ratio = float64(int64(s.Ratio*1e9+0.5)) / 1e9
		}
	}
	return c
}
