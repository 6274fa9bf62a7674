package export

import (
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// targetFamilies returns the families with series per target. Their first labels are deviceLabels.
func targetFamilies() []family[record.TargetStatus] {
	return slices.Concat(deviceFamilies(), linkFamilies(), accessFamilies(), healthFamilies(), runFamilies())
}

// deviceFamilies returns the families that describe a device and its conditions.
func deviceFamilies() []family[record.TargetStatus] {
	return []family[record.TargetStatus]{
		metric("ssdprobe_device_info", gauge, []string{"model", "serial", "firmware", "transport", "kind"},
			"A watched device, as labels. Always 1. For a probe file, kind is file; the other labels describe the device below it.",
			func(t record.TargetStatus, emit emit) {
				d, kind := t.Device, t.Device.Kind
				if t.File {
					kind = record.KindFile
				}
				emit(1, d.Model, d.Serial, d.Firmware, d.Transport, string(kind))
			}),
		single("ssdprobe_device_size_bytes", gauge, "Capacity of the device, in bytes. For a probe file, the capacity of the device below it. Absent when unknown.",
			func(t record.TargetStatus) (float64, bool) { return known(float64(t.Device.SizeBytes)) }),
		metric("ssdprobe_device_conditions_info", gauge, []string{"scheduler", "governor", "kernel", "write_cache", "numa_node"},
			"The current conditions that change most often, as labels. Always 1. A label is empty when the machine does not report it.",
			func(t record.TargetStatus, emit emit) {
				c := t.Conditions
				if c == (record.Conditions{}) { // not read yet
					return
				}
				emit(1, c.Scheduler, c.Governor, c.Kernel, c.WriteCache, c.NUMANode.String())
			}),
		metric("ssdprobe_conditions_changed_timestamp_seconds", gauge, []string{"condition"},
			"Time when this condition was last seen to change, in seconds since 1970. Absent if no change was seen.",
			func(t record.TargetStatus, emit emit) {
				for condition, at := range t.Changed {
					emitTime(emit, at, condition)
				}
			}),
	}
}

// linkFamilies returns the families that describe the link of a PCIe device; other devices have none.
func linkFamilies() []family[record.TargetStatus] {
	return []family[record.TargetStatus]{
		metric("ssdprobe_pcie_link_speed_transfers_per_second", gauge, []string{"state"},
			"Speed of the PCIe link per lane, in transfers per second. state is current (negotiated) or max (supported by both ends). Absent when unknown.",
			func(t record.TargetStatus, emit emit) {
				if l := t.Device.Link; l != nil {
					emitKnown(emit, l.CurrentGTs*1e9, "current")
					emitKnown(emit, l.MaxGTs*1e9, "max")
				}
			}),
		metric("ssdprobe_pcie_link_width_lanes", gauge, []string{"state"},
			"Width of the PCIe link, in lanes. state is current (negotiated) or max (supported by both ends). Absent when unknown.",
			func(t record.TargetStatus, emit emit) {
				if l := t.Device.Link; l != nil {
					emitKnown(emit, float64(l.CurrentLanes), "current")
					emitKnown(emit, float64(l.MaxLanes), "max")
				}
			}),
	}
}

// accessFamilies returns the families that say whether a target can be probed, and how much of it is written.
func accessFamilies() []family[record.TargetStatus] {
	return []family[record.TargetStatus]{
		single("ssdprobe_target_up", gauge, "1 if the target can be probed now, else 0. The log and the status page say why not.",
			func(t record.TargetStatus) (float64, bool) { return boolean(t.Problem == ""), true }),
		metric("ssdprobe_device_unjudged_since_timestamp_seconds", gauge, []string{"reason"},
			"Time since when the speed of the drive is not known, in seconds since 1970. Absent unless its health is unknown. "+
				"reason is as for ssdprobe_drift_unjudged_since_timestamp_seconds, or assumed (it may already have been slow when its traffic was learned: no round showed how fast it was, and its work did not explain how busy it was).",
			func(t record.TargetStatus, emit emit) {
				if t.Verdict != nil && t.Verdict.Verdict == record.Unjudged && t.Verdict.Unjudged != nil {
					emitTime(emit, t.Verdict.Unjudged.Since, string(t.Verdict.Unjudged.Reason))
				}
			}),
		single("ssdprobe_device_written_ratio", gauge,
			"Share of sampled blocks that hold written data, 0 to 1. Raw targets only. Blocks that were never written say nothing about the speed of a drive.",
			func(t record.TargetStatus) (float64, bool) { return given(t.WrittenRatio) }),
		single("ssdprobe_device_pool_blocks", gauge, "Number of written blocks found so far, which the probes read from. Raw targets only. Absent until the first blocks were sampled.",
			func(t record.TargetStatus) (float64, bool) {
				return float64(t.PoolBlocks), t.PoolBlocks > 0 || t.WrittenRatio != nil
			}),
	}
}
