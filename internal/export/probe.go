package export

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// probeNow is a probe on a target at the time of the snapshot.
type probeNow struct {
	record.ProbeStatus
	now time.Time
	// blind is set where the kernel does not say how long a thread waited for a CPU.
	blind bool
}

func newProbeNow(s record.Snapshot, p record.ProbeStatus) probeNow {
	blind := slices.ContainsFunc(s.Warnings, func(w record.Warning) bool { return w.Code == record.WarnDisturbanceBlind })
	return probeNow{ProbeStatus: p, now: s.Time, blind: blind}
}

// ranThrough reports whether the last round got through its I/Os, so that what
// was measured of its threads stands for all of it.
func (p probeNow) ranThrough() bool {
	return p.Last != nil && p.Last.Outcome != record.OutcomeBusy && p.Last.Outcome != record.OutcomeTimeout
}

// probeFamilies have series per probe and target, led by probeLabels.
func probeFamilies() []family[probeNow] {
	return slices.Concat(windowFamilies(), roundFamilies(), baselineFamilies(), driftFamilies())
}

// windowFamilies tell what the good rounds of the last minutes say.
func windowFamilies() []family[probeNow] {
	return []family[probeNow]{
		{
			name: "ssdprobe_probe_latency_percentile_seconds", kind: gauge,
			help:   "Latency percentile of all I/Os in the good rounds of the last window (default 5 min), by nearest rank.",
			labels: []string{"percentile"},
			series: func(p probeNow, emit emit) {
				if p.Window == nil || len(p.Window.Latency) == 0 {
					return
				}
				emit(p.Window.Latency.Quantile(0.50).Seconds(), "50")
				emit(p.Window.Latency.Quantile(0.95).Seconds(), "95")
				emit(p.Window.Latency.Quantile(0.99).Seconds(), "99")
				emit(p.Window.Latency.Quantile(0.999).Seconds(), "99.9")
			},
		},
		{
			name: "ssdprobe_probe_iops", kind: gauge,
			help: "I/Os per second of the good rounds of the last window (default 5 min), at the probe's queue depth.",
			series: func(p probeNow, emit emit) {
				if p.Window != nil {
					emitKnown(emit, p.Window.IOPS)
				}
			},
		},
	}
}

// roundFamilies tell how the rounds went and what they cost.
func roundFamilies() []family[probeNow] {
	return []family[probeNow]{
		{
			name: "ssdprobe_probe_rounds_total", kind: counter,
			help:   "Rounds by what they are worth: only ok measured the device, busy touched nothing.",
			labels: []string{"outcome"},
			series: func(p probeNow, emit emit) {
				for _, o := range record.Outcomes() {
					emit(float64(p.Rounds[o]), string(o))
				}
			},
		},
		{
			name: "ssdprobe_probe_read_bytes_total", kind: counter,
			help: "What ssdprobe itself read for this probe, warm-up and search included. Absent for probes that only write.",
			series: func(p probeNow, emit emit) {
				if p.ReadBytes > 0 || p.Probe.Direction == record.Read {
					emit(float64(p.ReadBytes))
				}
			},
		},
		{
			name: "ssdprobe_probe_written_bytes_total", kind: counter,
			help: "What ssdprobe itself wrote for this probe: wear of its own making. Absent for probes that only read.",
			series: func(p probeNow, emit emit) {
				if p.WrittenBytes > 0 || p.Probe.Direction == record.Write {
					emit(float64(p.WrittenBytes))
				}
			},
		},
		{
			name: "ssdprobe_probe_errors_total", kind: counter,
			help:   "I/Os that failed, by errno. An errno that never came has no series.",
			labels: []string{"errno"},
			series: func(p probeNow, emit emit) {
				for errno, n := range p.Errors {
					emit(float64(n), errno)
				}
			},
		},
		{
			name: "ssdprobe_probe_last_success_timestamp_seconds", kind: gauge,
			help:   "When the last good round was. Absent when there was none since the start.",
			series: func(p probeNow, emit emit) { emitTime(emit, p.LastSuccess) },
		},
		{
			name: "ssdprobe_probe_inflight_seconds", kind: gauge,
			help: "Age of the round in progress; it grows while a device hangs. Absent between rounds.",
			series: func(p probeNow, emit emit) {
				if !p.InflightSince.IsZero() {
					emit(max(0, p.now.Sub(p.InflightSince).Seconds()))
				}
			},
		},
		{
			name: "ssdprobe_probe_cpu_wait_ratio", kind: gauge,
			help: "Share of the last round that its threads spent waiting for a CPU. " +
				"Absent when that round did not run to its end, or where the kernel does not say.",
			series: func(p probeNow, emit emit) {
				if p.ranThrough() && !p.blind {
					emit(p.Last.Disturbance.CPUWaitRatio)
				}
			},
		},
	}
}
