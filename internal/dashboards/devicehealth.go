package dashboards

// each returns the series of a metric for the chosen target or its controllers.
func each(family string) string { return family + `{` + target + `}` }

// called is like each, with an additional label that describes the series.
func called(what, family string) string {
	return `label_replace(` + each(family) + `, "what", "` + what + `", "", "")`
}

// growth returns how much a counter of the drive increased between two points.
func growth(family string) string { return `increase(` + each(family) + `[$__rate_interval])` }

func health() []Panel {
	const unknown = " Empty for drives that do not report it, such as volumes of clouds."
	temperature := series("Temperature", "celsius", "Each sensor of the drive. Thermal limits differ between drives: the next panel shows the time above them.", 12,
		Query{Expr: each("ssdprobe_nvme_temperature_celsius"), Legend: "{{controller}} {{sensor}}"})
	return []Panel{
		number("Critical warnings", "none", "Critical warnings that are set in the drive's health log. One that only says that the rated endurance is used does not count: the next tile has it.",
			`sum(ssdprobe_nvme_critical_warning{`+target+`,condition!="rated_endurance"})`, steps("green", 1, "red")),
		number("Worn", "percentunit", "Share of the rated endurance that is used up. It may exceed 100 %."+unknown, `max(`+each("ssdprobe_nvme_percentage_used_ratio")+`)`, steps("green", 0.9, "red")),
		number("Short of spare blocks", "none", "Controllers that have fewer spare blocks than the maker's threshold: replace the drive soon. Some drives do not report it.",
			`count(`+each("ssdprobe_nvme_available_spare_ratio")+` < `+each("ssdprobe_nvme_available_spare_threshold_ratio")+`) or vector(0)`, steps("transparent", 1, "red")),
		number("Media errors", "none", "Unrecovered data integrity errors in the drive's life."+unknown, `max(`+each("ssdprobe_nvme_media_errors_total")+`)`, steps("green", 1, "red")),
		number("Unsafe shutdowns", "none", "Number of times that the drive lost power without a clean shutdown."+unknown, `max(`+each("ssdprobe_nvme_unsafe_shutdowns_total")+`)`, plain()),
		number("Powered on", "s", "Total time that the drive was powered on."+unknown, `max(`+each("ssdprobe_nvme_power_on_seconds_total")+`)`, plain()),
		temperature,
		series("Time above temperature limits", "percentunit", "Share of the time above the drive's own warning and critical temperature, and in each level of thermal throttling.", 12,
			Query{Expr: `rate(` + each("ssdprobe_nvme_warning_temperature_seconds_total") + `[$__rate_interval])`, Legend: "{{controller}} warning"},
			Query{Expr: `rate(` + each("ssdprobe_nvme_critical_temperature_seconds_total") + `[$__rate_interval])`, Legend: "{{controller}} critical"},
			Query{Expr: `rate(` + each("ssdprobe_nvme_thermal_seconds_total") + `[$__rate_interval])`, Legend: "{{controller}} throttled, level {{level}}"}).from0().counted(),
		series("Host traffic", "Bps", "What the host reads and writes, by the drive's own count.", 12,
			Query{Expr: `rate(` + each("ssdprobe_nvme_data_read_bytes_total") + `[$__rate_interval])`, Legend: "{{controller}} read"},
			Query{Expr: `rate(` + each("ssdprobe_nvme_data_written_bytes_total") + `[$__rate_interval])`, Legend: "{{controller}} written"}).from0().counted(),
		series("Host commands", "ops", "Read and write commands of the host, by the drive's own count.", 12,
			Query{Expr: `rate(` + each("ssdprobe_nvme_host_read_commands_total") + `[$__rate_interval])`, Legend: "{{controller}} reads"},
			Query{Expr: `rate(` + each("ssdprobe_nvme_host_write_commands_total") + `[$__rate_interval])`, Legend: "{{controller}} writes"}).from0().counted(),
		series("Controller busy", "percentunit", "Share of the time that the controller was busy with I/O, by its own count. Most drives count whole minutes.", 12,
			Query{Expr: `rate(` + each("ssdprobe_nvme_controller_busy_seconds_total") + `[$__rate_interval])`, Legend: "{{controller}}"}).from0().counted(),
		series("New errors", "none", "Media errors, entries of the error log and thermal transitions around each point. The drive is read once a minute, so a new one may be shown at two points, or as a fraction more. Media errors are empty for drives that do not report them.", 12,
			Query{Expr: growth("ssdprobe_nvme_media_errors_total"), Legend: "{{controller}} media errors"},
			Query{Expr: growth("ssdprobe_nvme_error_log_entries_total"), Legend: "{{controller}} error log"},
			Query{Expr: growth("ssdprobe_nvme_thermal_transitions_total"), Legend: "{{controller}} thermal transitions, level {{level}}"}).from0().counted(),
		series("Wear and spare", "percentunit", "Share of the rated endurance that is used up, share of spare blocks that are left, and the maker's threshold for these."+unknown, 12,
			// A single query, because not every drive reports all of them.
			Query{
				Expr: called("used up", "ssdprobe_nvme_percentage_used_ratio") + ` or ` + called("spare", "ssdprobe_nvme_available_spare_ratio") +
					` or ` + called("spare threshold", "ssdprobe_nvme_available_spare_threshold_ratio"),
				Legend: "{{controller}} {{what}}",
			}).from0(),
		series("Power cycles", "none", "Number of times that the drive was powered on."+unknown, 12,
			Query{Expr: each("ssdprobe_nvme_power_cycles_total"), Legend: "{{controller}}"}).from0(),
	}
}

