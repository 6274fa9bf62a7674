package dashboards

import "strings"

// chosenNodes selects by the variables, as labels of any series of a node. Two clusters may have nodes of the same name.
const chosenNodes = `cluster=~"$cluster",instance=~"$instance"`

// chosen does the same for series of a target.
const chosen = chosenNodes + `,device=~"$device",id=~"$id"`

// chosenInfo selects the chosen targets in the recording rule that has one series per target. ssdprobe_device_info
// has two while a pod is replaced, and a join with two matches fails.
const chosenInfo = `device:ssdprobe_device_info:unique{model=~"$model",` + chosen + `}`

// withModel adds model and firmware to an expression with one or more series per target, and leaves out models that
// are not chosen.
func withModel(expr string) string {
	return strings.TrimSpace(expr) + ` * on (cluster, job, instance, device, id) group_left (model, firmware) ` + chosenInfo
}

// ofModel leaves out models that are not chosen. When a model is chosen but not its targets, the targets are selected
// with AnyValue, which also matches other models.
func ofModel(expr string) string {
	return expr + ` and on (cluster, job, instance, device, id) ` + chosenInfo
}

// onNodes limits an expression to nodes that have a drive of a chosen model.
func onNodes(expr string) string {
	return expr + ` and on (cluster, job, instance) device:ssdprobe_device_info:unique{model=~"$model",` + chosenNodes + `}`
}

// counted returns the number of series, 0 when there are none.
func counted(expr string) string { return "count(" + expr + ") or vector(0)" }

func fleetDashboard() Dashboard {
	return Dashboard{
		UID: fleetUID, Title: "ssdprobe / Fleet", Since: "now-24h",
		Description: "Which drives are slow, worst first, and how drives of one model and firmware compare. Needs the recording rules of ssdprobe.",
		Variables:   variables(),
		Rows: []Row{
			{Title: "Now", Panels: fleetNow()},
			{Title: "Worst drives, hosts and batches", Panels: worstOfAll()},
			{Title: "Slow statistics, the worst first", Panels: slowDrives()},
			{Title: "Peers by model and firmware", Panels: peers()},
			{Title: "Drives of the chosen nodes", Panels: chosenDrives(), Folded: true},
			{Title: "How well the fleet is watched", Panels: watched()},
		},
	}
}

// anyModel is said of figures about nodes, which have no model.
const anyModel = " Covers nodes without drives of the chosen models, too."

// fleetNow returns figures that are 0 both when all is well and when nothing is known. Therefore 0 is never green.
func fleetNow() []Panel {
	nodes := number("Nodes that do not answer", "none", "Nodes that have answered within a day, but not for ten minutes. Their drives are in none of these figures. The last row lists them. "+
		"A node that was removed counts for a day."+anyModel, counted(silent), steps("transparent", 1, "red"))
	judged := func(state string) string {
		return counted(`count by (cluster, job, instance, id) (` + withModel(`(ssdprobe_drive_health{state="`+state+`",`+chosen+`} == 1)`) + `)`)
	}
	all := []Panel{
		number("Targets", "none", "Devices and probe files that are watched.",
			counted(chosenInfo), plain()),
		number("Severe", "none", "Targets that are about twice as slow as they should be, or that stall or fail I/Os. They are listed below, worst first.",
			judged("severe"), steps("transparent", 1, "red")),
		number("Degraded", "none", "Targets that are at least 1.2 times slower than before, or far slower than their peers.",
			judged("degraded"), steps("transparent", 1, "orange")),
		number("Watch", "none", "Targets that may be slower, or are slower by too little to matter. They have no alert.", judged("watch"), steps("transparent", 1, "yellow")),
		number("Not judged", "none", "Targets whose current speed is not known: the baseline is being learned, or nothing was compared for an hour. The reasons are below.",
			judged("unknown"), steps("transparent", 1, "blue")),
		number("Cannot be probed", "none", "Targets that have a problem; the status page of their node says which.",
			counted(`count by (cluster, job, instance, id) (`+withModel(`(ssdprobe_target_up{`+chosen+`} == 0)`)+`)`), steps("transparent", 1, "red")),
	}
	nodes.Width = 6
	for i := range all {
		all[i].Width = 3
	}
	return append(all, nodes)
}

