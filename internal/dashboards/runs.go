package dashboards

// runsChosen selects by the variables of the dashboard of runs.
const runsChosen = chosen + `,suite=~"$suite"`

func runsDashboard() Dashboard {
	suite := variable("suite", "Suite", `ssdprobe_run_last_completion_timestamp_seconds{`+chosen+`}`)
	return Dashboard{
		UID: runsUID, Title: "ssdprobe / Runs", Since: "now-30d",
		Description: "Full fio runs: results of the last runs, the depth sweep and its knee, and the steady state. Needs the recording rules of ssdprobe.",
		Variables:   append(variables(), suite),
		Annotations: []Object{{
			"name": "Runs", "enable": true, "hide": false, "iconColor": "green", "datasource": Source(),
			"target":          Object{"refId": "Anno", "expr": ofModel(`ssdprobe_run_last_completion_timestamp_seconds{` + runsChosen + `} * 1000`)},
			"useValueForTime": true, "titleFormat": "{{suite}} completed", "textFormat": "{{instance}} {{device}}", "tagKeys": "suite",
		}},
		Rows: []Row{
			{Title: "Last runs", Panels: lastRuns()},
			{Title: "Depth sweep", Panels: sweep(), Folded: true},
			{Title: "Steady state", Panels: steady(), Folded: true},
		},
	}
}

func ofRun() []column {
	return []column{
		{field: "instance", name: "Node"}, {field: "device", name: "Device"}, {field: "id", name: "Target"}, {field: "model", name: "Model"},
		{field: "suite", name: "Suite"},
	}
}

func lastRuns() []Panel {
	run := func(family string) Query { return Query{Expr: withModel(family + `{` + runsChosen + `}`)} }
	bandwidth := series("Bandwidth of the last runs", "Bps", "What each step of the last run of each suite read and wrote per second. Each run gives one value, which stays until the next run.", 12,
		Query{Expr: ofModel(`ssdprobe_run_read_bytes_per_second{` + runsChosen + `}`), Legend: "{{device}} {{suite}} {{step}} read"},
		Query{Expr: ofModel(`ssdprobe_run_write_bytes_per_second{` + runsChosen + `}`), Legend: "{{device}} {{suite}} {{step}} write"})
	// An instant query, because each point of a range would read all of the time shown. It counts the drives of all
	// that time, including those that are gone by now.
	ended := table("Runs", "Runs by how they ended, in the time shown.", 6, 8, []column{
		{field: "suite", name: "Suite"}, {field: "outcome", name: "Outcome"}, {field: "Value", name: "Runs", unit: "none"},
	}, Query{Expr: `sum by (suite, outcome) (increase(ssdprobe_runs_total{` + runsChosen + `}[$__range])` +
		` and on (job, instance, device, id) last_over_time(` + chosenInfo + `[$__range]))`})
	ended.Defaults = Object{"decimals": 0} // increase() is an estimate between two scrapes
	return []Panel{
		table("Last run of each suite", "When the last run ended, how long it took, and when the suite is due next. A suite without a next time is not scheduled.", 24, 8, append(ofRun(),
			column{field: "Value #A", name: "Completed", unit: "dateTimeFromNow"},
			column{field: "Value #B", name: "Took", unit: "s"},
			column{field: "Value #C", name: "Next", unit: "dateTimeFromNow"}),
			Query{Expr: withModel(`1000 * ssdprobe_run_last_completion_timestamp_seconds{` + runsChosen + `}`)},
			run("ssdprobe_run_duration_seconds"),
			Query{Expr: withModel(`1000 * ssdprobe_run_next_timestamp_seconds{` + runsChosen + `}`)}),
		slowestSteps("Reads", "read", "read", run),
		slowestSteps("Writes", "write", "wrote", run),
		table("Warnings of the last runs", "Why results of the last runs may be wrong. An empty step means the whole run.", 24, 6, append(ofRun(),
			column{field: "step", name: "Step"}, column{field: "code", name: "Warning"}),
			run("ssdprobe_run_warning")),
		bandwidth.from0(),
		ended,
		series("Runs in progress", "none", "Runs that are in progress.", 6,
			Query{Expr: `sum by (suite) (` + ofModel(`ssdprobe_run_in_progress{`+runsChosen+`}`) + `)`, Legend: "{{suite}}"}).from0(),
	}
}

