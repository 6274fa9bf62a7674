package dashboards

// node selects the chosen node of the chosen cluster, whose name is empty where no series has the label.
const node = `cluster="$cluster",instance="$instance"`

// target selects the chosen target, on one node, because probe files have the same id on all nodes.
const target = node + `,id="$id"`

func deviceDashboard() Dashboard {
	return Dashboard{
		UID: deviceUID, Title: "ssdprobe / Device", Since: "now-24h",
		Description: "One device or probe file: how fast it is and was, which conditions changed, its health, and what measuring it costs.",
		Variables:   variables("cluster", "instance", "id"),
		Annotations: deviceAnnotations(),
		Rows: []Row{
			{Title: "Now", Panels: deviceNow()},
			{Title: "Verdict", Panels: verdict()},
			{Title: "Latency and IOPS", Panels: latency()},
			{Title: "Drift from the baseline", Panels: driftPanels()},
			{Title: "Conditions", Panels: conditionPanels()},
			{Title: "Health of an NVMe drive", Panels: health(), Folded: true},
			{Title: "Health of a SATA or SAS drive", Panels: driveHealth(), Folded: true},
			{Title: "Interrupts of an NVMe controller", Panels: interrupts(), Folded: true},
			{Title: "What measuring costs", Panels: costs()},
		},
	}
}

// deviceAnnotations mark times that are the values of series.
func deviceAnnotations() []Object {
	moment := func(name, color, expr, title, tags string) Object {
		return Object{
			"name": name, "enable": true, "hide": false, "iconColor": color, "datasource": Source(),
			"target": Object{"refId": "Anno", "expr": expr}, "useValueForTime": true, "titleFormat": title, "textFormat": "{{instance}} {{device}}", "tagKeys": tags,
		}
	}
	return []Object{
		moment("Changes of conditions", "blue", `ssdprobe_conditions_changed_timestamp_seconds{`+target+`} * 1000`, "{{condition}} changed", "condition"),
		moment("Onsets of drift", "red", `ssdprobe_drift_since_timestamp_seconds{`+target+`} * 1000`, "{{probe}} {{statistic}} began to drift", "probe,statistic"),
		moment("Recordings", "orange", `ssdprobe_recording_last_timestamp_seconds{`+node+`} * 1000`, "the node kept a recording", "instance"),
		moment("Epochs", "purple", `ssdprobe_baseline_learned_timestamp_seconds{`+target+`} * 1000`, "baseline of {{probe}} learned", "probe"),
	}
}

func deviceNow() []Panel {
	return []Panel{
		table("The target", "What the target is. For a probe file, model, serial and firmware are those of the device below it.", 24, 4, []column{
			{field: "instance", name: "Node"}, {field: "device", name: "Device"}, {field: "id", name: "Target"}, {field: "model", name: "Model"},
			{field: "serial", name: "Serial"}, {field: "firmware", name: "Firmware"}, {field: "transport", name: "Transport"}, {field: "kind", name: "Kind"},
			{field: "Value #B", name: "Size", unit: "decbytes"},
		}, Query{Expr: `ssdprobe_device_info{` + target + `}`}, Query{Expr: `ssdprobe_device_size_bytes{` + target + `}`}),
		number("Worst drift", "none", "How many times slower than its baseline the worst statistic of the target is, among those that are judged. The others are listed below.",
			`max(ssdprobe_drift_ratio{`+target+`} and on (cluster, job, instance, id, probe, statistic) ssdprobe_drift_state{`+target+`,state=~"stable|suspect|regressed|improved"})`,
			steps("transparent", 1.2, "red")),
		number("Can be probed", "bool_yes_no", "Whether the target can be probed now.", `min(ssdprobe_target_up{`+target+`})`, steps("red", 1, "green")),
		number("Last good round", "s", "How long ago a round last measured the device. While the device is busy, some hours without one are normal.",
			`time() - max(ssdprobe_probe_last_success_timestamp_seconds{`+target+`})`, steps("green", 3600, "orange")).orNone(),
		number("Round in progress", "s", "Age of the round in progress, which grows while a device hangs. None between rounds.",
			`max(ssdprobe_probe_inflight_seconds{`+target+`})`, steps("green", 60, "red")).orNone(),
		number("PCIe link", "percentunit", "Bandwidth of the link, as a share of what drive and slot support.",
			`min(device:ssdprobe_pcie_link:ratio{`+target+`})`, steps("orange", 1, "green")),
		number("Written blocks", "percentunit", "Share of sampled blocks that hold written data. Blocks that were never written say nothing about the speed of a drive. Raw devices only.",
			`max(ssdprobe_device_written_ratio{`+target+`})`, plain()),
	}
}