// named returns the columns that identify the drive of a row.
func named() []column {
	return []column{
		{field: "instance", name: "Node"}, {field: "device", name: "Device"}, {field: "id", name: "Target"},
		{field: "model", name: "Model"}, {field: "firmware", name: "Firmware"}, {field: "probe", name: "Probe"},
	}
}

// compared returns the values of statistics, without those that are learning, waiting or unknown.
func compared(family, selected string) string {
	return `(` + family + `{` + selected + `} and on (cluster, job, instance, id, probe, statistic) ssdprobe_drift_state{` + selected + `,state=~"stable|suspect|regressed|improved"})`
}

// unjudged selects everything whose speed is unknown: statistics of probes, and whole drives.
func unjudged(selected string) string {
	return `(ssdprobe_drift_unjudged_since_timestamp_seconds{` + selected + `} or ssdprobe_device_unjudged_since_timestamp_seconds{` + selected + `})`
}

func slowDrives() []Panel {
	const level = "device:ssdprobe_probe_level_seconds:"
	ofDrives := `{model=~"$model",` + chosen + `}`
	worst := `topk(100, ` + level + `vs_peers` + ofDrives + `)`
	drifted := `topk(100, ` + withModel(compared("ssdprobe_drift_ratio", chosen)) + `)`
	ofDrifted := func(expr string) Query {
		return Query{Expr: withModel(`(` + expr + ` and on (cluster, job, instance, device, id, probe, statistic) ` + drifted + `)`)}
	}
	return []Panel{
		table("Against their own baseline",
			"How many times slower each target is than its own baseline, worst first, with the lower bound of the 95 % interval. Above 1 is worse for every statistic. "+
				"A statistic that was not compared for an hour has no ratio. Click a device to open its dashboard.",
			24, 10, append(named(),
				column{field: "statistic", name: "Statistic"},
				column{field: "Value #A", name: "Times slower", unit: "none", at: 1.2},
				column{field: "Value #B", name: "At least", unit: "none"},
				column{field: "state", name: "State"}),
			Query{Expr: drifted}, ofDrifted(`ssdprobe_drift_ratio_lower{`+chosen+`}`),
			ofDrifted(`ssdprobe_drift_state{state="regressed",`+chosen+`}`)),
		table("Against their peers",
			"How many times slower each drive is than the median of its peers over an hour, worst first. Peers have the same model, size, firmware and engine. This "+
				"finds a drive that was slow from its first day. Without its node: what remains without the slowdown that all drives of the node share. "+
				"Level: the percentile in seconds, or seconds for each I/O. Models with fewer than four drives are left out.",
			24, 10, append(named(),
				column{field: "statistic", name: "Statistic"},
				column{field: "Value #A", name: "Times slower", unit: "none", at: 1.25},
				column{field: "Value #B", name: "Without its node", unit: "none", at: 1.25},
				column{field: "Value #C", name: "Level", unit: "s"}),
			Query{Expr: worst}, Query{Expr: level + `excess` + ofDrives + ` and ` + worst},
			Query{Expr: level + `avg1h` + ofDrives + ` and ` + worst}),
	}
}

// chosenDrives has a line for each drive. The worst drives of a fleet are in the tables: a graph of them would read the
// series of all drives.
func chosenDrives() []Panel {
	return []Panel{
		series("Times slower than the baseline, the worst ten", "none",
			"The drift of the ten worst targets and statistics at each moment. 1 is as fast as the baseline."+emptyUntilChosen, 24,
			Query{
				Expr:   `topk(10, max by (cluster, instance, device, id, probe, statistic) (` + ofFew(compared("ssdprobe_drift_ratio", few)) + `))`,
				Legend: "{{cluster}} {{instance}} {{device}} {{probe}} {{statistic}}",
			}).limit(1.2),
		series("Each drive's median, the slowest fifty", "s",
			"The median latency over an hour of the slowest fifty drives and probes at each moment. Drives of one model should stay together; one that leaves the others "+
				"is suspect."+emptyUntilChosen, 24,
			Query{
				Expr:   `topk(50, device:ssdprobe_probe_latency_percentile_seconds:avg1h{percentile="50",model=~"$model",` + few + `})`,
				Legend: "{{cluster}} {{instance}} {{device}} {{probe}}",
			}).from0(),
	}
}