// slowestSteps is the table of the results of the last runs in one direction.
func slowestSteps(what, direction, did string, run func(family string) Query) Panel {
	return table(what+", the slowest step first", "What each step of the last runs "+did+": IOPS, bandwidth and the 99th percentile of the latency.", 24, 9, append(ofRun(),
		column{field: "step", name: "Step"},
		column{field: "Value #A", name: "p99", unit: "s"},
		column{field: "Value #B", name: "IOPS", unit: "iops"},
		column{field: "Value #C", name: "Bandwidth", unit: "Bps"}),
		Query{Expr: withModel(`sum without (percentile) (ssdprobe_run_` + direction + `_latency_percentile_seconds{percentile="99",` + runsChosen + `})`)},
		run("ssdprobe_run_"+direction+"_iops"), run("ssdprobe_run_"+direction+"_bytes_per_second"))
}

// bars shows values of each step, ordered by the number at the end of the step's name, which is a depth or a round.
func bars(number, title, unit, description string, expressions ...string) Panel {
	var queries []Query
	for _, expr := range expressions {
		expr = `avg by (` + number + `) (label_replace(` + ofModel(expr) + `, "` + number + `", "$1", "step", ".*[^0-9]([0-9]+)"))`
		queries = append(queries, Query{Expr: expr, Instant: true, Format: "table"})
	}
	return Panel{
		Kind: "barchart", Title: title, Description: description, Unit: unit, Width: 12, Height: 9, Queries: queries,
		Options: Object{
			"xField": number, "orientation": "auto", "barWidth": 0.8, "groupWidth": 0.7, "showValue": "never", "stacking": "none", "fullHighlight": false,
			"xTickLabelRotation": 0, "xTickLabelMaxLength": 0,
			"legend":  Object{"showLegend": true, "displayMode": "list", "placement": "bottom", "calcs": []string{}},
			"tooltip": Object{"mode": "multi", "sort": "none"},
		},
		Custom: Object{"fillOpacity": 80, "lineWidth": 1},
		Transform: []Object{
			{"id": "merge", "options": Object{}},
			{"id": "filterFieldsByName", "options": Object{"include": Object{"pattern": number + "|Value.*"}}},
			{"id": "convertFieldType", "options": Object{"fields": Object{}, "conversions": []Object{{"targetField": number, "destinationType": "number"}}}},
			{"id": "sortBy", "options": Object{"sort": []Object{{"field": number}}}},
		},
	}
}

func sweep() []Panel {
	const of = chosen + `,suite="depth-sweep"`
	return []Panel{
		bars("depth", "IOPS by depth", "iops", "IOPS of each step of the last depth sweep, as the mean of the chosen devices. The knee is where they stop growing.",
			`ssdprobe_run_read_iops{`+of+`}`),
		bars("depth", "Latency by depth", "s", "The 99th percentile and the median of the latency of the same steps. Beyond the knee, only the latency grows.",
			`ssdprobe_run_read_latency_percentile_seconds{`+of+`,percentile="50"}`,
			`ssdprobe_run_read_latency_percentile_seconds{`+of+`,percentile="99"}`),
	}
}

func steady() []Panel {
	const of = chosen + `,suite="steady-state"`
	return []Panel{
		bars("round", "Write IOPS by round", "iops", "Write IOPS of each round of the last steady-state run, as the mean of the chosen devices. The drive is steady when five rounds in a row stay within 20 %.",
			`ssdprobe_run_write_iops{`+of+`}`),
		bars("round", "Write latency by round", "s", "The median and the 99th percentile of the latency of the same rounds.",
			`ssdprobe_run_write_latency_percentile_seconds{`+of+`,percentile="50"}`,
			`ssdprobe_run_write_latency_percentile_seconds{`+of+`,percentile="99"}`),
		series("Steady state over runs", "iops", "Write IOPS of the last rounds of each run over time: the speed of a full drive, and whether it declines.", 24,
			Query{Expr: `min by (instance, device, id) (` + ofModel(`ssdprobe_run_write_iops{`+of+`}`) + `)`, Legend: "{{instance}} {{device}}"}).from0(),
	}
}