// driveHealth shows drives that smartctl reads. While such a drive sleeps, only that is known.
func driveHealth() []Panel {
	const empty = " Empty if the drive is an NVMe drive, is asleep or does not report it."
	return []Panel{
		number("Passes its own assessment", "bool_yes_no", "The drive's assessment of itself (SMART). No means that it expects to fail."+empty, `min(`+each("ssdprobe_drive_smart_passed")+`)`, steps("red", 1, "green")),
		number("Worn", "percentunit", "Share of the rated endurance that is used up. It may exceed 100 %. Hard disks do not report it."+empty, `max(`+each("ssdprobe_drive_percentage_used_ratio")+`)`, steps("green", 0.9, "red")),
		number("Asleep", "bool_yes_no", "Whether the drive was in standby at the last reading. A sleeping drive is not woken, so the rest of this row is then empty. "+
			"Empty if the drive is an NVMe drive.", `max(`+each("ssdprobe_drive_asleep")+`)`, plain()),
		number("Powered on", "s", "Total time that the drive was powered on, in whole hours."+empty, `max(`+each("ssdprobe_drive_power_on_seconds_total")+`)`, plain()),
		number("Power cycles", "none", "Number of times that the drive was powered on."+empty, `max(`+each("ssdprobe_drive_power_cycles_total")+`)`, plain()),
		series("Sectors in trouble", "none", "Sectors that were replaced (on a SAS drive: grown defects), that wait to be replaced, and that the drive's own checks found unreadable."+empty, 12,
			// A single query, because not every drive reports all of them.
			Query{
				Expr: called("replaced", "ssdprobe_drive_reallocated_sectors") + ` or ` + called("waiting", "ssdprobe_drive_pending_sectors") +
					` or ` + called("unreadable", "ssdprobe_drive_uncorrectable_sectors"),
				Legend: "{{what}}",
			}).from0(),
		series("Temperature", "celsius", "The temperature that the drive reports."+empty, 12, Query{Expr: each("ssdprobe_drive_temperature_celsius"), Legend: "{{device}}"}),
	}
}

func interrupts() []Panel {
	return []Panel{
		series("Interrupts", "ops", "Interrupts of the controller and, with health.interrupts: all, of each of its queues. If all come from one queue, one CPU does all the work.", 12,
			Query{Expr: `rate(` + each("ssdprobe_nvme_interrupts_total") + `[$__rate_interval])`, Legend: "{{controller}}"},
			Query{Expr: `sum by (controller, queue) (rate(` + each("ssdprobe_nvme_queue_interrupts_total") + `[$__rate_interval]))`, Legend: "{{controller}} queue {{queue}}"}).from0().counted(),
		series("Handled on another NUMA node", "percentunit", "Share of the interrupts that a CPU outside the controller's NUMA node handled. Each adds latency.", 12,
			Query{
				Expr: `sum by (controller) (rate(` + each("ssdprobe_nvme_remote_interrupts_total") + `[$__rate_interval]))` +
					` / sum by (controller) (rate(` + each("ssdprobe_nvme_interrupts_total") + `[$__rate_interval]))`,
				Legend: "{{controller}}",
			}).from0().counted(),
		series("Coalescing time", "s", "How long the controller may collect completions before an interrupt (feature 08h). 0 is off.", 8,
			Query{Expr: each("ssdprobe_nvme_interrupt_coalescing_time_seconds"), Legend: "{{controller}}"}).from0(),
		series("Coalescing threshold", "none", "How many completions the controller may collect before an interrupt (feature 08h).", 8,
			Query{Expr: each("ssdprobe_nvme_interrupt_coalescing_threshold"), Legend: "{{controller}}"}).from0(),
		series("Queues", "none", "I/O queues that the driver uses, and how many of them are polled.", 8,
			Query{Expr: each("ssdprobe_nvme_io_queues"), Legend: "{{controller}} I/O"},
			Query{Expr: each("ssdprobe_nvme_poll_queues"), Legend: "{{controller}} polled"}).from0(),
	}
}

func costs() []Panel {
	return []Panel{
		series("Read by ssdprobe", "Bps", "What ssdprobe itself reads, including warm-up and the search for written blocks.", 8,
			Query{Expr: `rate(` + each("ssdprobe_probe_read_bytes_total") + `[$__rate_interval])`, Legend: "{{probe}}"}).from0(),
		series("Written by ssdprobe in a day", "bytes", "What write probes wrote in 24 hours: the wear that ssdprobe causes. Raw devices are never written.", 8,
			Query{Expr: `sum by (cluster, instance, device) (increase(` + each("ssdprobe_probe_written_bytes_total") + `[1d]))`, Legend: "{{device}}"}).from0(),
		series("Rounds", "ops", "Rounds by outcome. Only ok rounds measured the device; busy rounds did no I/O.", 8,
			Query{Expr: `sum by (outcome) (rate(` + each("ssdprobe_probe_rounds_total") + `[$__rate_interval]))`, Legend: "{{outcome}}"}).from0(),
		series("Failed I/O", "none", "I/Os that failed since ssdprobe started, by errno.", 8,
			Query{Expr: `sum by (cluster, instance, device, errno) (` + each("ssdprobe_probe_errors_total") + `)`, Legend: "{{device}} {{errno}}"}).from0(),
		series("Waiting for a CPU", "percentunit", "Share of the last round that its threads spent waiting for a CPU. Above 5 %, a round measured the CPU and does not count.", 8,
			Query{Expr: each("ssdprobe_probe_cpu_wait_ratio"), Legend: "{{probe}}"}).limit(0.05),
		series("Duration of readings", "s", "Duration of the last reading of each source.", 8,
			Query{Expr: each("ssdprobe_collector_duration_seconds"), Legend: "{{collector}}"}).from0(),
	}
}
