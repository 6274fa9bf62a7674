package export

import "github.com/ssdprobe/ssdprobe/internal/record"

// baselineFamilies returns the families that describe the baseline of a probe.
func baselineFamilies() []family[probeNow] {
	return []family[probeNow]{
		metric("ssdprobe_baseline_value", gauge, []string{"statistic"},
			"Learned baseline, in the unit at the end of the statistic's name. Absent while it is being learned.",
			func(p probeNow, emit emit) {
				if !learned(p) {
					return
				}
				for _, s := range record.Statistics() {
					if v, ok := p.Baseline.Values[s]; ok {
						emit(v, string(s))
					}
				}
			}),
		single("ssdprobe_baseline_learned_timestamp_seconds", gauge, "Time when the baseline was learned, in seconds since 1970. Absent until then.",
			func(p probeNow) (float64, bool) {
				if !learned(p) {
					return 0, false
				}
				return moment(p.Baseline.Learned)
			}),
		single("ssdprobe_baseline_samples", gauge, "Number of good rounds collected for the baseline so far. Absent once it is learned.",
			func(p probeNow) (float64, bool) { return float64(p.LearningRounds), !learned(p) }),
		single("ssdprobe_baseline_samples_goal", gauge, "Number of good rounds that are needed to learn the baseline. Absent once it is learned.",
			func(p probeNow) (float64, bool) { return float64(p.LearningGoal), p.LearningGoal > 0 && !learned(p) }),
	}
}

func learned(p probeNow) bool { return p.Baseline != nil && !p.Baseline.Learned.IsZero() }

// driftFamilies returns the families that describe how the recent past compares with the baseline.
func driftFamilies() []family[probeNow] {
	return []family[probeNow]{
		metric("ssdprobe_drift_ratio", gauge, []string{"statistic"},
			"How many times slower the probe is than its baseline, corrected for load. Covers the last hour, or the time since a drift began, up to three hours. "+
				"Above 1 is worse for every statistic; IOPS are inverted. Stays near 1 if slow rounds have become more frequent and the median has not changed. "+
				"Absent if nothing was compared for an hour, whatever the state.",
			eachDrift(func(d record.Drift, emit emit) { emitKnown(emit, d.Ratio, string(d.Statistic)) })),
		metric("ssdprobe_drift_ratio_lower", gauge, []string{"statistic"},
			"Lower bound of the 95 % confidence interval of ssdprobe_drift_ratio, over the same time: the probe is at least this many times slower. Absent when "+
				"ssdprobe_drift_ratio is absent, and while there are too few blocks to compute it.",
			eachDrift(func(d record.Drift, emit emit) { emitKnown(emit, d.Lower, string(d.Statistic)) })),
		metric("ssdprobe_drift_state", gauge, []string{"statistic", "state"},
			"State of a statistic, as the label state: learning, waiting (for enough data to judge), unknown (nothing was compared for an hour, or for two blocks of rare rounds), "+
				"stable, suspect, regressed or improved. Always 1. Other states have no series. regressed lasts until the recovery is measured.",
			eachDrift(func(d record.Drift, emit emit) { emit(1, string(d.Statistic), string(d.State)) })),
		metric("ssdprobe_drift_unjudged_since_timestamp_seconds", gauge, []string{"statistic", "reason"},
			"Time since when a statistic is not judged, in seconds since 1970: when it was last compared, or when it began to wait. Absent while it is judged. reason is "+
				"learning, first_day or no_like (waits), load (the baseline has not seen such load from others), busy (rounds refused), disturbed, failed, unwritten, hung, "+
				"unavailable, few_rounds or no_rounds.",
			eachDrift(func(d record.Drift, emit emit) {
				if d.Unjudged != nil {
					emitTime(emit, d.Unjudged.Since, string(d.Statistic), string(d.Unjudged.Reason))
				}
			})),
		single("ssdprobe_drift_unjudged_blocks", gauge,
			"Number of blocks since this baseline began that were not judged, because the baseline had not seen such load from others. Absent before the first.",
			func(p probeNow) (float64, bool) { return known(float64(p.UnjudgedBlocks)) }),
		metric("ssdprobe_drift_since_timestamp_seconds", gauge, []string{"statistic"},
			"Estimated start of the drift, in seconds since 1970. Absent unless the state is suspect, regressed or improved.",
			eachDrift(func(d record.Drift, emit emit) {
				if d.State.Drifts() {
					emitTime(emit, d.Since, string(d.Statistic))
				}
			})),
		metric("ssdprobe_drift_attribution_info", gauge, []string{"condition", "from", "to"},
			"A change of conditions that coincided with a change of speed, as labels. Always 1. During a drift it is the change at the start of the drift. "+
				"Otherwise it is the change before the current baseline, if its effect is known. from and to are empty when unknown.",
			func(p probeNow, emit emit) {
				calm := true
				for _, d := range p.Drift {
					emitChanges(emit, d.Attribution)
					calm = calm && !d.State.Drifts()
				}
				// An earlier change is not the cause of a drift that began later.
				if p.Effect != nil && calm {
					emitChanges(emit, p.Effect.Changes)
				}
			}),
		metric("ssdprobe_condition_effect_ratio", gauge, []string{"condition", "from", "to", "statistic"},
			"How many times slower the probe became with the last change of conditions. Above 1 is worse for every statistic; IOPS are inverted. "+
				"Conditions that changed together have the same value. from and to are empty when unknown. Absent until the effect is known.",
			emitEffect),
		metric("ssdprobe_lifetime_effect_ratio", gauge, []string{"statistic"},
			"How many times slower the probe became with all changes of conditions since its first final baseline, or since a level was accepted. "+
				"Above 1 is worse for every statistic; IOPS are inverted. Multiplied by ssdprobe_drift_ratio, it compares the probe now with what it once was. "+
				"Absent before the first change, and for p95 and p99.",
			func(p probeNow, emit emit) {
				for _, s := range record.Statistics() {
					emitKnown(emit, p.Lifetime[s].Ratio.Ratio, string(s))
				}
			}),
	}
}

func emitEffect(p probeNow, emit emit) {
	if p.Effect == nil {
		return
	}
	for _, c := range p.Effect.Changes {
		for _, s := range record.Statistics() {
			emitKnown(emit, p.Effect.Ratios[s].Ratio, c.Condition, c.From, c.To, string(s))
		}
	}
}

func emitChanges(emit emit, changes []record.Change) {
	for _, c := range changes {
		emit(1, c.Condition, c.From, c.To)
	}
}

func eachDrift(series func(record.Drift, emit)) func(probeNow, emit) {
	return func(p probeNow, emit emit) {
		for _, d := range p.Drift {
			series(d, emit)
		}
	}
}