// heatmap shows a latency histogram, whether Prometheus stores it natively or in classic buckets. increases is the expression for
// how the series, whose name ends with suffix, increased.
func heatmap(title, description string, increases func(suffix string) string) Panel {
	native := `sum(` + increases("") + `)`
	return Panel{
		Kind: "heatmap", Title: title, Unit: "short", Width: 12, Height: 9, Description: description,
		Queries: []Query{{
			Expr:   native + ` or (sum by (le) (` + increases("_bucket") + `) unless on () ` + native + `)`,
			Legend: "{{le}}", Format: "heatmap",
		}},
		Options: Object{
			"calculate": false, "yAxis": Object{"unit": "s", "axisPlacement": "left"}, "cellGap": 1, "cellValues": Object{"unit": "short"},
			"color":  Object{"mode": "scheme", "scheme": "Oranges", "scale": "exponential", "exponent": 0.5, "steps": 64, "reverse": false, "fill": "dark-orange"},
			"legend": Object{"show": true}, "tooltip": Object{"mode": "single", "yHistogram": true, "showColorScale": false},
			"showValue": "never", "rowsFrame": Object{"layout": "auto"}, "exemplars": Object{"color": "rgba(255,0,255,0.7)"}, "filterValues": Object{"le": 1e-9},
		},
	}
}

// quantile returns a query for a quantile of the latency histogram, whether Prometheus stores it natively or in
// classic buckets.
func quantile(q string) string {
	const rate = `rate(ssdprobe_probe_latency_seconds`
	return `histogram_quantile(` + q + `, sum by (probe) (` + rate + `{` + target + `}[$__rate_interval])))` +
		` or histogram_quantile(` + q + `, sum by (probe, le) (` + rate + `_bucket{` + target + `}[$__rate_interval])))`
}

func latency() []Panel {
	const seconds, window = `ssdprobe_probe_latency_percentile_seconds{` + target + `}`, `ssdprobe_probe_latency_percentile_window_seconds{` + target + `}`
	percentiles := series("Latency percentiles", "s", "Percentiles of all I/Os in the good rounds of the last minutes (drift.window, 5 min by default). A percentile reaches back up to 6 h until ten I/Os lie above it. "+
		"While it is dashed, fewer do, and it is only a hint.", 12,
		Query{Expr: sure(seconds, window), Legend: "{{probe}} p{{percentile}}"},
		Query{Expr: unsure(seconds, window), Legend: "{{probe}} p{{percentile}} of few I/Os"})
	percentiles.Overrides = []Object{{"matcher": Object{"id": "byFrameRefID", "options": "B"}, "properties": []Object{dashed()}}}
	return []Panel{
		percentiles.logarithmic(),
		series("IOPS", "iops", "I/Os per second in the good rounds of the last minutes, at the probe's queue depth. At queue depth 1, it is the inverse of the mean latency.", 12,
			Query{Expr: `ssdprobe_probe_iops{` + target + `}`, Legend: "{{probe}}"}).from0(),
		heatmap("Latency of every I/O of probes", "How many I/Os had which latency. From native histograms where Prometheus stores them, else from the few classic buckets.",
			func(suffix string) string {
				return `increase(ssdprobe_probe_latency_seconds` + suffix + `{` + target + `}[$__rate_interval])`
			}),
		heatmap("Latency of applications' I/O", "How long the device took for each read, write, flush and discard of applications; I/O of ssdprobe is left out. Empty "+
			"where ssdprobe_io_latency_available is 0: eBPF programs time the I/O, and missing rights, the kernel or the key io_latency can prevent that.",
			func(suffix string) string { // of the device, which may have several targets
				return `increase(ssdprobe_io_latency_seconds` + suffix + `{` + node + `,stage="device"}[$__rate_interval])` +
					` and on (cluster, instance, device) ssdprobe_device_info{` + target + `}`
			}),
		series("99th percentile of every I/O", "s", "From the histogram, over the time between two points instead of a window. Where Prometheus stores only classic "+
			"buckets, values below 250 µs are not measured, and no value exceeds 10 ms: see the percentiles above.", 12,
			Query{Expr: quantile("0.99"), Legend: "{{probe}} p99"}).logarithmic(),
		series("I/Os measured", "iops", "I/Os per second that the histogram counted: the data behind these panels.", 12,
			Query{
				Expr: `sum by (probe) (rate(ssdprobe_probe_latency_seconds_count{` + target + `}[$__rate_interval]))` +
					` or histogram_count(sum by (probe) (rate(ssdprobe_probe_latency_seconds{` + target + `}[$__rate_interval])))`,
				Legend: "{{probe}}",
			}).from0(),
	}
}

