package dashboards

import (
	"slices"
	"strings"
)

// Object is a JSON object of Grafana's schema.
type Object map[string]any

// Panel is one panel of a dashboard, without its position.
type Panel struct {
	Kind  string // Grafana's name of the visualization
	Title string
	// Description is the text behind the icon next to the title.
	Description string
	Unit        string
	Width       int // of 24
	Height      int
	Queries     []Query
	Options     Object
	Custom      Object // field options that depend on the kind of panel
	Defaults    Object // further field defaults
	Overrides   []Object
	Transform   []Object
	// Step is the least time between two points, such as "1m". Empty leaves it to the data source.
	Step string
}

// Query is one PromQL query.
type Query struct {
	Expr   string
	Legend string
	// Instant queries only the last value.
	Instant bool
	Format  string // time_series by default, table or heatmap
}

// Source returns the data source of all panels: the one that the reader selects.
func Source() Object { return Object{"type": "prometheus", "uid": "${datasource}"} }

func series(title, unit, description string, width int, queries ...Query) Panel {
	return Panel{
		Kind: "timeseries", Title: title, Description: description, Unit: unit, Width: width, Height: 8, Queries: queries,
		Options: Object{
			"legend":  Object{"showLegend": true, "displayMode": "list", "placement": "bottom", "calcs": []string{}},
			"tooltip": Object{"mode": "multi", "sort": "desc"},
		},
		Custom: Object{"lineWidth": 1, "fillOpacity": 0, "showPoints": "auto", "spanNulls": false},
	}
}

// from0 makes the axis begin at 0, for values whose proportion matters.
func (p Panel) from0() Panel {
	p.Defaults = Object{"min": 0}
	return p
}

// counted is for the rates of counters that are read from the drive, by default once a minute. With a shorter step,
// $__rate_interval may be too short to hold two readings.
func (p Panel) counted() Panel {
	p.Step = "1m"
	return p
}

// logarithmic makes the axis logarithmic, for values that differ by orders of magnitude.
func (p Panel) logarithmic() Panel {
	p.Custom["scaleDistribution"] = Object{"type": "log", "log": 10}
	return p
}

// dashed is a property of the lines of a query.
func dashed() Object {
	return Object{"id": "custom.lineStyle", "value": Object{"fill": "dash", "dash": []int{4, 4}}}
}

// limit draws a line at a value, and everything above it in red.
func (p Panel) limit(at float64) Panel {
	p.Defaults = Object{"thresholds": steps("green", at, "red")}
	p.Custom["thresholdsStyle"] = Object{"mode": "line"}
	return p
}

// steps returns thresholds with one colour below a value and another from there on.
func steps(below string, from float64, color string) Object {
	return Object{"mode": "absolute", "steps": []Object{{"color": below, "value": nil}, {"color": color, "value": from}}}
}

// plain returns thresholds without a colour that means good or bad.
func plain() Object {
	return Object{"mode": "absolute", "steps": []Object{{"color": "transparent", "value": nil}}}
}

// number is one figure on a background that says whether it is good. Without a figure it has no colour: Grafana would
// take the one of the lowest threshold.
func number(title, unit, description, expr string, colours Object) Panel {
	return Panel{
		Kind: "stat", Title: title, Description: description, Unit: unit, Width: 4, Height: 4,
		Queries: []Query{{Expr: expr, Instant: true}},
		Options: Object{
			"reduceOptions": Object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
			"colorMode":     "background_solid", "graphMode": "none", "textMode": "value", "justifyMode": "center", "orientation": "auto",
		},
		Defaults: Object{"thresholds": colours, "mappings": absent("not known")},
	}
}

// orNone is for a figure that is absent when there is nothing, not when something is not known.
func (p Panel) orNone() Panel {
	p.Defaults["mappings"] = absent("none")
	return p
}