func peers() []Panel {
	const (
		fleet     = "model_firmware:ssdprobe_probe_latency_percentile_seconds"
		ofModels  = `{cluster=~"$cluster",model=~"$model"}`
		of99      = `{percentile="99",cluster=~"$cluster",model=~"$model"}`
		drives    = "model_firmware:ssdprobe_drives:count" + ofModels
		legend    = "{{cluster}} {{model}} {{firmware}} {{probe}} {{kind}}"
		condition = "condition, from, to, probe, statistic"
		effect    = "device:ssdprobe_condition_effect_ratio:comparable"
	)
	// The recorded effects are those of all clusters, so these are taken from the drives: for all models together, and for
	// each. No series has the label none, so the first are shown only while all models are.
	effects := func(aggregate, parameter string) string {
		return aggregate + ` by (` + condition + `) (` + parameter + effect + `{cluster=~"$cluster",none=~"$model"}) or ` +
			aggregate + ` by (` + condition + `, model) (` + parameter + effect + ofModels + `)`
	}
	worst := `topk(100, ` + effects("quantile", "0.5, ") + `)`
	return []Panel{
		table("Models and firmware",
			"How the drives of one model and firmware differ, by their 99th percentile over an hour: the median drive, the value that 95 % of the drives are below, and the slowest drive.",
			24, 9, []column{
				cluster(), {field: "model", name: "Model"}, {field: "firmware", name: "Firmware"}, {field: "kind", name: "Kind"}, {field: "probe", name: "Probe"},
				{field: "Value #A", name: "Slowest drive", unit: "s"}, {field: "Value #B", name: "95 % of drives below", unit: "s"},
				{field: "Value #C", name: "Median drive", unit: "s"}, {field: "Value #D", name: "IOPS of the median drive", unit: "iops"},
			},
			Query{Expr: fleet + ":max" + of99}, Query{Expr: fleet + ":p95" + of99}, Query{Expr: fleet + ":p50" + of99},
			Query{Expr: `model_firmware:ssdprobe_probe_iops:p50` + ofModels}),
		table("Effects of changes of conditions",
			"How many times slower a change of conditions made the median drive, against its level just before, worst first. Rows without a model cover all models. Conditions that changed together have the same effect.",
			24, 8, []column{
				{field: "condition", name: "Condition"}, {field: "from", name: "From"}, {field: "to", name: "To"}, {field: "model", name: "Model"},
				{field: "probe", name: "Probe"}, {field: "statistic", name: "Statistic"},
				{field: "Value #A", name: "Times slower", unit: "none", at: 1.15}, {field: "Value #B", name: "Drives", unit: "none"},
			},
			Query{Expr: worst}, Query{Expr: `(` + effects("count", "") + `) and ` + worst}),
		series("Median drive, 99th percentile", "s",
			"The 99th percentile of the latency of the median drive of each model and firmware. A step after an update comes from the firmware.", 12,
			Query{Expr: fleet + ":p50" + of99, Legend: legend}).from0(),
		series("Slowest drive, 99th percentile", "s",
			"The same for the slowest drive. It is an outlier if it is far from the median drive.", 12,
			Query{Expr: fleet + ":max" + of99, Legend: legend}).from0(),
		series("Drives by model and firmware", "none", "Number of targets of each model and firmware, which shows the progress of an update.", 12,
			Query{Expr: `sum by (model, firmware, kind) (` + drives + `)`, Legend: "{{model}} {{firmware}} {{kind}}"}).from0(),
		series("How much slower than its peers a drive may be", "none",
			"Drives above this limit are outliers: six standard deviations of the drives of the model, and at least 1.25. Shown for the median latency.", 12,
			Query{
				// Peers are the drives of all clusters over which one server evaluates the rules: then the limit has no cluster.
				Expr:   `model:ssdprobe_probe_level_seconds:limit{statistic="latency_p50_seconds",cluster=~"$cluster|",model=~"$model"} and on (model, kind) ` + drives,
				Legend: "{{cluster}} {{model}} {{kind}} {{probe}}",
			}),
		series("Drives without peers", "none",
			"Targets that are not compared across nodes, because fewer than four of their model and size are measured by the same version of the engine.", 12,
			Query{
				Expr: overview("model", "model:ssdprobe_drives_without_peers:count",
					`group by (cluster, job, instance, id, model) (device:ssdprobe_device_info:comparable{model=~"$model",`+few+`} `+
						`unless on (cluster, job, instance, id) device:ssdprobe_probe_level_seconds:vs_peers{`+few+`})`),
				Legend: "{{model}}",
			}).from0(),
	}
}