func driftPanels() []Panel {
	band := func(name, color string) Object {
		return Object{
			"matcher":    Object{"id": "byFrameRefID", "options": name},
			"properties": []Object{dashed(), {"id": "custom.lineWidth", "value": 1}, {"id": "color", "value": Object{"mode": "fixed", "fixedColor": color}}},
		}
	}
	ratio := series("Times slower than the baseline", "none",
		"Each statistic against its baseline. The dashed line is the lower bound of its 95 % interval: it is at least this many times slower. 1 is as fast as the baseline; above 1 is worse, for IOPS too. "+
			"Marks show changes of conditions, onsets of drift and new baselines.", 24,
		Query{Expr: `ssdprobe_drift_ratio{` + target + `}`, Legend: "{{probe}} {{statistic}}"},
		Query{Expr: `ssdprobe_drift_ratio_lower{` + target + `}`, Legend: "{{probe}} {{statistic}} at least"}).limit(1.2)
	ratio.Overrides = []Object{band("B", "gray")}
	ratio.Height = 10
	return []Panel{
		ratio,
		timeline("Verdicts", "The verdict on each statistic over time. Only green is known to be good. A gap is a time without ssdprobe.", 8,
			"ssdprobe_drift_state", target, "probe, statistic", "{{probe}} {{statistic}}", driftStates()),
		table("Not judged, and why", "Statistics for which it is not known whether they are slower, and since how long. An empty probe means the device as a whole, of which nothing is judged. "+
			"docs/runbook.md explains the reasons. Empty when all are judged.", 24, 6, []column{
			{field: "probe", name: "Probe"}, {field: "statistic", name: "Statistic"}, {field: "reason", name: "Reason"}, {field: "Value", name: "For", unit: "s"},
		}, Query{Expr: `time() - ` + unjudged(target)}),
		series("Baseline latencies", "s", "The learned baseline of the latencies. A step is a new epoch: conditions changed, and the baseline was learned again.", 8,
			Query{Expr: `ssdprobe_baseline_value{` + target + `,statistic=~".*_seconds"}`, Legend: "{{probe}} {{statistic}}"}).logarithmic(),
		series("Baseline IOPS", "iops", "The learned baseline of the IOPS. A step is a new epoch.", 8,
			Query{Expr: `ssdprobe_baseline_value{` + target + `,statistic="iops"}`, Legend: "{{probe}}"}).from0(),
		series("Rounds of a baseline being learned", "none", "Good rounds collected for a new baseline so far. Each epoch begins at 0. Empty once the baseline is learned.", 8,
			Query{Expr: `ssdprobe_baseline_samples{` + target + `}`, Legend: "{{probe}}"}).from0(),
	}
}

func conditionPanels() []Panel {
	return []Panel{
		table("Current conditions", "The conditions that change most often and may explain a change of speed. Empty where the machine does not report them.", 12, 6, []column{
			{field: "scheduler", name: "Scheduler"}, {field: "governor", name: "Governor"}, {field: "kernel", name: "Kernel"},
			{field: "write_cache", name: "Write cache"}, {field: "numa_node", name: "NUMA node"},
		}, Query{Expr: `ssdprobe_device_conditions_info{` + target + `}`}),
		table("Last changes", "When each condition was last seen to change.", 12, 6, []column{
			{field: "condition", name: "Condition"}, {field: "Value", name: "Changed", unit: "dateTimeFromNow"},
		}, Query{Expr: `ssdprobe_conditions_changed_timestamp_seconds{` + target + `} * 1000`}),
		table("Blamed for the drift", "Changes of conditions at the onset of a drift. Empty when there is no drift, or when no condition changed at its onset. An empty probe means the verdict on the device, by its worst witness.", 12, 6, []column{
			{field: "probe", name: "Probe"}, {field: "condition", name: "Condition"}, {field: "from", name: "From"}, {field: "to", name: "To"},
		}, Query{Expr: `ssdprobe_drift_attribution_info{` + target + `} or ssdprobe_drive_health_attribution_info{` + target + `}`}),
		table("Findings", "Findings on the device. docs/metrics.md says what to do about each. An empty probe means the whole target.", 12, 6, []column{
			{field: "severity", name: "Severity"}, {field: "code", name: "Finding"}, {field: "probe", name: "Probe"},
		}, Query{Expr: `ssdprobe_finding{` + target + `}`}),
		series("PCIe link", "percentunit", "Bandwidth of the link as it was trained, as a share of what drive and slot support.", 12,
			Query{Expr: `device:ssdprobe_pcie_link:ratio{` + target + `}`, Legend: "{{device}}"}).from0(),
		series("PCIe speed", "si:T/s", "Transfers per second and lane: as trained, and the most that drive and slot support.", 6,
			Query{Expr: `ssdprobe_pcie_link_speed_transfers_per_second{` + target + `}`, Legend: "{{state}}"}).from0(),
		series("PCIe width", "none", "Lanes: as trained, and the most that drive and slot support.", 6,
			Query{Expr: `ssdprobe_pcie_link_width_lanes{` + target + `}`, Legend: "{{state}}"}).from0(),
	}
}
