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
			help:   "When the last run of the suite that measured anything was over.",
			labels: []string{"suite"},
			series: eachRun(func(r record.RunReport, emit emit) { emitTime(emit, r.Finished, r.Suite) }),
		},
		family[record.TargetStatus]{
			name: "ssdprobe_run_duration_seconds", kind: gauge,
			help:   "How long the last run of the suite took.",
			labels: []string{"suite"},
			series: eachRun(func(r record.RunReport, emit emit) {
				emitKnown(emit, r.Finished.Sub(r.Started).Seconds(), r.Suite)
			}),
		},
		family[record.TargetStatus]{
			name: "ssdprobe_run_warning", kind: gauge,
			help:   "1 for each kind of warning on the last run of the suite or on one of its steps; the step is empty for the whole run.",
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
			help: "When the calendar has the suite due: the first time after its last complete run, so it lies in the past " +
				"while that run is owed. Absent when no calendar has it.",
			labels: []string{"suite"},
			series: func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					emitTime(emit, r.Next, r.Suite)
				}
			},
		},
		family[record.TargetStatus]{
			name: "ssdprobe_run_in_progress", kind: gauge,
			help:   "1 while the suite runs or waits for the device, else 0.",
			labels: []string{"suite"},
			series: func(t record.TargetStatus, emit emit) {
				for _, r := range t.Runs {
					emit(boolean(!r.Since.IsZero()), r.Suite)
				}
			},
		},
		family[record.TargetStatus]{
			name: "ssdprobe_runs_total", kind: counter,
			help:   "Runs of the suite since the daemon started, by outcome: ok, short (ended early), refused (the device was busy, or other nodes ran, all through the window), error.",
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
	eachFigure := func(series func(record.RunFigure, emit, ...string)) func(record.TargetStatus, emit) {
		return func(t record.TargetStatus, emit emit) {
			for _, r := range t.Runs {
				for _, f := range r.Figures {
					series(f, emit, r.Suite, f.Step, string(f.Direction), string(f.Statistic))
				}
			}
		}
	}
	return []family[record.TargetStatus]{
		{
			name: "ssdprobe_run_baseline_runs", kind: gauge, labels: labels,
			help:   "Earlier runs of the suite under the same conditions that a step of the last run is compared with. Fewer than 4 say nothing.",
			series: eachFigure(func(f record.RunFigure, emit emit, labels ...string) { emit(float64(f.Runs), labels...) }),
		},
		{
			name: "ssdprobe_run_baseline_value", kind: gauge, labels: labels,
			help:   "Median of those earlier runs, in the unit that the statistic's name ends with.",
			series: eachFigure(func(f record.RunFigure, emit emit, labels ...string) { emitKnown(emit, f.Median, labels...) }),
		},
		{
			name: "ssdprobe_run_drift_ratio", kind: gauge, labels: labels,
			help:   "How many times slower than that median the last run was: above 1 is worse for every statistic, IOPS being inverted.",
			series: eachFigure(func(f record.RunFigure, emit emit, labels ...string) { emitKnown(emit, f.Ratio, labels...) }),
		},
		{
			name: "ssdprobe_run_drift_state", kind: gauge, labels: append(labels[:len(labels):len(labels)], "state"),
			help: "How the last run compares with those before it, as the label state: few_runs (fewer than 4), alike, slower or faster, which is " +
				"beyond all of them and by more than they differ; always 1.",
			series: eachFigure(func(f record.RunFigure, emit emit, labels ...string) { emit(1, append(labels, string(f.Verdict))...) }),
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
				help:   "I/Os per second (" + string(d.direction) + ") of a step of the last run.",
				series: eachResult(func(r record.Result, suite, step string, emit emit) { emitKnown(emit, r.IOPS, suite, step) }),
			},
			family[record.TargetStatus]{
				name: name + "_bytes_per_second", kind: gauge, labels: []string{"suite", "step"},
				help:   "Bandwidth (" + string(d.direction) + ") of a step of the last run.",
				series: eachResult(func(r record.Result, suite, step string, emit emit) { emitKnown(emit, r.BytesPerSecond, suite, step) }),
			},
			family[record.TargetStatus]{
				name: name + "_latency_percentile_seconds", kind: gauge, labels: []string{"suite", "step", "percentile"},
				help: "Latency percentile (" + string(d.direction) + ") of a step of the last run, by nearest rank.",
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
