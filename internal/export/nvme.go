package export

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// controllerLabels returns the first labels of every series of an NVMe controller. device and id are those of the
// first of its namespaces that is a target.
func controllerLabels() []string { return append(deviceLabels(), "controller") }

// collectControllers sends the series of each controller once, however many of its namespaces are targets. Otherwise
// sums over controllers would count it twice.
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
		case record.ControllerVirtio: // only the status page shows these
		}
	}
}

// controllerFamilies returns the families with series per NVMe controller. Their first labels are controllerLabels.
func controllerFamilies() []family[record.Controller] {
	return slices.Concat(stateFamilies(), usageFamilies(), heatFamilies(), featureFamilies(), interruptFamilies())
}

// healthy returns series that exist only while the health of the controller is known.
func healthy(series func(record.Health, emit)) func(record.Controller, emit) {
	return func(c record.Controller, emit emit) {
		if c.Health != nil {
			series(*c.Health, emit)
		}
	}
}

// stateFamilies returns the families that describe the current state of a drive.
func stateFamilies() []family[record.Controller] {
	return []family[record.Controller]{
		single("ssdprobe_nvme_health_timestamp_seconds", gauge,
			"Time when the health of the controller was last read, in seconds since 1970. It stops advancing when readings fail; the other health series are absent then.",
			func(c record.Controller) (float64, bool) { return moment(c.LastRead) }),
		metric("ssdprobe_nvme_critical_warning", gauge, []string{"condition"},
			"1 if the drive reports this critical warning, of itself or of an endurance group, else 0. condition is one of "+
				"available_spare, temperature, reliability, read_only, volatile_memory_backup, persistent_memory. If the rated endurance is used, and the drive has "+
				"neither media errors nor few spare blocks, reliability is 0 and rated_endurance, which is never 0, stands in its place. Absent when the drive's health log is blank.",
			healthy(func(h record.Health, emit emit) {
				if h.CriticalWarnings == nil {
					return
				}
				for _, w := range record.CriticalWarnings() {
					emit(boolean(h.Warns(w)), string(w))
				}
				if h.Warns(record.CriticalEndurance) {
					emit(1, string(record.CriticalEndurance))
				}
			})),
		metric("ssdprobe_nvme_temperature_celsius", gauge, []string{"sensor"},
			"Temperature of a sensor of the drive, in degrees Celsius. sensor is composite (the vendor's overall value) or 1 to 8.",
			healthy(func(h record.Health, emit emit) {
				for _, t := range h.Temperatures {
					emit(float64(t.Celsius), t.Sensor)
				}
			})),
		ofHealth("ssdprobe_nvme_available_spare_ratio", gauge, "Remaining spare blocks as a share of the original ones, 0 to 1. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.AvailableSpare) }),
		ofHealth("ssdprobe_nvme_available_spare_threshold_ratio", gauge, "Share of spare blocks below which the drive warns, 0 to 1. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.AvailableSpareThreshold) }),
		ofHealth("ssdprobe_nvme_percentage_used_ratio", gauge, "Share of the rated endurance that is used. May exceed 1. 2.55 is the highest value and means 2.55 or more. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.PercentageUsed) }),
		ofHealth("ssdprobe_nvme_self_test_failed", gauge,
			"1 if a self-test of the drive failed, and no later one of the same kind nor an extended one passed. Else 0, also if none was run. ssdprobe starts none. Absent for drives without a log of self-tests.",
			func(h record.Health) (float64, bool) { return boolean(h.FailedSelfTest() != nil), h.SelfTests != nil }),
		ofHealth("ssdprobe_nvme_self_test_failed_power_on_seconds", gauge,
			"Time that the drive had been powered on when the self-test failed, in seconds. Counted in whole hours, as is ssdprobe_nvme_power_on_seconds_total now. Absent unless ssdprobe_nvme_self_test_failed is 1.",
			func(h record.Health) (float64, bool) {
				failed := h.FailedSelfTest()
				if failed == nil {
					return 0, false
				}
				return failed.PowerOn.Seconds(), true
			}),
		ofHealth("ssdprobe_nvme_media_dies_offline", gauge, "Number of dies of the drive's media that are offline. Absent when not reported: only drives that follow OCP's specification count them.",
			dies(func(d record.MediaDies) uint16 { return d.Offline })),
		ofHealth("ssdprobe_nvme_media_dies_tolerated", gauge, "Number of dies of the drive's media that may be offline before the drive fails. Absent when not reported.",
			dies(func(d record.MediaDies) uint16 { return d.Tolerated })),
	}
}

// dies returns one count of the media dies, for ofHealth.
func dies(count func(record.MediaDies) uint16) func(record.Health) (float64, bool) {
	return func(h record.Health) (float64, bool) {
		if h.MediaDies == nil {
			return 0, false
		}
		return float64(count(*h.MediaDies)), true
	}
}

// ofHealth returns a family with one value of a controller whose health was read.
func ofHealth(name string, kind prometheus.ValueType, help string, value func(record.Health) (float64, bool)) family[record.Controller] {
	return single(name, kind, help, func(c record.Controller) (float64, bool) {
		if c.Health == nil {
			return 0, false
		}
		return value(*c.Health)
	})
}

// usageFamilies returns the families that describe the use of a drive since it was made.
func usageFamilies() []family[record.Controller] {
	return []family[record.Controller]{
		ofHealth("ssdprobe_nvme_data_read_bytes_total", counter, "Bytes that the host read since the drive was made. Counted in units of 512 000 bytes. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.DataReadBytes) }),
		ofHealth("ssdprobe_nvme_data_written_bytes_total", counter, "Bytes that the host wrote since the drive was made. Counted in units of 512 000 bytes. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.DataWrittenBytes) }),
		ofHealth("ssdprobe_nvme_host_read_commands_total", counter, "Number of read commands from the host since the drive was made. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.HostReadCommands) }),
		ofHealth("ssdprobe_nvme_host_write_commands_total", counter, "Number of write commands from the host since the drive was made. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.HostWriteCommands) }),
		ofHealth("ssdprobe_nvme_controller_busy_seconds_total", counter, "Time that the controller was busy with I/O commands, in seconds. Counted in whole minutes. Absent when not reported.",
			func(h record.Health) (float64, bool) { return seconds(h.ControllerBusy) }),
		ofHealth("ssdprobe_nvme_power_cycles_total", counter, "Number of times that the drive was powered on. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.PowerCycles) }),
		ofHealth("ssdprobe_nvme_power_on_seconds_total", counter, "Time that the drive was powered on, in seconds. Counted in whole hours. Absent when not reported.",
			func(h record.Health) (float64, bool) { return seconds(h.PowerOn) }),
		ofHealth("ssdprobe_nvme_unsafe_shutdowns_total", counter, "Number of times that the drive lost power without a clean shutdown. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.UnsafeShutdowns) }),
		ofHealth("ssdprobe_nvme_media_errors_total", counter, "Number of unrecovered media and data integrity errors. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.MediaErrors) }),
		ofHealth("ssdprobe_nvme_error_log_entries_total", counter, "Number of error log entries since the drive was made. Commands that the drive refuses count too. Absent when not reported.",
			func(h record.Health) (float64, bool) { return given(h.ErrorLogEntries) }),
	}
}

// heatFamilies returns the families that describe the heat of a drive and its throttling.
func heatFamilies() []family[record.Controller] {
	throttling := func(of func(record.Throttling) float64) func(record.Controller, emit) {
		return healthy(func(h record.Health, emit emit) {
			for _, t := range h.Throttling {
				emit(of(t), t.Level)
			}
		})
	}
	return []family[record.Controller]{
		ofHealth("ssdprobe_nvme_warning_temperature_seconds_total", counter,
			"Time that the drive spent between its warning and its critical temperature, in seconds. Counted in whole minutes. Absent if it lacks either of them.",
			func(h record.Health) (float64, bool) { return seconds(h.WarningTemperatureTime) }),
		ofHealth("ssdprobe_nvme_critical_temperature_seconds_total", counter,
			"Time that the drive spent above its critical temperature, in seconds. Counted in whole minutes. Absent if it has no critical temperature.",
			func(h record.Health) (float64, bool) { return seconds(h.CriticalTemperatureTime) }),
		metric("ssdprobe_nvme_thermal_transitions_total", counter, []string{"level"},
			"Number of times that the drive started thermal throttling. level light costs little speed, heavy may cost any amount. Absent when not reported.",
			throttling(func(t record.Throttling) float64 { return float64(t.Transitions) })),
		metric("ssdprobe_nvme_thermal_seconds_total", counter, []string{"level"},
			"Time spent in thermal throttling, in seconds. Absent when not reported.",
			throttling(func(t record.Throttling) float64 { return t.Time.Seconds() })),
	}
}

// featureFamilies returns the families that describe the settings of a controller.
func featureFamilies() []family[record.Controller] {
	coalescing := func(value func(record.Coalescing) float64) func(record.Health) (float64, bool) {
		return func(h record.Health) (float64, bool) {
			if h.Features.Coalescing == nil {
				return 0, false
			}
			return value(*h.Features.Coalescing), true
		}
	}
	return []family[record.Controller]{
		ofHealth("ssdprobe_nvme_interrupt_coalescing_time_seconds", gauge,
			"Longest time that the controller may collect completions before an interrupt (feature 08h), in seconds. 0 means no coalescing. Absent when not reported.",
			coalescing(func(c record.Coalescing) float64 { return c.Time.Seconds() })),
		ofHealth("ssdprobe_nvme_interrupt_coalescing_threshold", gauge, "Number of completions that the controller may collect before an interrupt (feature 08h). 1 means no coalescing. Absent when not reported.",
			coalescing(func(c record.Coalescing) float64 { return float64(c.Threshold) })),
		ofHealth("ssdprobe_nvme_io_queues", gauge, "Number of I/O queues that the driver uses. Absent when unknown.",
			func(h record.Health) (float64, bool) { return given(h.Features.IOQueues) }),
		ofHealth("ssdprobe_nvme_poll_queues", gauge, "Number of I/O queues that are polled and have no interrupt. Absent when unknown.",
			func(h record.Health) (float64, bool) { return given(h.Features.PollQueues) }),
	}
}

// interruptFamilies returns the families that describe the interrupts and where they are handled.
func interruptFamilies() []family[record.Controller] {
	return []family[record.Controller]{
		single("ssdprobe_nvme_interrupts_total", counter, "Number of interrupts of all queues of the controller on all CPUs since ssdprobe started. ssdprobe_nvme_queue_interrupts_total has those of each queue, with health.interrupts: all.",
			func(c record.Controller) (float64, bool) {
				if c.Interrupts == nil {
					return 0, false
				}
				return float64(c.Interrupts.Count), true
			}),
		metric("ssdprobe_nvme_queue_interrupts_total", counter, []string{"queue", "locality"},
			"Number of interrupts of each queue since ssdprobe started. locality is local (handled on a CPU of the controller's NUMA node), remote (on another) or unknown (the NUMA node is unknown). "+
				"Absent unless health.interrupts is all for a device of the controller, because each queue has two series. Queue 0 is the admin queue; queues that share an interrupt have one label, such as 0,1.",
			func(c record.Controller, emit emit) {
				if c.Interrupts == nil || !c.Interrupts.EveryQueue {
					return
				}
				for _, q := range c.Interrupts.Queues {
					if q.Local == nil || q.Remote == nil {
						emit(float64(q.Count), q.Queue, "unknown")
						continue
					}
					emit(float64(*q.Local), q.Queue, "local")
					emit(float64(*q.Remote), q.Queue, "remote")
				}
			}),
		single("ssdprobe_nvme_remote_interrupts_total", counter, "Number of interrupts handled on a CPU outside the controller's NUMA node since ssdprobe started. Absent when the NUMA node is unknown.",
			func(c record.Controller) (float64, bool) {
				if c.Interrupts == nil {
					return 0, false
				}
				return given(c.Interrupts.Remote)
			}),
	}
}
