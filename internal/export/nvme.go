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
			help:   "When the health of the controller was last read. It stops moving when readings fail, and the other series of the controller's health end.",
			series: func(c record.Controller, emit emit) { emitTime(emit, c.LastRead) },
		},
		{
			name: "ssdprobe_nvme_critical_warning", kind: gauge,
			help: "Whether the drive asks for attention because of this condition (1) or not (0): " +
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
			help:   "Temperature of a sensor of the drive: composite, the drive as its vendor composes it, or 1 to 8.",
			labels: []string{"sensor"},
			series: healthy(func(h record.Health, emit emit) {
				for _, t := range h.Temperatures {
					emit(float64(t.Celsius), t.Sensor)
				}
			}),
		},
		{
			name: "ssdprobe_nvme_available_spare_ratio", kind: gauge,
			help:   "Spare blocks that are left, as a share of those it was made with. Absent when not reported.",
			series: healthy(func(h record.Health, emit emit) { emitIf(emit, h.AvailableSpare) }),
		},
		{
			name: "ssdprobe_nvme_available_spare_threshold_ratio", kind: gauge,
			help:   "Share of spare blocks below which the drive warns. Absent when not reported.",
			series: healthy(func(h record.Health, emit emit) { emitIf(emit, h.AvailableSpareThreshold) }),
		},
		{
			name: "ssdprobe_nvme_percentage_used_ratio", kind: gauge,
			help:   "Share of the life that the vendor foresaw which is used. It may exceed 1; 2.55 stands for all above 2.54.",
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
		maybe("ssdprobe_nvme_data_read_bytes_total", "What the host has read since the drive was made, in steps of 512 000 bytes. Absent when not reported.",
			func(h record.Health) *uint64 { return h.DataReadBytes }, bytes),
		maybe("ssdprobe_nvme_data_written_bytes_total", "What the host has written since the drive was made, in steps of 512 000 bytes. Absent when not reported.",
			func(h record.Health) *uint64 { return h.DataWrittenBytes }, bytes),
		tally("ssdprobe_nvme_host_read_commands_total", "Read commands of the host since the drive was made.",
			func(h record.Health) float64 { return float64(h.HostReadCommands) }),
		tally("ssdprobe_nvme_host_write_commands_total", "Write commands of the host since the drive was made.",
			func(h record.Health) float64 { return float64(h.HostWriteCommands) }),
		tally("ssdprobe_nvme_controller_busy_seconds_total", "Time with I/O commands in the controller's queues, in whole minutes.",
			func(h record.Health) float64 { return h.ControllerBusy.Seconds() }),
		tally("ssdprobe_nvme_power_cycles_total", "How often the drive was switched on.",
			func(h record.Health) float64 { return float64(h.PowerCycles) }),
		tally("ssdprobe_nvme_power_on_seconds_total", "Time that the drive was on, in whole hours.",
			func(h record.Health) float64 { return h.PowerOn.Seconds() }),
		tally("ssdprobe_nvme_unsafe_shutdowns_total", "How often the drive lost its power without notice.",
			func(h record.Health) float64 { return float64(h.UnsafeShutdowns) }),
		tally("ssdprobe_nvme_media_errors_total", "Errors of the media or of data integrity that could not be corrected.",
			func(h record.Health) float64 { return float64(h.MediaErrors) }),
		tally("ssdprobe_nvme_error_log_entries_total", "Entries that the error log has had. Commands that a drive refuses count too.",
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
			"Time that the drive was above its warning temperature and below the critical one, in whole minutes. Absent when it has no such temperature.",
			func(h record.Health) *time.Duration { return h.WarningTemperatureTime }, time.Duration.Seconds),
		maybe("ssdprobe_nvme_critical_temperature_seconds_total",
			"Time that the drive was above its critical temperature, in whole minutes. Absent when it has no such temperature.",
			func(h record.Health) *time.Duration { return h.CriticalTemperatureTime }, time.Duration.Seconds),
		{
			name: "ssdprobe_nvme_thermal_transitions_total", kind: counter,
			help:   "How often the drive began to throttle to cool: light with little loss of speed, heavy whatever it costs. Absent when not reported.",
			labels: []string{"level"},
			series: throttling(func(t record.Throttling) float64 { return float64(t.Transitions) }),
		},
		{
			name: "ssdprobe_nvme_thermal_seconds_total", kind: counter,
			help:   "Time that the drive throttled to cool. Absent when not reported.",
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
			help: "How long the controller may gather completions before it interrupts, feature 08h; 0 for no delay.",
			series: healthy(func(h record.Health, emit emit) {
				if c := h.Features.Coalescing; c != nil {
					emit(c.Time.Seconds())
				}
			}),
		},
		{
			name: "ssdprobe_nvme_interrupt_coalescing_threshold", kind: gauge,
			help:   "How many completions the controller may gather before it interrupts, feature 08h; 1 for none.",
			series: number(func(f record.Features) *int { return thresholdOf(f.Coalescing) }),
		},
		{
			name: "ssdprobe_nvme_io_queues", kind: gauge,
			help:   "I/O queues that the driver uses.",
			series: number(func(f record.Features) *int { return f.IOQueues }),
		},
		{
			name: "ssdprobe_nvme_poll_queues", kind: gauge,
			help:   "Those of the I/O queues that have no interrupt and are polled.",
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
			help: fmt.Sprintf("Interrupts of a queue on all CPUs; 0 is the admin queue. "+
				"Of more than %d queues the last ones are summed as queue=%q.", maxQueues, otherQueues),
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
			help: "Interrupts taken on a CPU outside the controller's NUMA node. Absent when the machine does not say where that is.",
			series: func(c record.Controller, emit emit) {
				if c.Interrupts != nil && c.Interrupts.Remote != nil {
					emit(float64(*c.Interrupts.Remote))
				}
			},
		},
	}
}