// absent is what a stat shows in place of a missing value.
func absent(text string) []Object {
	return []Object{{"type": "special", "options": Object{"match": "null+nan", "result": Object{"text": text, "color": "transparent", "index": 0}}}}
}

// column is a column of a table: the field in the data, and how it is shown.
type column struct {
	field, name, unit string
	// at is the value from which on values are red; 0 for none.
	at float64
}

// cluster is the column that tells nodes of the same name apart.
func cluster() column { return column{field: "cluster", name: "Cluster"} }

// table shows the labels and values of instant queries, one row for each set of labels, sorted by the first value,
// the highest first. Fields that are not in columns are left out. A row links to the dashboard of its device. A node is
// that of a cluster; Grafana shows no column for a label that no series has.
//
// Each query takes the maximum over the labels that are not columns. Grafana merges results into one row only if they
// agree in all labels that they share, including the metric's name. While a pod is replaced, there are two sets of
// labels.
func table(title, description string, width, height int, columns []column, queries ...Query) Panel {
	if node := slices.IndexFunc(columns, func(c column) bool { return c.field == "instance" }); node >= 0 {
		columns = slices.Insert(columns, node, cluster())
	}
	var fields, labels []string
	order, names := Object{}, Object{}
	overrides := []Object{}
	var sorted string
	for i, c := range columns {
		fields = append(fields, c.field)
		if !strings.HasPrefix(c.field, "Value") {
			labels = append(labels, c.field)
		}
		order[c.field], names[c.field] = i, c.name
		properties := []Object{}
		if c.unit != "" {
			properties = append(properties, Object{"id": "unit", "value": c.unit})
			if sorted == "" {
				sorted = c.name
			}
		}
		if c.at != 0 {
			properties = append(properties,
				Object{"id": "thresholds", "value": steps("text", c.at, "red")},
				Object{"id": "custom.cellOptions", "value": Object{"type": "color-text"}})
		}
		if c.field == "device" {
			properties = append(properties, Object{"id": "links", "value": []Object{{"title": "Open this device", "url": DeviceURL()}}})
		}
		if len(properties) > 0 {
			overrides = append(overrides, Object{"matcher": Object{"id": "byName", "options": c.name}, "properties": properties})
		}
	}
	for i := range queries {
		queries[i].Instant, queries[i].Format = true, "table"
		queries[i].Expr = `max by (` + strings.Join(labels, ", ") + `) (` + queries[i].Expr + `)`
	}
	return Panel{
		Kind: "table", Title: title, Description: description, Unit: "none", Width: width, Height: height, Queries: queries,
		Options:   Object{"showHeader": true, "cellHeight": "sm", "sortBy": []Object{{"displayName": sorted, "desc": true}}},
		Custom:    Object{"align": "auto", "filterable": true, "cellOptions": Object{"type": "auto"}},
		Overrides: overrides,
		Transform: []Object{
			{"id": "merge", "options": Object{}},
			{"id": "filterFieldsByName", "options": Object{"include": Object{"names": fields}}},
			{"id": "organize", "options": Object{"indexByName": order, "renameByName": names, "excludeByName": Object{}}},
		},
	}
}

// sortedBy sorts a table by a field that is no column, the highest first.
func (p Panel) sortedBy(field string) Panel {
	delete(p.Options, "sortBy")
	sorted := Object{"id": "sortBy", "options": Object{"fields": Object{}, "sort": []Object{{"field": field, "desc": true}}}}
	p.Transform = slices.Insert(p.Transform, 1, sorted) // after the merging, which makes the rows
	return p
}

// DeviceURL returns the link from a row of a table to the device in it.
func DeviceURL() string {
	return "/d/" + deviceUID + "?${datasource:queryparam}&${model:queryparam}&var-cluster=${__data.fields.Cluster:percentencode}" +
		"&var-instance=${__data.fields.Node:percentencode}" +
		"&var-device=${__data.fields.Device:percentencode}&var-id=${__data.fields.Target:percentencode}&${__url_time_range}"
}
