package recordtest

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// saturated returns the status of the suite saturate with a run from last night, reduced to one step of reads and one
// of writes. The run ended early when its window closed.
func saturated(target string, device record.Device, c record.Conditions) record.RunStatus {
	began := Now().Add(-10 * time.Hour)
	short := record.Warning{Code: record.WarnShort, Text: "stopped in step 3 of 10: the window of the run has closed"}
	c.Engine = "fio-3.33 libaio"
	return record.RunStatus{
		Suite: "saturate",
		Outcomes: map[record.RunOutcome]uint64{
			record.RunOK: 1, record.RunShort: 1, record.RunRefused: 0, record.RunError: 0,
		},
		Comparison: &record.Comparison{
			Before: record.RunReference{Suite: "saturate", TargetID: target, Started: began.Add(-24 * time.Hour)}, Runs: 5, Threshold: 0.05,
			After:   record.RunReference{Suite: "saturate", TargetID: target, Started: began},
			Verdict: record.Inconclusive, Reason: "it needs 4 earlier runs under the same conditions, and has 1",
			Loads: []record.ComparedLoad{
				{
					Load: "random-read-jobs16", Direction: record.Read, Before: 5, After: 1, Verdict: record.Same,
					Figures: []record.ComparedFigure{{
						Statistic: record.IOPS, Before: 1_010_000, After: 990_000, Best: 1_050_000, Worst: 985_000,
						Slower: record.Interval{Value: 1.02}, Verdict: record.Same,
					}},
				},
				{
					Load: "random-write-jobs16", Direction: record.Write, Before: 1, After: 1, Verdict: record.Inconclusive,
					Figures: []record.ComparedFigure{{
						Statistic: record.IOPS, Before: 150_000, After: 145_000, Best: 150_000, Worst: 150_000,
						Slower: record.Interval{Value: 1.034}, Verdict: record.Inconclusive,
					}},
				},
			},
		},
		Problem: "the window of the run has closed", Next: Now().Add(-10 * time.Hour), Complete: Now().Add(-34 * time.Hour),
		Last: &record.RunReport{
			Version: record.RunReportVersion, Suite: "saturate", Device: device, Target: "/dev/" + device.Name, TargetID: target,
			Started: began, Finished: began.Add(142 * time.Second), Node: "stor-07", Generator: "ssdprobe 1.2.3", Engine: "fio-3.33",
			Conditions: c, Warnings: []record.Warning{short},
			Steps: []record.Step{
				{
					Name: "random-read-jobs16", Plan: "4 KiB random read, depth 128, 16 jobs", Duration: time.Minute,
					Read: result(59_400_000, 4<<10, time.Minute, 1900*time.Microsecond), UserCPU: 2.1, SystemCPU: 9.4, InterruptsPerIO: 0.31,
					Warnings: []record.Warning{{Code: record.WarnCPUBound, Text: "the CPUs were the limit, not the drive"}},
				},
				{
					Name: "random-write-jobs16", Plan: "4 KiB random write, depth 128, 16 jobs", Duration: time.Minute,
					Write: result(8_700_000, 4<<10, time.Minute, 13*time.Millisecond), UserCPU: 0.4, SystemCPU: 1.7, InterruptsPerIO: 0.62,
				},
			},
		},
	}
}

// result returns the result of n I/Os, most of which took about the median.
func result(n, blockBytes int64, span, median time.Duration) *record.Result {
	h := record.NewHistogram([]record.Bin{
		{Latency: median * 6 / 10, Count: n / 10}, {Latency: median, Count: n * 8 / 10},
		{Latency: median * 2, Count: n * 9 / 100}, {Latency: median * 9, Count: n / 100},
	})
	return &record.Result{
		IOs: n, Bytes: n * blockBytes, IOPS: float64(n) / span.Seconds(), BytesPerSecond: float64(n*blockBytes) / span.Seconds(),
		Latency: h, Min: h.Min(), Mean: h.Mean(), Max: h.Max(),
	}
}
