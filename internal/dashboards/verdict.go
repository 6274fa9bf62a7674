package dashboards

import "strconv"

// state is a value of the label state and its colour.
type state struct{ name, color string }

// verdicts returns the verdicts on drives and hosts: first unknown, then from best to worst.
func verdicts() []state {
	return []state{{"unknown", "blue"}, {"healthy", "green"}, {"watch", "yellow"}, {"degraded", "orange"}, {"severe", "red"}}
}

// driftStates returns the states of a statistic.
func driftStates() []state {
	return []state{
		{"learning", "blue"}, {"stable", "green"}, {"improved", "dark-green"}, {"suspect", "orange"}, {"regressed", "red"},
		{"waiting", "light-blue"}, {"unknown", "#808080"},
	}
}

// verdict shows the node's verdict on the device and its evidence.
func verdict() []Panel {
	// An instance without a port is a name that relabelling gave the node: on Kubernetes, nothing listens there.
	kept := func(port string) string {
		return `max by (cluster, instance) (ssdprobe_recordings{` + node + `,instance` + port + `".+:[0-9]+"})`
	}
	recordings := number("Recordings", "none", "Flight recordings that the node keeps, of all its devices: the time around a stall or a verdict. The status page of the "+
		"node lists them. Click to open it, if the label instance is an address with a port. On Kubernetes, it is reached by kubectl port-forward PODNAME 10040, at "+
		"http://localhost:10040/. An orange mark in the graphs shows the end of the newest recording.",
		kept("=~"), plain())
	recordings.Queries = append(recordings.Queries, Query{Expr: kept("!~"), Instant: true})
	recordings.Overrides = []Object{{
		"matcher":    Object{"id": "byFrameRefID", "options": "A"},
		"properties": []Object{{"id": "links", "value": []Object{{"title": "Recordings on the status page", "url": "http://${__field.labels.instance}/", "targetBlank": true}}}},
	}}
	last := number("Last recording", "dateTimeFromNow", "When the newest recording of the node ended. None if there was no stall and no verdict to record.",
		`1000 * max(ssdprobe_recording_last_timestamp_seconds{`+node+`})`, plain()).orNone()
	recordings.Width, last.Width = 3, 3
	return []Panel{
		table("Verdict and its evidence",
			"The verdict on the device as a whole. Witnesses: what shows the problem. Source: the probe with the worst ratio, or traffic. At least, At most: the 95 % "+
				"interval of the ratio, empty if there are too few comparisons. Since: when its first problem began. A healthy device has no figures, and one that only stalls or fails I/Os has no ratio.",
			18, 4, []column{
				{field: "state", name: "Verdict"}, {field: "scope", name: "Scope"}, {field: "witnesses", name: "Witnesses"}, {field: "source", name: "Source"},
				{field: "Value #C", name: "Times slower", unit: "none", at: 1.2}, {field: "Value #E", name: "At least", unit: "none"}, {field: "Value #F", name: "At most", unit: "none"},
				{field: "Value #D", name: "Since", unit: "dateTimeFromNow"},
				{field: "instance", name: "Node"}, {field: "device", name: "Device"}, {field: "id", name: "Target"},
			},
			Query{Expr: `ssdprobe_drive_health{` + target + `} == 1`}, Query{Expr: `ssdprobe_drive_health_info{` + target + `}`},
			Query{Expr: `ssdprobe_drive_health_slower_ratio{` + target + `}`}, Query{Expr: `1000 * ssdprobe_drive_health_since_timestamp_seconds{` + target + `}`},
			Query{Expr: `ssdprobe_drive_health_slower_ratio_lower{` + target + `}`}, Query{Expr: `ssdprobe_drive_health_slower_ratio_upper{` + target + `}`}),
		recordings, last,
		timeline("Verdict over time", "The verdict on the device. A gap is a time without ssdprobe.", 4,
			"ssdprobe_drive_health", target, "device", "{{device}}", verdicts()),
		series("Times slower", "none", "How many times slower the device is than before or than its peers. Empty unless its verdict is watch, degraded or severe.", 24,
			Query{Expr: `ssdprobe_drive_health_slower_ratio{` + target + `}`, Legend: "{{device}}"}).limit(1.2),
	}
}

// timeline shows which state held when. family has a series per state, which is 1 for the state that holds.
func timeline(title, description string, height int, family, labels, by, legend string, states []state) Panel {
	expr, names := "", Object{}
	for i, s := range states {
		number := strconv.Itoa(i)
		if i > 0 {
			expr += " or "
		}
		expr += family + `{` + labels + `,state="` + s.name + `"} * ` + number
		names[number] = Object{"text": s.name, "color": s.color, "index": i}
	}
	return Panel{
		Kind: "state-timeline", Title: title, Description: description, Unit: "none", Width: 24, Height: height,
		Queries: []Query{{Expr: `max by (` + by + `) (` + expr + `)`, Legend: legend}},
		Options: Object{
			"mergeValues": true, "showValue": "auto", "alignValue": "left", "rowHeight": 0.9,
			"legend":  Object{"showLegend": false, "displayMode": "list", "placement": "bottom", "calcs": []string{}},
			"tooltip": Object{"mode": "single", "sort": "none"},
		},
		Custom:   Object{"fillOpacity": 70, "lineWidth": 0},
		Defaults: Object{"mappings": []Object{{"type": "value", "options": names}}},
	}
}
