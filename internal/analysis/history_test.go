package analysis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// nightly is a run of so many IOPS in one step, on a day.
func nightly(day int, iops float64) record.RunReport {
	latency := time.Duration(1e9 / iops)
	return record.RunReport{
		Suite: "quick", Started: time.Date(2026, 5, day, 3, 0, 0, 0, time.UTC), Conditions: record.Conditions{Firmware: "A"},
		Steps: []record.Step{{
			Name: "random-read-qd1", Plan: "4 KiB random read, depth 1",
			Read: &record.Result{IOPS: iops, Latency: record.Histogram{{Latency: latency, Count: 100}}},
		}},
	}
}

func TestWithEarlierRuns(t *testing.T) {
	short, other, deeper, later := nightly(1, 1000), nightly(1, 1000), nightly(1, 1000), nightly(30, 1000)
	short.Steps[0].Warnings = []record.Warning{{Code: record.WarnShort}}
	other.Conditions.Firmware = "B"
	deeper.Steps[0].Plan = "4 KiB random read, depth 2"
	usual := []record.RunReport{nightly(1, 10000), nightly(2, 10200), nightly(3, 9900), nightly(4, 10100), short, other, deeper, later}
	for name, c := range map[string]struct {
		now     record.RunReport
		earlier []record.RunReport
		want    record.RunFigure // of the IOPS
	}{
		"alike": {nightly(9, 9850), usual, record.RunFigure{
			Runs: 4, Median: 10050, Best: 10200, Worst: 9900, Ratio: 10050.0 / 9850, Verdict: record.RunAlike,
		}},
		"slower": {nightly(9, 9000), usual, record.RunFigure{
			Runs: 4, Median: 10050, Best: 10200, Worst: 9900, Ratio: 10050.0 / 9000, Verdict: record.RunSlower,
		}},
		"faster": {nightly(9, 11000), usual, record.RunFigure{
			Runs: 4, Median: 10050, Best: 10200, Worst: 9900, Ratio: 10050.0 / 11000, Verdict: record.RunFaster,
		}},
		"within what they differ": {
			nightly(9, 8000), []record.RunReport{nightly(1, 8500), nightly(2, 12000), nightly(3, 9000), nightly(4, 10000)},
			record.RunFigure{Runs: 4, Median: 9500, Best: 12000, Worst: 8500, Ratio: 9500.0 / 8000, Verdict: record.RunAlike},
		},
		"too few": {nightly(9, 5000), usual[:3], record.RunFigure{
			Runs: 3, Median: 10000, Best: 10200, Worst: 9900, Ratio: 2, Verdict: record.RunFew,
		}},
		"the first": {nightly(9, 5000), usual[4:], record.RunFigure{Verdict: record.RunFew}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Step, c.want.Direction, c.want.Statistic = "random-read-qd1", record.Read, record.IOPS
			got := analysis.WithEarlier(c.now, c.earlier)
			if assert.Len(t, got, 3) {
				assert.Equal(t, c.want, got[0])
				assert.Equal(t, record.LatencyP50, got[1].Statistic)
				assert.Equal(t, c.want.Verdict, got[1].Verdict, "latency moved as much")
				assert.Equal(t, record.LatencyP99, got[2].Statistic)
			}
		})
	}
	assert.Empty(t, analysis.WithEarlier(short, usual), "what did not come to its end is not compared")
}
