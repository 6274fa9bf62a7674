package export

import (
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// statesOfHealth explains the label state.
const statesOfHealth = "One series for each state: 1 for the current state, 0 for the others. state is healthy, watch (a suspicion, or a drift too small to matter), " +
	"degraded (at least 1.2 times slower, or slow I/Os have become common), severe (about twice as slow, or it stalls or fails I/Os) or unknown (its current speed is not " +
	"known)."

// suspects lists the verdicts for which DriveVerdict.Suspects is true.
const suspects = "watch, degraded or severe"

// healthFamilies returns the families that describe the verdict on each drive and its evidence.
func healthFamilies() []family[record.TargetStatus] {
	judged := func(t record.TargetStatus) record.Judgement { return t.Judged() }
	return append([]family[record.TargetStatus]{
		metric("ssdprobe_drive_health", gauge, []string{"state"},
			"Verdict on the speed of a drive and on whether it answers, from its probes, its traffic and the other drives of the node. "+statesOfHealth+
				" A worn but fast drive is healthy: see ssdprobe_finding for all other problems.",
			func(t record.TargetStatus, emit emit) { emitState(emit, t.Judged().Verdict) }),
		metric("ssdprobe_drive_health_info", gauge, []string{"state", "scope", "witnesses", "source"},
			"Evidence for the verdict on a drive, as labels. Always 1. Absent unless the verdict is "+suspects+". scope is drive, or batch if drives of "+
				"its model on the node got slower together. witnesses lists what shows the problem: probes, traffic, stalls, errors. source is the probe with the worst "+
				"ratio, or traffic.",
			func(t record.TargetStatus, emit emit) {
				if v := t.Judged(); v.Verdict.Suspects() {
					emit(1, string(v.Verdict), string(v.Scope), strings.Join(v.Witnesses, ","), v.Source)
				}
			}),
		sinceFamily("ssdprobe_drive_health_since_timestamp_seconds", "Estimated time when the first problem of a drive began, in seconds since 1970. Absent unless its verdict is "+suspects+".", judged),
		metric("ssdprobe_drive_health_onset_timestamp_seconds", gauge, []string{"witness"},
			"Estimated time when what a witness shows began, in seconds since 1970. witness is probes or traffic (slow I/O), stalls or errors. A drive that fails I/Os may "+
				"become slow later. Absent unless the verdict is "+suspects+".",
			func(t record.TargetStatus, emit emit) {
				v := t.Judged()
				for witness, began := range v.Onsets {
					if v.Verdict.Suspects() {
						emitTime(emit, began, witness)
					}
				}
			}),
		metric("ssdprobe_drive_health_attribution_info", gauge, []string{"condition", "from", "to"},
			"A change of conditions at the time when the drive became slower, by its worst witness (the label source of ssdprobe_drive_health_info), as labels. Always 1. "+
				"from and to are empty when unknown. Absent unless the verdict is "+suspects+".",
			func(t record.TargetStatus, emit emit) {
				if v := t.Judged(); v.Verdict.Suspects() {
					emitChanges(emit, v.Attribution)
				}
			}),
		acceptedFamily("ssdprobe_drive_accepted_timestamp_seconds", "Time when somebody last accepted a level of the drive as normal (drift accept), in seconds since 1970. "+
			"Absent if nobody did. What was accepted beside its peers counts until the drive has been nearer to them for two hours.", judged),
	}, slowerFamilies("ssdprobe_drive_health_slower_ratio",
		"How many times slower the drive is than before or than its peers, by its worst witness. Absent if its verdict is healthy or unknown, if it only stalls, fails I/Os or has more slow rounds than before, if nothing was compared for an hour, or while a verdict is only held.",
		judged)...)
}

// hostFamilies returns the corresponding families for the host.
func hostFamilies() []family[record.Snapshot] {
	judged := func(s record.Snapshot) record.Judgement {
		if s.Host == nil {
			return record.Judgement{}
		}
		return *s.Host
	}
	return append([]family[record.Snapshot]{
		metric("ssdprobe_host_health", gauge, []string{"state"},
			"Verdict on the host: whether nearly all its drives are slower than before. No drive is blamed for that. One series for each state: 1 for the current "+
				"state, 0 for the others. state is healthy, watch (at least 1.15 times slower, a slowdown like one that was reported within the last month, or one of two drives that has not "+
				"lasted for long enough), degraded (at least 1.2 times slower), severe (about twice as slow) or unknown (fewer than two drives can be compared, the baseline of the host is being learned, "+
				"or nothing was compared for an hour).",
			func(s record.Snapshot, emit emit) {
				if s.Host != nil {
					emitState(emit, s.Host.Verdict)
				}
			}),
		metric("ssdprobe_host_health_info", gauge, []string{"state", "witnesses", "source", "reason"},
			"Evidence for the verdict on the host, as labels. Always 1. Absent unless the verdict is watch, degraded, severe or unknown. witnesses lists what shows the problem: probes, traffic. "+
				"source is the probe with the worst ratio, or traffic. reason says why the verdict is unknown: few_drives, learning, few_rounds, no_rounds or assumed. It is empty otherwise.",
			func(s record.Snapshot, emit emit) {
				switch v := judged(s); {
				case v.Verdict.Suspects():
					emit(1, string(v.Verdict), strings.Join(v.Witnesses, ","), v.Source, "")
				case v.Unjudged != nil:
					emit(1, string(v.Verdict), "", "", string(v.Unjudged.Reason))
				}
			}),
		acceptedFamily("ssdprobe_host_accepted_timestamp_seconds", "Time when somebody last accepted as normal how slow the host makes its drives (drift accept --host), in seconds since 1970. "+
			"Absent if nobody did.", judged),
		sinceFamily("ssdprobe_host_health_since_timestamp_seconds", "Estimated time when the host became slower, in seconds since 1970. Absent unless its verdict is "+suspects+".", judged),
	}, slowerFamilies("ssdprobe_host_health_slower_ratio", "How many times slower than before the host makes its drives. Absent unless its verdict is "+suspects+", and if nothing was compared for an hour.", judged)...)
}

// slowerFamilies returns the families of a verdict's ratio and the bounds of its interval.
func slowerFamilies[T any](name, help string, judged func(T) record.Judgement) []family[T] {
	figure := func(name, help string, of func(record.Ratio) float64) family[T] {
		return single(name, gauge, help, func(t T) (float64, bool) {
			v := judged(t)
			return of(v.RatioNow()), v.Verdict.Suspects() && of(v.RatioNow()) > 0
		})
	}
	absent := " bound of the 95 % confidence interval of " + name + ". Absent when " + name + " is absent, and while there are too few comparisons for an interval."
	return []family[T]{
		figure(name, help, func(r record.Ratio) float64 { return r.Ratio }),
		figure(name+"_lower", "Lower"+absent, func(r record.Ratio) float64 { return r.Lower }),
		figure(name+"_upper", "Upper"+absent, func(r record.Ratio) float64 { return r.Upper }),
	}
}

// sinceFamily returns the family of a verdict's onset.
func sinceFamily[T any](name, help string, judged func(T) record.Judgement) family[T] {
	return single(name, gauge, help, func(t T) (float64, bool) {
		v := judged(t)
		at, known := moment(v.Since)
		return at, known && v.Verdict.Suspects()
	})
}

// acceptedFamily returns the family of when a level was last accepted.
func acceptedFamily[T any](name, help string, judged func(T) record.Judgement) family[T] {
	return single(name, gauge, help, func(t T) (float64, bool) { return moment(judged(t).Accepted) })
}

func emitState(emit emit, now record.DriveVerdict) {
	for _, v := range record.DriveVerdicts() {
		emit(boolean(v == now), string(v))
	}
}
