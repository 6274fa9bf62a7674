package export

import (
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// targetFamilies have series per target, led by deviceLabels.
func targetFamilies() []family[record.TargetStatus] {
	return slices.Concat(deviceFamilies(), linkFamilies(), accessFamilies(), runFamilies())
}

// deviceFamilies tell what a device is and under which conditions it works.
func deviceFamilies() []family[record.TargetStatus] {
	return []family[record.TargetStatus]{
		{
			name: "ssdprobe_device_info", kind: gauge,
			help:   "A watched device, as labels; always 1. For a probe file, kind is file and the rest is that of the device below it.",
			labels: []string{"model", "serial", "firmware", "transport", "kind"},
			series: func(t record.TargetStatus, emit emit) {
				d, kind := t.Device, t.Device.Kind
				if t.File {
					kind = record.KindFile
				}
				emit(1, d.Model, d.Serial, d.Firmware, d.Transport, string(kind))
			},
		},
		{
			name: "ssdprobe_device_size_bytes", kind: gauge,
			help:   "Capacity of the device, or of the device below a probe file.",
			series: func(t record.TargetStatus, emit emit) { emitKnown(emit, float64(t.Device.SizeBytes)) },
		},
		{
			name: "ssdprobe_device_conditions_info", kind: gauge,
			help:   "The current conditions that change most often, as labels; always 1. A label is empty when the machine does not say.",
			labels: []string{"scheduler", "governor", "kernel", "write_cache", "numa_node"},
			series: func(t record.TargetStatus, emit emit) {
				c := t.Conditions
				if c == (record.Conditions{}) { // not read yet
					return
				}
				emit(1, c.Scheduler, c.Governor, c.Kernel, c.WriteCache, c.NUMANode.String())
			},
		},
		{
			name: "ssdprobe_conditions_changed_timestamp_seconds", kind: gauge,
			help:   "When this condition was last seen to change.",
			labels: []string{"condition"},
			series: func(t record.TargetStatus, emit emit) {
				for condition, at := range t.Changed {
					emitTime(emit, at, condition)
				}
			},
		},
	}
}

// linkFamilies tell what a PCIe device is connected by; others have none.
func linkFamilies() []family[record.TargetStatus] {
	return []family[record.TargetStatus]{
		{
			name: "ssdprobe_pcie_link_speed_transfers_per_second", kind: gauge,
			help:   "Speed of the PCIe link per lane: what it trained to (current) and what both ends can do (max).",
			labels: []string{"state"},
			series: func(t record.TargetStatus, emit emit) {
				if l := t.Device.Link; l != nil {
					emitKnown(emit, l.CurrentGTs*1e9, "current")
					emitKnown(emit, l.MaxGTs*1e9, "max")
				}
			},
		},
		{
			name: "ssdprobe_pcie_link_width_lanes", kind: gauge,
			help:   "Width of the PCIe link: what it trained to (current) and what both ends can do (max).",
			labels: []string{"state"},
			series: func(t record.TargetStatus, emit emit) {
				if l := t.Device.Link; l != nil {
					emitKnown(emit, float64(l.CurrentLanes), "current")
					emitKnown(emit, float64(l.MaxLanes), "max")
				}
			},
		},
		{
			name: "ssdprobe_pcie_bandwidth_bytes_per_second", kind: gauge,
			help: "What the PCIe link can carry in one direction as it trained, after line encoding and before protocol overhead.",
			series: func(t record.TargetStatus, emit emit) {
				if l := t.Device.Link; l != nil {
					emitKnown(emit, l.BytesPerSecond())
				}
			},
		},
	}
}

// accessFamilies tell whether a target can be probed, and what there is to read.
func accessFamilies() []family[record.TargetStatus] {
	return []family[record.TargetStatus]{
		{
			name: "ssdprobe_target_up", kind: gauge,
			help:   "Whether the target can be probed now (1) or has a problem that the log and the status page name (0).",
			series: func(t record.TargetStatus, emit emit) { emit(boolean(t.Problem == "")) },
		},
		{
			name: "ssdprobe_device_written_ratio", kind: gauge,
			help:   "Share of blindly sampled blocks that read as written; raw targets only. Blocks never written say nothing about a drive's speed.",
			series: func(t record.TargetStatus, emit emit) { emitIf(emit, t.WrittenRatio) },
		},
		{
			name: "ssdprobe_device_pool_blocks", kind: gauge,
			help: "Written blocks of the device that are known to read from; raw targets only, absent until the search has looked anywhere.",
			series: func(t record.TargetStatus, emit emit) {
				if t.PoolBlocks > 0 || t.WrittenRatio != nil {
					emit(float64(t.PoolBlocks))
				}
			},
		},
	}
}
