package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func TestRunVerdict(t *testing.T) {
	figure := func(v record.RunVerdict, runs int, ratio float64) record.RunFigure {
		return record.RunFigure{
			Step: "random-read-qd1", Direction: record.Read, Statistic: record.LatencyP99, Runs: runs,
			Median: 100e-6, Best: 98e-6, Worst: 104e-6, Ratio: ratio, Verdict: v,
		}
	}
	alike, slower, faster := figure(record.RunAlike, 6, 1.01), figure(record.RunSlower, 6, 1.31), figure(record.RunFaster, 6, 1/1.25)
	few := figure(record.RunFew, 3, 1.5)
	slowerText := "random-read-qd1, read p99: 31 % slower than their median of 100 µs (98.0 µs to 104 µs)"
	fasterText := "random-read-qd1, read p99: 25 % faster than their median of 100 µs (98.0 µs to 104 µs)"
	for name, c := range map[string]struct {
		figures []record.RunFigure
		text    string
		changed []string
	}{
		"nothing":      {},
		"the first":    {[]record.RunFigure{{Verdict: record.RunFew}}, "not compared: fewer than 4 runs before it under the same conditions (0)", nil},
		"too few":      {[]record.RunFigure{few, few}, "not compared: fewer than 4 runs before it under the same conditions (3)", nil},
		"alike":        {[]record.RunFigure{alike, alike}, "like the 6 runs before it in all of 2 figures", nil},
		"slower":       {[]record.RunFigure{alike, slower}, "slower than the 6 runs before it in 1 of 2 figures", []string{slowerText}},
		"faster":       {[]record.RunFigure{faster}, "faster than the 6 runs before it in 1 of 1 figure", []string{fasterText}},
		"both":         {[]record.RunFigure{faster, slower}, "slower than the 6 runs before it in 1, and faster in 1, of 2 figures", []string{slowerText, fasterText}},
		"one is newer": {[]record.RunFigure{alike, few}, "like the 6 runs before it in all of 1 figure; 1 other not compared, with fewer than 4 runs before it", nil},
	} {
		t.Run(name, func(t *testing.T) {
			text, changed := report.RunVerdict(record.RunStatus{Figures: c.figures})
			assert.Equal(t, c.text, text)
			assert.Equal(t, c.changed, changed)
		})
	}
}

func TestDriftTellsHowRunsCompare(t *testing.T) {
	s := record.Snapshot{Time: started(), Targets: []record.TargetStatus{{
		ID: "eui.1", Path: "/dev/nvme0n1", Runs: []record.RunStatus{
			{Suite: "quick", Last: &record.RunReport{Started: started()}, Figures: []record.RunFigure{{
				Step: "mixed", Direction: record.Read, Statistic: record.IOPS, Runs: 5,
				Median: 1000, Best: 1010, Worst: 990, Ratio: 1.25, Verdict: record.RunSlower,
			}}},
			{Suite: "depth"},
		},
	}}}
	var b strings.Builder
	require.NoError(t, report.Drift(&b, s))
	assert.Contains(t, b.String(), `
  run of quick, 2026-05-04 13:02:11 +02:00: slower than the 5 runs before it in 1 of 1 figure
    mixed, read IOPS: 25 % slower than their median of 1 000 IOPS (1 010 IOPS to 990 IOPS)
`)
	assert.NotContains(t, b.String(), "depth")
}
