package export

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// maxQueues is how many series the interrupts of a controller take. A server of many
// cores has a queue for each: those from the last of these on are one series.
const maxQueues = 6

// otherQueues is the label of the queues that have no series of their own.
const otherQueues = "other"

// controllerLabels lead the labels of every series of an NVMe controller. Its device and
// id are those of the first of its namespaces that is a target.
func controllerLabels() []string { return append(deviceLabels(), "controller") }

// collectControllers sends the series of each controller once, however many of its
// namespaces are targets: sums over controllers would count it twice.
func (c *Collector) collectControllers(s record.Snapshot, out chan<- prometheus.Metric) {
	seen := map[string]bool{}
	for _, controller := range s.Controllers {
		t, ok := ownerOf(controller, s.Targets)
		if !ok || seen[controller.Name] {
			continue
		}
		seen[controller.Name] = true
		device, id := labelValue(t.Device.Name), labelValue(t.ID)
		switch controller.Kind {
		case record.ControllerNVMe:
			collect(c.controller, controller, out, device, id, labelValue(controller.Name))
		case record.ControllerDrive:
			collect(c.drive, controller, out, device, id)
		case record.ControllerVirtio: // nothing to say but on the status page
		}
	}
}

// ownerOf returns the target whose series a controller's are among: the first device
// that it reaches, or the first file on one.
func ownerOf(c record.Controller, targets []record.TargetStatus) (record.TargetStatus, bool) {
	for _, file := range []bool{false, true} {
		for _, t := range targets {
			if t.File == file && slices.Contains(c.Devices, t.Device.ID) {
				return t, true
			}
		}
	}
	return record.TargetStatus{}, false
}

// controllerFamilies have series per NVMe controller, led by controllerLabels.
func controllerFamilies() []family[record.Controller] {
	return slices.Concat(stateFamilies(), usageFamilies(), heatFamilies(), featureFamilies(), interruptFamilies())
}

// healthy returns the series of a controller whose health was read.
func healthy(series func(record.Health, emit)) func(record.Controller, emit) {
	return func(c record.Controller, emit emit) {
		if c.Health != nil {
			series(*c.Health, emit)
		}
	}
}

// stateFamilies tell how a drive is now.
func stateFamilies() []family[record.Controller] {
	return []family[record.Controller]{
		{
			name: "ssdprobe_nvme_health_timestamp_seconds", kind: gauge,
			help:   "Time when the health of the controller was last read, in seconds since 1970. It stops advancing when readings fail; the other health series are absent then.",
			series: func(c record.Controller, emit emit) { emitTime(emit, c.LastRead) },
		},
		{
			name: "ssdprobe_nvme_critical_warning", kind: gauge,
			help: "1 if the drive reports this critical warning, else 0. condition is one of " +
				"available_spare, temperature, reliability, read_only, volatile_memory_backup, persistent_memory.",
			labels: []string{"condition"},
			series: healthy(func(h record.Health, emit emit) {
				for _, w := range record.CriticalWarnings() {
					emit(boolean(slices.Contains(h.CriticalWarnings, w)), string(w))
				}
			}),
		},
		{
			name: "ssdprobe_nvme_temperature_celsius", kind: gauge,
			help:   "Temperature of a sensor of the drive, in degrees Celsius. sensor is composite (the vendor's overall value) or 1 to 8.",
			labels: []string{"sensor"},
			series: healthy(func(h record.Health, emit emit) {
				for _, t := range h.Temperatures {
					emit(float64(t.Celsius), t.Sensor)
				}
			}),
		},
		{
			name: "ssdprobe_nvme_available_spare_ratio", kind: gauge,
			help:   "Remaining spare blocks as a share of the original ones, 0 to 1. Absent when not reported.",
			series: healthy(func(h record.Health, emit emit) { emitIf(emit, h.AvailableSpare) }),
		},
		{
			name: "ssdprobe_nvme_available_spare_threshold_ratio", kind: gauge,
			help:   "Share of spare blocks below which the drive warns, 0 to 1. Absent when not reported.",
			series: healthy(func(h record.Health, emit emit) { emitIf(emit, h.AvailableSpareThreshold) }),
		},
		{
			name: "ssdprobe_nvme_percentage_used_ratio", kind: gauge,
			help:   "Share of the rated endurance that is used. May exceed 1. 2.55 is the highest value and means 2.55 or more.",
			series: healthy(func(h record.Health, emit emit) { emit(h.PercentageUsed) }),
		},
	}
}

