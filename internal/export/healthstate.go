package export

import (
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// statesOfHealth explains the label state.
const statesOfHealth = "One series for each state: 1 for the one that holds, 0 for the others. state is healthy, watch (a suspicion, or a drift too small to matter), " +
	"degraded (at least 1.2 times slower, or slow I/Os have become common), severe (about twice as slow, or it stalls or fails I/Os) or unknown (nothing is known of its speed now)."

// healthFamilies returns the families that describe the verdict on each drive and its evidence.
func healthFamilies() []family[record.TargetStatus] {
	judged := func(t record.TargetStatus) record.Judgement { return t.Judged() }
	return append([]family[record.TargetStatus]{
		metric("ssdprobe_drive_health", gauge, []string{"state"},
			"Verdict on the speed of a drive and whether it answers, by its probes, its traffic and the drives beside it. "+statesOfHealth+
				" A worn drive that is fast is healthy: ssdprobe_finding has all else.",
			func(t record.TargetStatus, emit emit) { emitState(emit, t.Judged().Verdict) }),
		metric("ssdprobe_drive_health_info", gauge, []string{"state", "scope", "witnesses", "source"},
			"What the verdict on a drive stands on, as labels, while it is watch, degraded or severe. Always 1. scope is drive, or batch if drives of its model on the node got slower together. "+
				"witnesses is whose I/O says so: probes, traffic, stalls, errors. source is the probe with the worst ratio, or traffic.",
			func(t record.TargetStatus, emit emit) {
				if v := t.Judged(); blames(v) {
					emit(1, string(v.Verdict), string(v.Scope), strings.Join(v.Witnesses, ","), v.Source)
				}
			}),
		sinceFamily("ssdprobe_drive_health_since_timestamp_seconds", "Since when a drive is watch, degraded or severe, in seconds since 1970: the estimated onset. Absent otherwise.", judged),
	}, slowerFamilies("ssdprobe_drive_health_slower_ratio",
		"How many times slower the drive is than before or than its peers, by the witness that says the worst. Absent while no speed is blamed: its health is healthy or unknown, or it stalls or fails I/Os only.",
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
			"Verdict on the host: how much slower than before nearly all its drives are. No drive is blamed for that. One series for each state: 1 for the one that holds, 0 for the others. "+
				"state is healthy, watch (from 1.15 times slower on, or as before within the month), degraded (1.2 times or more), severe (about twice as slow) or "+
				"unknown (fewer than three drives can be compared, it is being learned, or nothing was compared for an hour).",
			func(s record.Snapshot, emit emit) {
				if s.Host != nil {
					emitState(emit, s.Host.Verdict)
				}
			}),
		metric("ssdprobe_host_health_info", gauge, []string{"state", "witnesses", "source", "reason"},
			"What the verdict on the host stands on, as labels, while it is watch, degraded, severe or unknown. Always 1. witnesses is whose I/O says so: probes, traffic. "+
				"source is the probe with the worst ratio, or traffic. reason is why it is unknown: few_drives, learning, few_rounds or no_rounds; else empty.",
			func(s record.Snapshot, emit emit) {
				switch v := judged(s); {
				case blames(v):
					emit(1, string(v.Verdict), strings.Join(v.Witnesses, ","), v.Source, "")
				case v.Unjudged != nil:
					emit(1, string(v.Verdict), "", "", string(v.Unjudged.Reason))
				}
			}),
		sinceFamily("ssdprobe_host_health_since_timestamp_seconds", "Since when the host is watch, degraded or severe, in seconds since 1970: the estimated onset. Absent otherwise.", judged),
	}, slowerFamilies("ssdprobe_host_health_slower_ratio", "How many times slower than before the host makes its drives. Absent while it does not.", judged)...)
}

// slowerFamilies returns the families of a verdict's ratio and the bounds of its interval.
func slowerFamilies[T any](name, help string, judged func(T) record.Judgement) []family[T] {
	figure := func(name, help string, of func(record.Ratio) float64) family[T] {
		return single(name, gauge, help, func(t T) (float64, bool) {
			v := judged(t)
			return of(v.Ratio), blames(v) && of(v.Ratio) > 0
		})
	}
	absent := " bound of the 95 % confidence interval of " + name + ". Absent with it, and while too little was compared for an interval."
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
		return at, known && blames(v)
	})
}

func emitState(emit emit, now record.DriveVerdict) {
	for _, v := range record.DriveVerdicts() {
		emit(boolean(v == now), string(v))
	}
}

// blames reports whether a verdict is watch or worse. Unlike DriveVerdict.Blames, it includes watch.
func blames(v record.Judgement) bool { return v.Verdict.Badness() >= record.Watch.Badness() }
