package export

import (
	"slices"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// probeNow is the status of a probe on a target at the time of the snapshot.
type probeNow struct {
	record.ProbeStatus
	now time.Time
	// blind is true when the kernel does not report how long a thread waited for a CPU.
	blind bool
	held  bool // a round waits although the device is idle
}

func newProbeNow(s record.Snapshot, t record.TargetStatus, p record.ProbeStatus) probeNow {
	blind := slices.ContainsFunc(s.Warnings, func(w record.Warning) bool { return w.Code == record.WarnDisturbanceBlind })
	return probeNow{ProbeStatus: p, now: s.Time, blind: blind, held: t.HeldBack(&p) != nil}
}

// ranThrough reports whether the last round completed its I/Os, so that the figures about its threads cover the whole
// round.
func (p probeNow) ranThrough() bool {
	return p.Last != nil && p.Last.Outcome != record.OutcomeBusy && p.Last.Outcome != record.OutcomeTimeout
}

// percentiles calls do for each percentile of the window that has I/Os.
func (p probeNow) percentiles(do func(w record.WindowPercentile)) {
	if p.Window == nil {
		return
	}
	for _, w := range p.Window.Percentiles {
		if w.IOs > 0 {
			do(w)
		}
	}
}

// percentileLabel returns text such as "50" or "99.9".
func percentileLabel(w record.WindowPercentile) string {
	return strconv.FormatFloat(w.Percentile, 'f', -1, 64)
}

// probeFamilies returns the families with series per probe and target. Their first labels are probeLabels.
func probeFamilies() []family[probeNow] {
	return slices.Concat(windowFamilies(), roundFamilies(), baselineFamilies(), driftFamilies())
}

// windowFamilies returns the families that describe the good rounds of the last minutes.
func windowFamilies() []family[probeNow] {
	return []family[probeNow]{
		metric("ssdprobe_probe_latency_percentile_seconds", gauge, []string{"percentile"},
			"Latency percentile of all I/Os in the good rounds of a window, in seconds, by nearest rank. The window grows from drift.window (default 5 min) to at most 6 h, until ten I/Os lie above the percentile. Absent without a good round within drift.window.",
			func(p probeNow, emit emit) {
				p.percentiles(func(w record.WindowPercentile) { emit(w.Latency.Seconds(), percentileLabel(w)) })
			}),
		metric("ssdprobe_probe_latency_percentile_window_seconds", gauge, []string{"percentile"},
			"Window of a percentile that has fewer than ten I/Os above it even in the longest window (6 h), in seconds. Rounds are then rare, or have only just begun, "+
				"and the percentile is close to the slowest I/O. Absent for all other percentiles.",
			func(p probeNow, emit emit) {
				p.percentiles(func(w record.WindowPercentile) {
					if !w.Supported() {
						emit(w.Span.Seconds(), percentileLabel(w))
					}
				})
			}),
		single("ssdprobe_probe_iops", gauge,
			"I/Os per second in the good rounds of the last minutes (drift.window, default 5 min), at the queue depth of the probe. Absent without a good round in that time.",
			func(p probeNow) (float64, bool) {
				if p.Window == nil {
					return 0, false
				}
				return known(p.Window.IOPS)
			}),
	}
}

// roundFamilies returns the families that describe the outcomes of the rounds and their cost.
func roundFamilies() []family[probeNow] {
	return []family[probeNow]{
		metric("ssdprobe_probe_rounds_total", counter, []string{"outcome"},
			"Number of rounds by outcome: ok, busy (not admitted, no I/O), disturbed (waited for a CPU), unmapped (read blocks that were never written), error, timeout. Only ok rounds count as measurements of the device.",
			func(p probeNow, emit emit) {
				for _, o := range record.Outcomes() {
					emit(float64(p.Rounds[o]), string(o))
				}
			}),
		single("ssdprobe_probe_read_bytes_total", counter, "Bytes that ssdprobe read for this probe, including warm-up and the search for written blocks. Absent for probes that only write.",
			func(p probeNow) (float64, bool) {
				return float64(p.ReadBytes), p.ReadBytes > 0 || p.Probe.Direction == record.Read
			}),
		single("ssdprobe_probe_written_bytes_total", counter, "Bytes that ssdprobe wrote for this probe, which wear the drive. Absent for probes that only read.",
			func(p probeNow) (float64, bool) {
				return float64(p.WrittenBytes), p.WrittenBytes > 0 || p.Probe.Direction == record.Write
			}),
		single("ssdprobe_probe_loaded_rounds_total", counter, "Number of small rounds that ran although the device was busy, because no round had run for "+
			"admission.forced_interval. They are not compared with the baseline. ssdprobe_probe_rounds_total includes them. Absent before the first.",
			func(p probeNow) (float64, bool) { return float64(p.LoadedRounds), p.LoadedRounds > 0 }),
		single("ssdprobe_probe_confirmations_total", counter, "Number of rounds that ran out of turn, to confirm or refute a suspicion. ssdprobe_probe_rounds_total includes them. Absent before the first.",
			func(p probeNow) (float64, bool) { return float64(p.Confirmations), p.Confirmations > 0 }),
		metric("ssdprobe_probe_errors_total", counter, []string{"errno"},
			"Number of failed I/Os by errno. An errno that never occurred has no series.",
			func(p probeNow, emit emit) {
				for errno, n := range p.Errors {
					emit(float64(n), errno)
				}
			}),
		single("ssdprobe_probe_last_success_timestamp_seconds", gauge, "Time of the last good round, in seconds since 1970. Absent if there was none since the daemon started.",
			func(p probeNow) (float64, bool) { return moment(p.LastSuccess) }),
		single("ssdprobe_probe_inflight_seconds", gauge, "Age of the round in progress, in seconds. Grows while a device hangs. Absent between rounds.",
			func(p probeNow) (float64, bool) {
				return max(0, p.now.Sub(p.InflightSince).Seconds()), !p.InflightSince.IsZero()
			}),
		single("ssdprobe_probe_held_back", gauge, "1 while the round in progress has waited for five seconds or longer and the device has no I/O in flight: a volume is "+
			"suspended, the queue is frozen (as during an NVMe format), or a limit of the cgroup holds the I/O back. 0 otherwise. Absent between rounds.",
			func(p probeNow) (float64, bool) { return boolean(p.held), !p.InflightSince.IsZero() }),
		single("ssdprobe_probe_cpu_wait_ratio", gauge,
			"Share of the last round that its threads spent waiting for a CPU, 0 to 1. Absent if that round was busy or timed out, or if the kernel does not report it.",
			func(p probeNow) (float64, bool) {
				if !p.ranThrough() || p.blind {
					return 0, false
				}
				return p.Last.Disturbance.CPUWaitRatio, true
			}),
	}
}
