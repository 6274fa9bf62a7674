package export

import (
	"slices"
	"strconv"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// runFamilies returns the families that describe the scheduled runs of suites on a target: the last one that measured
// anything, which is kept over restarts, and the outcomes of all.
func runFamilies() []family[record.TargetStatus] {
	return append(append(lastRunFamilies(), runBaselineFamilies()...),
		metric("ssdprobe_run_last_completion_timestamp_seconds", gauge, []string{"suite"},
			"Time when the last run of the suite with results ended, in seconds since 1970. Absent without such a run.",
			eachRun(func(r record.RunReport, emit emit) { emitTime(emit, r.Finished, r.Suite) })),
		metric("ssdprobe_run_duration_seconds", gauge, []string{"suite"},
			"Duration of the last run of the suite with results, in seconds.",
			eachRun(func(r record.RunReport, emit emit) {
				emitKnown(emit, r.Finished.Sub(r.Started).Seconds(), r.Suite)
			})),
		metric("ssdprobe_run_warning", gauge, []string{"suite", "step", "code"},
			"A warning on the last run of the suite or on one of its steps. Always 1. step is empty if it concerns the whole run.",
			eachRun(func(r record.RunReport, emit emit) {
				for _, w := range r.Warnings {
					emit(1, r.Suite, "", w.Code)
				}
				for _, step := range r.Steps {
					for _, w := range step.Warnings {
						emit(1, r.Suite, step.Name, w.Code)
					}
				}
			})),
		metric("ssdprobe_run_next_timestamp_seconds", gauge, []string{"suite"},
			"Time when the suite is due by its schedule, in seconds since 1970: the first scheduled time after the last complete run. It is in the past while a run is overdue. Absent if the suite is not scheduled.",
			func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					emitTime(emit, r.Next, r.Suite)
				}
			}),
		metric("ssdprobe_run_in_progress", gauge, []string{"suite"},
			"1 while the suite is running or waiting for the device. Else 0.",
			func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					emit(boolean(!r.Since.IsZero()), r.Suite)
				}
			}),
		metric("ssdprobe_runs_total", counter, []string{"suite", "outcome"},
			"Number of runs of the suite since the daemon started, by outcome. short: the run ended early. refused: the device was busy, or other nodes were running, throughout the window, or another run was in progress when it was due.",
			func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					for outcome, n := range r.Outcomes {
						emit(float64(n), r.Suite, string(outcome))
					}
				}
			}),
	)
}

// runBaselineFamilies returns the families that compare the last run with the earlier ones.
func runBaselineFamilies() []family[record.TargetStatus] {
	labels := []string{"suite", "step", "direction", "statistic"}
	eachLoad := func(series func(l record.ComparedLoad, f record.ComparedFigure, emit emit, labels ...string)) func(record.TargetStatus, emit) {
		return func(t record.TargetStatus, emit emit) {
			for _, r := range t.Runs {
				if r.Comparison == nil {
					continue
				}
				for _, l := range r.Comparison.Loads {
					for _, f := range l.Figures {
						series(l, f, emit, r.Suite, l.Load, string(l.Direction), string(f.Statistic))
					}
				}
			}
		}
	}
	return []family[record.TargetStatus]{
		metric("ssdprobe_run_verdict", gauge, []string{"suite", "verdict"},
			"How the last run compares with earlier runs, as the label verdict: slower, faster, same or inconclusive. Always 1. The p99 of a single step never decides the verdict alone.",
			func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					if r.Comparison != nil {
						emit(1, r.Suite, string(r.Comparison.Verdict))
					}
				}
			}),
		metric("ssdprobe_run_baseline_runs", gauge, labels,
			"Number of earlier runs under the same conditions that a step of the last run is compared with. Fewer than 4 are too few for a verdict.",
			eachLoad(func(l record.ComparedLoad, _ record.ComparedFigure, emit emit, labels ...string) {
				emit(float64(l.Before), labels...)
			})),
		metric("ssdprobe_run_baseline_value", gauge, labels,
			"Median of the earlier runs that a step of the last run is compared with, in the unit at the end of the statistic's name.",
			eachLoad(func(_ record.ComparedLoad, f record.ComparedFigure, emit emit, labels ...string) {
				emitKnown(emit, f.Before, labels...)
			})),
		metric("ssdprobe_run_drift_ratio", gauge, labels,
			"How many times slower a step of the last run was than ssdprobe_run_baseline_value. Above 1 is worse for every statistic; IOPS are inverted.",
			eachLoad(func(_ record.ComparedLoad, f record.ComparedFigure, emit emit, labels ...string) {
				emitKnown(emit, f.Slower.Value, labels...)
			})),
		metric("ssdprobe_run_drift_state", gauge, append(labels[:len(labels):len(labels)], "state"),
			"How a statistic of the last run compares with earlier runs, as the label state: slower or faster (beyond all earlier runs, and by more than these differ), "+
				"same, or inconclusive (fewer than 4 earlier runs, or a warning makes the step unusable). Always 1.",
			eachLoad(func(_ record.ComparedLoad, f record.ComparedFigure, emit emit, labels ...string) {
				emit(1, append(labels, string(f.Verdict))...)
			})),
	}
}

