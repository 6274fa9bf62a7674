package export

import (
	"strconv"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// runFamilies tell of full runs of suites on a target: of the last one that
// measured anything, kept over restarts, and how all of them went.
func runFamilies() []family[record.TargetStatus] {
	return append(append(lastRunFamilies(), runBaselineFamilies()...),
		family[record.TargetStatus]{
			name: "ssdprobe_run_last_completion_timestamp_seconds", kind: gauge,
			help:   "Time when the last run of the suite with results ended, in seconds since 1970. Absent without such a run.",
			labels: []string{"suite"},
			series: eachRun(func(r record.RunReport, emit emit) { emitTime(emit, r.Finished, r.Suite) }),
		},
		family[record.TargetStatus]{
			name: "ssdprobe_run_duration_seconds", kind: gauge,
			help:   "Duration of the last run of the suite with results, in seconds.",
			labels: []string{"suite"},
			series: eachRun(func(r record.RunReport, emit emit) {
				emitKnown(emit, r.Finished.Sub(r.Started).Seconds(), r.Suite)
			}),
		},
		family[record.TargetStatus]{
			name: "ssdprobe_run_warning", kind: gauge,
			help:   "A warning on the last run of the suite or on one of its steps. Always 1. step is empty if it concerns the whole run.",
			labels: []string{"suite", "step", "code"},
			series: eachRun(func(r record.RunReport, emit emit) {
				for _, w := range r.Warnings {
					emit(1, r.Suite, "", w.Code)
				}
				for _, step := range r.Steps {
					for _, w := range step.Warnings {
						emit(1, r.Suite, step.Name, w.Code)
					}
				}
			}),
		},
		family[record.TargetStatus]{
			name: "ssdprobe_run_next_timestamp_seconds", kind: gauge,
			help: "Time when the suite is due by its schedule, in seconds since 1970. It is the first scheduled time after the last complete run, " +
				"so it is in the past while a run is overdue. Absent if the suite is not scheduled.",
			labels: []string{"suite"},
			series: func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					emitTime(emit, r.Next, r.Suite)
				}
			},
		},
		family[record.TargetStatus]{
			name: "ssdprobe_run_in_progress", kind: gauge,
			help:   "1 while the suite is running or waiting for the device. Else 0.",
			labels: []string{"suite"},
			series: func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					emit(boolean(!r.Since.IsZero()), r.Suite)
				}
			},
		},
		family[record.TargetStatus]{
			name: "ssdprobe_runs_total", kind: counter,
			help:   "Number of runs of the suite since the daemon started, by outcome. short ended early. refused found the device busy, or other nodes running, throughout its window.",
			labels: []string{"suite", "outcome"},
			series: func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					for outcome, n := range r.Outcomes {
						emit(float64(n), r.Suite, string(outcome))
					}
				}
			},
		},
	)
}

// runBaselineFamilies compare the last run with those before it.
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
		{
			name: "ssdprobe_run_verdict", kind: gauge, labels: []string{"suite", "verdict"},
			help: "How the last run compares with those before it, as the label verdict: slower, faster, same or inconclusive; always 1. " +
				"The p99 of one step alone decides nothing.",
			series: func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					if r.Comparison != nil {
						emit(1, r.Suite, string(r.Comparison.Verdict))
					}
				}
			},
		},
		{
			name: "ssdprobe_run_baseline_runs", kind: gauge, labels: labels,
			help: "Number of earlier runs under the same conditions that a step of the last run is compared with. Fewer than 4 are too few for a verdict.",
			series: eachLoad(func(l record.ComparedLoad, _ record.ComparedFigure, emit emit, labels ...string) {
				emit(float64(l.Before), labels...)
			}),
		},
		{
			name: "ssdprobe_run_baseline_value", kind: gauge, labels: labels,
			help: "Median of these earlier runs, in the unit at the end of the statistic's name.",
			series: eachLoad(func(_ record.ComparedLoad, f record.ComparedFigure, emit emit, labels ...string) {
				emitKnown(emit, f.Before, labels...)
			}),
		},
		{
			name: "ssdprobe_run_drift_ratio", kind: gauge, labels: labels,
			help: "How many times slower the last run was than this median. Above 1 is worse for every statistic; IOPS are inverted.",
			series: eachLoad(func(_ record.ComparedLoad, f record.ComparedFigure, emit emit, labels ...string) {
				emitKnown(emit, f.Slower.Value, labels...)
			}),
		},
		{
			name: "ssdprobe_run_drift_state", kind: gauge, labels: append(labels[:len(labels):len(labels)], "state"),
			help: "How a figure of the last run compares with those of the runs before it, as the label state: slower or faster, which is beyond " +
				"all of them and by more than they differ; same; inconclusive: fewer than 4 runs, or a warning keeps the step from deciding. Always 1.",
			series: eachLoad(func(_ record.ComparedLoad, f record.ComparedFigure, emit emit, labels ...string) {
				emit(1, append(labels, string(f.Verdict))...)
			}),
		},
	}
}

// lastRunFamilies are the figures of the last run, reads and writes apart.
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
					if result := d.of(step); result != nil {
						series(*result, r.Suite, step.Name, emit)
					}
				}
			})
		}
		all = append(all,
			family[record.TargetStatus]{
				name: name + "_iops", kind: gauge, labels: []string{"suite", "step"},
				help:   "I/Os per second (" + string(d.direction) + ") in a step of the last run.",
				series: eachResult(func(r record.Result, suite, step string, emit emit) { emitKnown(emit, r.IOPS, suite, step) }),
			},
			family[record.TargetStatus]{
				name: name + "_bytes_per_second", kind: gauge, labels: []string{"suite", "step"},
				help:   "Bandwidth (" + string(d.direction) + ") in a step of the last run, in bytes per second.",
				series: eachResult(func(r record.Result, suite, step string, emit emit) { emitKnown(emit, r.BytesPerSecond, suite, step) }),
			},
			family[record.TargetStatus]{
				name: name + "_latency_percentile_seconds", kind: gauge, labels: []string{"suite", "step", "percentile"},
				help: "Latency percentile (" + string(d.direction) + ") in a step of the last run, in seconds, by nearest rank.",
				series: eachResult(func(r record.Result, suite, step string, emit emit) {
					for _, percentile := range []float64{50, 95, 99, 99.9} {
						emitKnown(emit, r.Latency.Quantile(percentile/100).Seconds(), suite, step, strconv.FormatFloat(percentile, 'g', -1, 64))
					}
				}),
			},
		)
	}
	return all
}

// eachRun makes the series of the last run of each suite on a target.
func eachRun(series func(record.RunReport, emit)) func(record.TargetStatus, emit) {
	return func(t record.TargetStatus, emit emit) {
		for _, r := range t.Runs {
			if r.Last != nil {
				series(*r.Last, emit)
			}
		}
	}
}