func watched() []Panel {
	const (
		cpu    = `rate(process_cpu_seconds_total{` + fewNodes + `}[$__rate_interval])`
		memory = `process_resident_memory_bytes{` + fewNodes + `}`
	)
	return []Panel{
		series("Nodes that answer", "none", "Number of nodes on which ssdprobe answers Prometheus."+anyModel, 12,
			Query{
				Expr:   `sum(fleet:ssdprobe_nodes:count{` + chosenNodes + `}) or count(count by (cluster, job, instance) (ssdprobe_build_info{` + fewNodes + `}))`,
				Legend: "nodes",
			}).from0(),
		table("Nodes that do not answer", "Nodes that have answered within a day, but not for ten minutes: their drives are not watched. Empty if all answer."+anyModel, 12, 8, []column{
			{field: "instance", name: "Node"}, {field: "Value", name: "Last answered", unit: "dateTimeFromNow"},
		}, Query{Expr: `1000 * (` + silent + `)`}),
		series("Rounds", "ops", "Rounds of all probes by outcome. Only ok rounds measured a device; busy rounds did no I/O.", 12,
			Query{
				Expr:   overview("outcome", "model_outcome:ssdprobe_probe_rounds:rate5m", ofFew(`rate(ssdprobe_probe_rounds_total{`+few+`}[$__rate_interval])`)),
				Legend: "{{outcome}}",
			}).from0(),
		series("Findings", "none", "Findings on nodes and drives: the number of nodes, targets and probes for each code. docs/metrics.md says what to do about each. "+
			"When models are chosen, those on nodes are left out.", 12,
			Query{
				Expr:   overview("code, severity", "model_code:ssdprobe_findings:count", findings()),
				Legend: "{{severity}}: {{code}}",
			}).from0(),
		table("Drives that are not judged, and why",
			"Statistics of probes, and drives without probes, for which it is not known whether they are slower, longest first. docs/runbook.md says what to do about each reason. Empty when all are judged.",
			24, 8, append(named(), column{field: "statistic", name: "Statistic"}, column{field: "reason", name: "Reason"}, column{field: "Value", name: "For", unit: "s"}),
			Query{Expr: `topk(100, time() - ` + withModel(unjudged(chosen)) + `)`}),
		series("Not judged, by reason", "none", "Targets that are not judged, or that have a statistic that is not judged, by reason. docs/runbook.md says what to do about each.", 24,
			Query{
				Expr:   overview("reason", "model_reason:ssdprobe_drives_unjudged:count", `group by (cluster, job, instance, device, id, reason) (`+ofFew(unjudged(few))+`)`),
				Legend: "{{reason}}",
			}).from0(),
		series("CPU used by ssdprobe", "percentunit", "Share of one core: on the node with the highest use, and on average."+anyModel, 12,
			Query{Expr: highest("fleet:ssdprobe_cpu", cpu), Legend: "most"},
			Query{Expr: mean("fleet:ssdprobe_cpu", cpu), Legend: "average"}).from0(),
		series("Memory used by ssdprobe", "bytes", "Resident memory: on the node with the highest use, and on average."+anyModel, 12,
			Query{Expr: highest("fleet:ssdprobe_memory_bytes", memory), Legend: "most"},
			Query{Expr: mean("fleet:ssdprobe_memory_bytes", memory), Legend: "average"}).from0(),
	}
}