// lastRunFamilies returns the families with the figures of the last run, with reads and writes separate.
func lastRunFamilies() []family[record.TargetStatus] {
	var all []family[record.TargetStatus]
	for _, d := range []struct {
		direction record.Direction
		of        func(record.Step) *record.Result
	}{
		{record.Read, func(s record.Step) *record.Result { return s.Read }},
		{record.Write, func(s record.Step) *record.Result { return s.Write }},
	} {
		name := "ssdprobe_run_" + string(d.direction)
		eachResult := func(series func(r record.Result, suite, step string, emit emit)) func(record.TargetStatus, emit) {
			return eachRun(func(r record.RunReport, emit emit) {
				for _, step := range r.Steps {
					if result := d.of(step); result != nil && !step.Impossible() { // no value is better than a wrong one
						series(*result, r.Suite, step.Name, emit)
					}
				}
			})
		}
		all = append(all,
			metric(name+"_iops", gauge, []string{"suite", "step"},
				"I/Os per second ("+string(d.direction)+") in a step of the last run. Absent if it is beyond what the bus can carry.",
				eachResult(func(r record.Result, suite, step string, emit emit) { emitKnown(emit, r.IOPS, suite, step) })),
			metric(name+"_bytes_per_second", gauge, []string{"suite", "step"},
				"Bandwidth ("+string(d.direction)+") in a step of the last run, in bytes per second. Absent if it is beyond what the bus can carry.",
				eachResult(func(r record.Result, suite, step string, emit emit) { emitKnown(emit, r.BytesPerSecond, suite, step) })),
			metric(name+"_latency_percentile_seconds", gauge, []string{"suite", "step", "percentile"},
				"Latency percentile ("+string(d.direction)+") in a step of the last run, in seconds, by nearest rank. Absent if the result is beyond what the bus can carry. "+
					"See also "+name+"_latency_percentile_ios.",
				eachResult(func(r record.Result, suite, step string, emit emit) {
					for _, percentile := range record.Percentiles() {
						emitKnown(emit, r.Quantile(percentile/100).Seconds(), suite, step, strconv.FormatFloat(percentile, 'g', -1, 64))
					}
				})),
			metric(name+"_latency_percentile_ios", gauge, []string{"suite", "step", "percentile"},
				"Number of I/Os behind a percentile that has fewer than ten of them above it. The percentile is then close to the slowest I/O. Absent for all other percentiles.",
				eachResult(func(r record.Result, suite, step string, emit emit) {
					for _, percentile := range record.Percentiles() {
						if r.Unsure(percentile / 100) {
							emit(float64(r.Samples()), suite, step, strconv.FormatFloat(percentile, 'g', -1, 64))
						}
					}
				})),
		)
	}
	return all
}

// current returns the suites that are scheduled or in progress. Of one that was scheduled once only its reports are left,
// and its series, which may be hundreds, would stay for ever.
func current(runs []record.RunStatus) []record.RunStatus {
	return slices.DeleteFunc(slices.Clone(runs), func(r record.RunStatus) bool { return r.Next.IsZero() && r.Since.IsZero() })
}

// eachRun calls series for the last run of each suite on a target.
func eachRun(series func(record.RunReport, emit)) func(record.TargetStatus, emit) {
	return func(t record.TargetStatus, emit emit) {
		for _, r := range t.Runs {
			if r.Last != nil {
				series(*r.Last, emit)
			}
		}
	}
}
