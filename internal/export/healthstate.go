package export

import (
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// statesOfHealth explain the label state.
const statesOfHealth = "One series for each state: 1 for the one that holds, 0 for the others. state is healthy, watch (a suspicion, or a drift too small to matter), " +
	"degraded (at least 1.2 times slower, or slow I/Os have become common), severe (about twice as slow, or it stalls or fails I/Os) or unknown (nothing is known of its speed now)."

// healthFamilies tell the verdict on each drive, and on what it stands.
func healthFamilies() []family[record.TargetStatus] {
	return []family[record.TargetStatus]{
		metric("ssdprobe_drive_health", gauge, []string{"state"},
			"Verdict on the speed of a drive and whether it answers, by its probes, its traffic and the drives beside it. "+statesOfHealth+
				" A worn drive that is fast is healthy: ssdprobe_finding has all else.",
			func(t record.TargetStatus, emit emit) { emitState(emit, t.Judged().Verdict) }),
		metric("ssdprobe_drive_health_info", gauge, []string{"state", "scope", "witnesses", "source"},
			"What the verdict on a drive stands on, as labels, while it is watch, degraded or severe. Always 1. scope is drive, or batch if drives of its model on the node got slower together. "+
				"witnesses is whose I/O says so: probes, traffic, stalls, errors. source is the probe with the worst ratio, or traffic.",
			func(t record.TargetStatus, emit emit) {
				if v := t.Judged(); v.Verdict.Badness() >= record.Watch.Badness() {
					emit(1, string(v.Verdict), string(v.Scope), strings.Join(v.Witnesses, ","), v.Source)
				}
			}),
		single("ssdprobe_drive_health_slower_ratio", gauge,
			"How many times slower the drive is than before or than its peers, by the witness that says the worst. Absent while no speed is blamed: its health is healthy or unknown, or it stalls or fails I/Os only.",
			func(t record.TargetStatus) (float64, bool) { return slowerRatio(t.Judged()) }),
		metric("ssdprobe_drive_health_since_timestamp_seconds", gauge, nil,
			"Since when a drive is watch, degraded or severe, in seconds since 1970: the estimated onset. Absent otherwise.",
			func(t record.TargetStatus, emit emit) {
				if v := t.Judged(); v.Verdict.Badness() >= record.Watch.Badness() {
					emitTime(emit, v.Since)
				}
			}),
	}
}

// hostFamilies tell the same of the host.
func hostFamilies() []family[record.Snapshot] {
	return []family[record.Snapshot]{
		metric("ssdprobe_host_health", gauge, []string{"state"},
			"Verdict on the host: how much slower than before nearly all its drives are. No drive is blamed for that. One series for each state: 1 for the one that holds, 0 for the others. "+
				"state is healthy, watch (1.13 to 1.2 times slower), degraded (1.2 times or more), severe (about twice as slow) or "+
				"unknown (fewer than three drives can be compared, it is being learned, or nothing was compared for an hour).",
			func(s record.Snapshot, emit emit) {
				if s.Host != nil {
					emitState(emit, s.Host.Verdict)
				}
			}),
		single("ssdprobe_host_health_slower_ratio", gauge,
			"How many times slower than before the host makes its drives. Absent while it does not.",
			func(s record.Snapshot) (float64, bool) {
				if s.Host == nil {
					return 0, false
				}
				return slowerRatio(*s.Host)
			}),
	}
}

func emitState(emit emit, now record.DriveVerdict) {
	for _, v := range record.DriveVerdicts() {
		emit(boolean(v == now), string(v))
	}
}

func slowerRatio(v record.Judgement) (float64, bool) {
	return v.Ratio.Ratio, v.Verdict.Badness() >= record.Watch.Badness() && v.Ratio.Ratio > 0
}