// tally is a family of one counter of the drive's life.
func tally(name, help string, of func(record.Health) float64) family[record.Controller] {
	return family[record.Controller]{
		name: name, kind: counter, help: help,
		series: healthy(func(h record.Health, emit emit) { emit(of(h)) }),
	}
}

// maybe is a tally that not all drives keep.
func maybe[T any](name, help string, of func(record.Health) *T, value func(T) float64) family[record.Controller] {
	return family[record.Controller]{
		name: name, kind: counter, help: help,
		series: healthy(func(h record.Health, emit emit) {
			if v := of(h); v != nil {
				emit(value(*v))
			}
		}),
	}
}

// usageFamilies tell what a drive did since it was made.
func usageFamilies() []family[record.Controller] {
	bytes := func(n uint64) float64 { return float64(n) }
	return []family[record.Controller]{
		maybe("ssdprobe_nvme_data_read_bytes_total", "Bytes that the host read since the drive was made. Counted in units of 512 000 bytes. Absent when not reported.",
			func(h record.Health) *uint64 { return h.DataReadBytes }, bytes),
		maybe("ssdprobe_nvme_data_written_bytes_total", "Bytes that the host wrote since the drive was made. Counted in units of 512 000 bytes. Absent when not reported.",
			func(h record.Health) *uint64 { return h.DataWrittenBytes }, bytes),
		tally("ssdprobe_nvme_host_read_commands_total", "Number of read commands from the host since the drive was made.",
			func(h record.Health) float64 { return float64(h.HostReadCommands) }),
		tally("ssdprobe_nvme_host_write_commands_total", "Number of write commands from the host since the drive was made.",
			func(h record.Health) float64 { return float64(h.HostWriteCommands) }),
		tally("ssdprobe_nvme_controller_busy_seconds_total", "Time that the controller was busy with I/O commands, in seconds. Counted in whole minutes.",
			func(h record.Health) float64 { return h.ControllerBusy.Seconds() }),
		tally("ssdprobe_nvme_power_cycles_total", "Number of times that the drive was powered on.",
			func(h record.Health) float64 { return float64(h.PowerCycles) }),
		tally("ssdprobe_nvme_power_on_seconds_total", "Time that the drive was powered on, in seconds. Counted in whole hours.",
			func(h record.Health) float64 { return h.PowerOn.Seconds() }),
		tally("ssdprobe_nvme_unsafe_shutdowns_total", "Number of times that the drive lost power without a clean shutdown.",
			func(h record.Health) float64 { return float64(h.UnsafeShutdowns) }),
		tally("ssdprobe_nvme_media_errors_total", "Number of unrecovered media and data integrity errors.",
			func(h record.Health) float64 { return float64(h.MediaErrors) }),
		tally("ssdprobe_nvme_error_log_entries_total", "Number of error log entries since the drive was made. Commands that the drive refuses count too.",
			func(h record.Health) float64 { return float64(h.ErrorLogEntries) }),
	}
}

