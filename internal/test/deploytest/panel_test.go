package deploytest

import "strings"

// object is a JSON object of Grafana's schema.
type object map[string]any

// panel is one panel of a dashboard, without its place.
type panel struct {
	kind  string // Grafana's name of the visualization
	title string
	// description is what the question mark beside the title says.
	description string
	unit        string
	width       int // of 24
	height      int
	queries     []query
	options     object
	custom      object // options of the fields, by kind of panel
	defaults    object // further defaults of the fields
	overrides   []object
	transform   []object
}

// query is one PromQL query.
type query struct {
	expr   string
	legend string
	// instant asks for the last value, as a table where the panel is one.
	instant bool
	format  string // time_series by default, table or heatmap
}

// The dashboards' data source, whichever is chosen.
func source() object { return object{"type": "prometheus", "uid": "${datasource}"} }

func series(title, unit, description string, width int, queries ...query) panel {
	return panel{
		kind: "timeseries", title: title, description: description, unit: unit, width: width, height: 8, queries: queries,
		options: object{
			"legend":  object{"showLegend": true, "displayMode": "list", "placement": "bottom", "calcs": []string{}},
			"tooltip": object{"mode": "multi", "sort": "desc"},
		},
		custom: object{"lineWidth": 1, "fillOpacity": 0, "showPoints": "auto", "spanNulls": false},
	}
}

// from0 makes the axis begin at 0, for what has a meaning in proportion.
func (p panel) from0() panel {
	p.defaults = object{"min": 0}
	return p
}

// logarithmic suits what differs by orders of magnitude.
func (p panel) logarithmic() panel {
	p.custom["scaleDistribution"] = object{"type": "log", "log": 10}
	return p
}

// limit draws a line at a value and what is above it in red.
func (p panel) limit(at float64) panel {
	p.defaults = object{"thresholds": steps("green", at, "red")}
	p.custom["thresholdsStyle"] = object{"mode": "line"}
	return p
}

// steps are one colour, and another one from a value on.
func steps(below string, from float64, color string) object {
	return object{"mode": "absolute", "steps": []object{{"color": below, "value": nil}, {"color": color, "value": from}}}
}

// plain is a colour that says neither good nor bad.
func plain() object {
	return object{"mode": "absolute", "steps": []object{{"color": "transparent", "value": nil}}}
}

// number is one figure on a ground that says whether it is good.
func number(title, unit, description, expr string, colours object) panel {
	return panel{
		kind: "stat", title: title, description: description, unit: unit, width: 4, height: 4,
		queries: []query{{expr: expr, instant: true}},
		options: object{
			"reduceOptions": object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
			"colorMode":     "background_solid", "graphMode": "none", "textMode": "value", "justifyMode": "center", "orientation": "auto",
		},
		defaults: object{"thresholds": colours, "noValue": "none"},
	}
}

// column is a column of a table: what it is in the data and how it is shown.
type column struct {
	field, name, unit string
	// at colours values from there on.
	at float64
}

// table shows the labels and values of instant queries, one row for each set of
// labels, sorted by the first value, the highest first. Fields not named as
// columns are left out. A row leads to the dashboard of its device.
//
// Of labels that are no columns the highest value is shown. Grafana puts answers
// into one row when they agree in all labels that they share, the metric's name
// included, and while a pod is replaced there are two of it.
func table(title, description string, width, height int, columns []column, queries ...query) panel {
	var fields, labels []string
	order, names := object{}, object{}
	overrides := []object{}
	var sorted string
	for i, c := range columns {
		fields = append(fields, c.field)
		if !strings.HasPrefix(c.field, "Value") {
			labels = append(labels, c.field)
		}
		order[c.field], names[c.field] = i, c.name
		properties := []object{}
		if c.unit != "" {
			properties = append(properties, object{"id": "unit", "value": c.unit})
			if sorted == "" {
				sorted = c.name
			}
		}
		if c.at != 0 {
			properties = append(properties,
				object{"id": "thresholds", "value": steps("green", c.at, "red")},
				object{"id": "custom.cellOptions", "value": object{"type": "color-text"}})
		}
		if c.field == "device" {
			properties = append(properties, object{"id": "links", "value": []object{{"title": "Open this device", "url": deviceURL()}}})
		}
		if len(properties) > 0 {
			overrides = append(overrides, object{"matcher": object{"id": "byName", "options": c.name}, "properties": properties})
		}
	}
	for i := range queries {
		queries[i].instant, queries[i].format = true, "table"
		queries[i].expr = `max by (` + strings.Join(labels, ", ") + `) (` + queries[i].expr + `)`
	}
	return panel{
		kind: "table", title: title, description: description, unit: "none", width: width, height: height, queries: queries,
		options:   object{"showHeader": true, "cellHeight": "sm", "sortBy": []object{{"displayName": sorted, "desc": true}}},
		custom:    object{"align": "auto", "filterable": true, "cellOptions": object{"type": "auto"}},
		overrides: overrides,
		transform: []object{
			{"id": "merge", "options": object{}},
			{"id": "filterFieldsByName", "options": object{"include": object{"names": fields}}},
			{"id": "organize", "options": object{"indexByName": order, "renameByName": names, "excludeByName": object{}}},
		},
	}
}

// deviceURL leads from a row of a table to the device in it.
func deviceURL() string {
	return "/d/" + deviceUID + "?${datasource:queryparam}&${model:queryparam}&var-instance=${__data.fields.Node:percentencode}" +
		"&var-device=${__data.fields.Device:percentencode}&var-id=${__data.fields.Target:percentencode}&${__url_time_range}"
}
