package dashboards

import "fmt"

// runsChosen selects by the variables of the dashboard of runs. runsFew is for graphs: see few.
const (
	runsChosen = chosen + `,suite=~"$suite"`
	runsFew    = few + `,suite=~"$suite"`
)

func runsDashboard() Dashboard {
	suite := variable("suite", "Suite", `ssdprobe_run_last_completion_timestamp_seconds{`+chosen+`}`)
	return Dashboard{
		UID: runsUID, Title: "ssdprobe / Runs", Since: "now-30d",
		Description: "Full fio runs: results of the last runs, the depth sweep and its knee, and the steady state. Needs the recording rules of ssdprobe.",
		Variables:   append(variables(), suite),
		Annotations: []Object{{
			"name": "Runs", "enable": true, "hide": false, "iconColor": "green", "datasource": Source(),
			"target":          Object{"refId": "Anno", "expr": ofFew(`ssdprobe_run_last_completion_timestamp_seconds{` + runsFew + `} * 1000`)},
			"useValueForTime": true, "titleFormat": "{{suite}} completed", "textFormat": "{{cluster}} {{instance}} {{device}}", "tagKeys": "suite",
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
	completed := `topk(100, ` + withModel(`1000 * ssdprobe_run_last_completion_timestamp_seconds{`+runsChosen+`}`) + `)`
	ofCompleted := func(expr string) Query {
		return Query{Expr: withModel(`(` + expr + `{` + runsChosen + `} and on (cluster, job, instance, device, id, suite) ` + completed + `)`)}
	}
	bandwidth := series("Bandwidth of the last runs, the slowest fifty", "Bps",
		"What each step of the last run of each suite read or wrote per second, of the slowest fifty steps. Each run gives one value, which stays until the next run."+emptyUntilChosen, 12)
	for _, direction := range []string{"read", "write"} {
		bandwidth.Queries = append(bandwidth.Queries, Query{
			Expr: `bottomk(50, ` + ofFew(`ssdprobe_run_`+direction+`_bytes_per_second{`+runsFew+`}`) + `)`, Legend: "{{cluster}} {{instance}} {{device}} {{suite}} {{step}} " + direction,
		})
	}
	// An instant query, because each point of a range would read all of the time shown. It counts the drives of all
	// that time, including those that are gone by now. The recorded rate is of every two minutes.
	ended := table("Runs", "Runs by how they ended, in the time shown.", 6, 8, []column{
		{field: "suite", name: "Suite"}, {field: "outcome", name: "Outcome"}, {field: "Value", name: "Runs", unit: "none"},
	}, Query{Expr: `sum by (suite, outcome) (120 * sum_over_time(model_suite_outcome:ssdprobe_runs:rate5m{model=~"$model",` + runsChosen + `}[$__range])` +
		` or increase(ssdprobe_runs_total{` + runsFew + `}[$__range])` +
		` and on (cluster, job, instance, device, id) last_over_time(device:ssdprobe_device_info:unique{model=~"$model",` + few + `}[$__range]))`})
	ended.Defaults = Object{"decimals": 0} // increase() is an estimate between two scrapes
	return []Panel{
		table("Last run of each suite", "When the last run ended, how long it took, and when the suite is due next, of the latest hundred. A suite without a next time is not scheduled.", 24, 8, append(ofRun(),
			column{field: "Value #A", name: "Completed", unit: "dateTimeFromNow"},
			column{field: "Value #B", name: "Took", unit: "s"},
			column{field: "Value #C", name: "Next", unit: "dateTimeFromNow"}),
			Query{Expr: completed}, ofCompleted("ssdprobe_run_duration_seconds"), ofCompleted("1000 * ssdprobe_run_next_timestamp_seconds")),
		slowestSteps("Reads", "read", "read"),
		slowestSteps("Writes", "write", "wrote"),
		table("Warnings of the last runs", "Why results of the last runs may be wrong, at most a hundred. An empty step means the whole run.", 24, 6, append(ofRun(),
			column{field: "step", name: "Step"}, column{field: "code", name: "Warning"}),
			Query{Expr: `topk(100, ` + withModel(`ssdprobe_run_warning{`+runsChosen+`}`) + `)`}),
		bandwidth.from0(),
		ended,
		series("Runs in progress", "none", "Runs that are in progress, or wait for their device.", 6,
			Query{
				Expr: `sum by (suite) (model_suite:ssdprobe_runs_in_progress:count{model=~"$model",` + runsChosen + `} or ` +
					ofFew(`ssdprobe_run_in_progress{`+runsFew+`}`) + `)`, Legend: "{{suite}}",
			}).from0(),
	}
}

// unsure selects percentiles with fewer than ten I/Os above them, and sure all others.
func unsure(seconds, ios string) string { return seconds + ` and ` + ios }
func sure(seconds, ios string) string   { return seconds + ` unless ` + ios }

// slowestSteps is the table of the results of the last runs in one direction.
func slowestSteps(what, direction, did string) Panel {
	family := "ssdprobe_run_" + direction
	worst := `topk(100, ` + withModel(`sum without (percentile) (`+family+`_latency_percentile_seconds{percentile="99",`+runsChosen+`})`) + `)`
	ofWorst := func(expr string) Query {
		return Query{Expr: withModel(`(sum without (percentile) (` + expr + `) and on (cluster, job, instance, device, id, suite, step) ` + worst + `)`)}
	}
	return table(what+", the slowest step first", "What the hundred slowest steps of the last runs "+did+": IOPS, bandwidth and the 99th percentile of the latency. "+
		"If fewer than ten I/Os lie above the percentile, it is only a hint, and the last column has the number of I/Os behind it: measure longer.", 24, 9, append(ofRun(),
		column{field: "step", name: "Step"},
		column{field: "Value #A", name: "p99", unit: "s"},
		column{field: "Value #B", name: "IOPS", unit: "iops"},
		column{field: "Value #C", name: "Bandwidth", unit: "Bps"},
		column{field: "Value #D", name: "p99 of only so many I/Os", unit: "none", at: 1}),
		Query{Expr: worst}, ofWorst(family+`_iops{`+runsChosen+`}`), ofWorst(family+`_bytes_per_second{`+runsChosen+`}`),
		ofWorst(family+`_latency_percentile_ios{percentile="99",`+runsChosen+`}`))
}

// bar is one of the values that bars show of each step.
type bar struct{ name, expr string }

// percentiles returns the median and the 99th percentile. Those that only a few I/Os stand for are bars of their own.
func percentiles(family, of string) []bar {
	var all []bar
	for _, p := range []struct{ name, percentile string }{{"median", "50"}, {"p99", "99"}} {
		seconds, ios := family+`_latency_percentile_seconds{`+of+`,percentile="`+p.percentile+`"}`, family+`_latency_percentile_ios{`+of+`,percentile="`+p.percentile+`"}`
		all = append(all, bar{p.name, sure(seconds, ios)}, bar{p.name + " of few I/Os", unsure(seconds, ios)})
	}
	return all
}

// bars shows values of each step, ordered by a number in the step's name, which is a depth or a round: the group of the
// regular expression step.
func bars(number, step, title, unit, description string, values ...bar) Panel {
	var queries []Query
	names := Object{}
	for i, v := range values {
		queries = append(queries, Query{
			Expr:    fmt.Sprintf("quantile by (%s) (0.5, label_replace((%s), %[1]q, \"$1\", \"step\", %[3]q))", number, ofModel(`(`+v.expr+`)`), step),
			Instant: true, Format: "table",
		})
		field := "Value"
		if len(values) > 1 {
			field += " #" + string(rune('A'+i))
		}
		names[field] = v.name
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
			{"id": "organize", "options": Object{"indexByName": Object{}, "renameByName": names, "excludeByName": Object{}}},
			{"id": "convertFieldType", "options": Object{"fields": Object{}, "conversions": []Object{{"targetField": number, "destinationType": "number"}}}},
			{"id": "sortBy", "options": Object{"sort": []Object{{"field": number}}}},
		},
	}
}

// ofFewIOs is said of percentiles that have a mark.
const ofFewIOs = " Of few I/Os: fewer than ten lie above the percentile, so it is only a hint."

func sweep() []Panel {
	const (
		step = `.*-qd([0-9]+)(-.*)?` // a repeat has the same depth
		of   = chosen + `,suite="depth-sweep",step=~"` + step + `"`
	)
	return []Panel{
		bars("depth", step, "IOPS by depth", "iops", "IOPS of each depth in the last depth sweep: the median of the chosen devices and of repeats. The knee is where they stop growing.",
			bar{"IOPS", `ssdprobe_run_read_iops{` + of + `}`}),
		bars("depth", step, "Latency by depth", "s", "The median and the 99th percentile of the latency at the same depths: of the median device. Beyond the knee, only the latency grows."+ofFewIOs,
			percentiles("ssdprobe_run_read", of)...),
	}
}

func steady() []Panel {
	const (
		step   = `round-([0-9]+)` // not the preconditioning, which writes larger blocks
		rounds = `suite="steady-state",step=~"` + step + `"`
		of     = chosen + `,` + rounds
	)
	return []Panel{
		bars("round", step, "Write IOPS by round", "iops", "Write IOPS of each round of the last steady-state run: the median of the chosen devices. The drive is steady when five rounds in a row stay within 20 %.",
			bar{"IOPS", `ssdprobe_run_write_iops{` + of + `}`}),
		bars("round", step, "Write latency by round", "s", "The median and the 99th percentile of the latency of the same rounds: of the median device."+ofFewIOs,
			percentiles("ssdprobe_run_write", of)...),
		series("Steady state over runs, the slowest fifty", "iops", "Write IOPS of the slowest round of each run over time, of the slowest fifty devices: the speed of a full drive, and whether it declines."+emptyUntilChosen, 24,
			Query{
				Expr:   `bottomk(50, min by (cluster, instance, device, id) (` + ofFew(`ssdprobe_run_write_iops{`+few+`,`+rounds+`}`) + `))`,
				Legend: "{{cluster}} {{instance}} {{device}}",
			}).from0(),
	}
}