// heatFamilies tell of heat and what the drive did about it.
func heatFamilies() []family[record.Controller] {
	throttling := func(of func(record.Throttling) float64) func(record.Controller, emit) {
		return healthy(func(h record.Health, emit emit) {
			for _, t := range h.Throttling {
				emit(of(t), t.Level)
			}
		})
	}
	return []family[record.Controller]{
		maybe("ssdprobe_nvme_warning_temperature_seconds_total",
			"Time that the drive spent between its warning and its critical temperature, in seconds. Counted in whole minutes. Absent if it has no warning temperature.",
			func(h record.Health) *time.Duration { return h.WarningTemperatureTime }, time.Duration.Seconds),
		maybe("ssdprobe_nvme_critical_temperature_seconds_total",
			"Time that the drive spent above its critical temperature, in seconds. Counted in whole minutes. Absent if it has no critical temperature.",
			func(h record.Health) *time.Duration { return h.CriticalTemperatureTime }, time.Duration.Seconds),
		{
			name: "ssdprobe_nvme_thermal_transitions_total", kind: counter,
			help:   "Number of times that the drive started thermal throttling. level light costs little speed, heavy may cost any amount. Absent when not reported.",
			labels: []string{"level"},
			series: throttling(func(t record.Throttling) float64 { return float64(t.Transitions) }),
		},
		{
			name: "ssdprobe_nvme_thermal_seconds_total", kind: counter,
			help:   "Time spent in thermal throttling, in seconds. Absent when not reported.",
			labels: []string{"level"},
			series: throttling(func(t record.Throttling) float64 { return t.Time.Seconds() }),
		},
	}
}

// featureFamilies tell how a controller is set to work.
func featureFamilies() []family[record.Controller] {
	number := func(of func(record.Features) *int) func(record.Controller, emit) {
		return healthy(func(h record.Health, emit emit) {
			if n := of(h.Features); n != nil {
				emit(float64(*n))
			}
		})
	}
	return []family[record.Controller]{
		{
			name: "ssdprobe_nvme_interrupt_coalescing_time_seconds", kind: gauge,
			help: "Longest time that the controller may collect completions before an interrupt (feature 08h), in seconds. 0 means no delay. Absent when not reported.",
			series: healthy(func(h record.Health, emit emit) {
				if c := h.Features.Coalescing; c != nil {
					emit(c.Time.Seconds())
				}
			}),
		},
		{
			name: "ssdprobe_nvme_interrupt_coalescing_threshold", kind: gauge,
			help:   "Number of completions that the controller may collect before an interrupt (feature 08h). 1 means no coalescing. Absent when not reported.",
			series: number(func(f record.Features) *int { return thresholdOf(f.Coalescing) }),
		},
		{
			name: "ssdprobe_nvme_io_queues", kind: gauge,
			help:   "Number of I/O queues that the driver uses. Absent when unknown.",
			series: number(func(f record.Features) *int { return f.IOQueues }),
		},
		{
			name: "ssdprobe_nvme_poll_queues", kind: gauge,
			help:   "Number of I/O queues that are polled and have no interrupt. Absent when unknown.",
			series: number(func(f record.Features) *int { return f.PollQueues }),
		},
	}
}

func thresholdOf(c *record.Coalescing) *int {
	if c == nil {
		return nil
	}
	return &c.Threshold
}

// interruptFamilies tell where interrupts are taken.
func interruptFamilies() []family[record.Controller] {
	return []family[record.Controller]{
		{
			name: "ssdprobe_nvme_interrupts_total", kind: counter,
			help: fmt.Sprintf("Number of interrupts of a queue on all CPUs. Queue 0 is the admin queue. "+
				"With more than %d queues, the last ones are summed as queue=%q.", maxQueues, otherQueues),
			labels: []string{"queue"},
			series: func(c record.Controller, emit emit) {
				if c.Interrupts == nil {
					return
				}
				queues, others := c.Interrupts.Queues, []record.QueueInterrupts(nil)
				if len(queues) > maxQueues {
					queues, others = queues[:maxQueues-1], queues[maxQueues-1:]
				}
				for _, q := range queues {
					emit(float64(q.Count), q.Queue)
				}
				var sum uint64
				for _, q := range others {
					sum += q.Count
				}
				if len(others) > 0 {
					emit(float64(sum), otherQueues)
				}
			},
		},
		{
			name: "ssdprobe_nvme_remote_interrupts_total", kind: counter,
			help: "Number of interrupts handled on a CPU outside the controller's NUMA node. Absent when the NUMA node is unknown.",
			series: func(c record.Controller, emit emit) {
				if c.Interrupts != nil && c.Interrupts.Remote != nil {
					emit(float64(*c.Interrupts.Remote))
				}
			},
		},
	}
}
