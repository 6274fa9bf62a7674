package dashboards

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The UIDs of the dashboards, which are part of their URLs.
const (
	fleetUID  = "ssdprobe-fleet"
	deviceUID = "ssdprobe-device"
	runsUID   = "ssdprobe-runs"
)

// schemaVersion is the version of Grafana 12; Grafana 11 reads it as well.
const schemaVersion = 41

// Dashboard is one dashboard: rows of panels, placed from left to right and from top to bottom.
type Dashboard struct {
	UID, Title, Description string
	Variables               []Object
	Annotations             []Object
	Rows                    []Row
	// Since is the initial start of the time range, such as "now-24h".
	Since string
}

// Row is a heading and the panels below it.
type Row struct {
	Title  string
	Panels []Panel
	// Folded is for rows that only some devices need, or that are rarely needed. Such a row is shown only when
	// somebody opens it, and sends no queries until then.
	Folded bool
}

// All returns the dashboards by their file names.
func All() map[string]Dashboard {
	return map[string]Dashboard{"fleet": fleetDashboard(), "device": deviceDashboard(), "runs": runsDashboard()}
}

// AnyValue replaces the list of all values of a variable when all are selected: the list of 500 nodes would make
// queries of a megabyte. It also matches an absent value, such as the model of a virtual drive.
const AnyValue = ".*"

// variable returns a variable that has the values of a label.
func variable(name, label, match string) Object {
	return Object{
		"type": "query", "name": name, "label": label, "datasource": Source(),
		"query":   Object{"query": "label_values(" + match + ", " + name + ")", "refId": name},
		"refresh": 2, "sort": 7, "regex": "", "multi": true, "includeAll": true, "allValue": AnyValue,
		"current": Object{"selected": true, "text": []string{"All"}, "value": []string{"$__all"}},
	}
}

// one limits a variable to one value at a time, initially the first one.
func one(variable Object) Object {
	variable["multi"], variable["includeAll"] = false, false
	delete(variable, "current")
	delete(variable, "allValue")
	return variable
}

// variables returns the variables that select what is shown. All dashboards have the same ones, so that links between
// them keep the selection. Those in single have one value, which Grafana does not escape for a regular expression.
func variables(single ...string) []Object {
	all := []Object{{
		"type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus",
		"refresh": 1, "regex": "", "multi": false, "includeAll": false,
	}}
	from, before := "ssdprobe_device_info", []string{}
	for _, v := range []struct{ name, label string }{{"cluster", "Cluster"}, {"model", "Model"}, {"instance", "Node"}, {"device", "Device"}, {"id", "Target"}} {
		asked, equals := variable(v.name, v.label, from), "=~"
		if slices.Contains(single, v.name) {
			asked, equals = one(asked), "="
		}
		all = append(all, asked)
		before = append(before, v.name+equals+`"$`+v.name+`"`)
		from = "ssdprobe_device_info{" + strings.Join(before, ",") + "}"
	}
	return all
}

// links returns links to the other dashboards, which keep the variables and the time range.
func links(from string) []Object {
	var all []Object
	for _, to := range []struct{ uid, title string }{{fleetUID, "Fleet"}, {deviceUID, "Device"}, {runsUID, "Runs"}} {
		if to.uid != from {
			all = append(all, Object{
				"type": "link", "title": to.title, "url": "/d/" + to.uid, "icon": "dashboard", "tooltip": "Open with the same devices",
				"tags": []string{}, "asDropdown": false, "targetBlank": false, "includeVars": true, "keepTime": true,
			})
		}
	}
	return all
}

// Model returns the dashboard as Grafana stores it.
func (d Dashboard) Model() Object {
	panels := []Object{}
	id, y := 0, 0
	place := func(p Object, x, y, w, h int) Object {
		id++
		p["id"], p["gridPos"] = id, Object{"x": x, "y": y, "w": w, "h": h}
		return p
	}
	for _, r := range d.Rows {
		row := place(Object{"type": "row", "title": r.Title, "collapsed": r.Folded}, 0, y, 24, 1)
		inside := []Object{} // Grafana stores the panels of a folded row inside it, and those of an open row after it
		y++
		x, height := 0, 0
		for _, p := range r.Panels {
			if x+p.Width > 24 {
				x, y, height = 0, y+height, 0
			}
			inside = append(inside, place(p.Model(), x, y, p.Width, p.Height))
			x, height = x+p.Width, max(height, p.Height)
		}
		if r.Folded {
			row["panels"] = inside
			panels = append(panels, row)
			continue
		}
		row["panels"] = []Object{}
		panels = append(append(panels, row), inside...)
		y += height
	}
	return Object{
		"uid": d.UID, "title": d.Title, "description": d.Description, "tags": []string{"ssdprobe"},
		"schemaVersion": schemaVersion, "version": 1, "editable": true, "graphTooltip": 1, "timezone": "browser",
		"time": Object{"from": d.Since, "to": "now"}, "refresh": "1m", "timepicker": Object{},
		"templating":  Object{"list": d.Variables},
		"annotations": Object{"list": append([]Object{}, d.Annotations...)},
		"links":       links(d.UID),
		"panels":      panels,
	}
}

func (p Panel) Model() Object {
	targets := []Object{}
	for i, q := range p.Queries {
		target := Object{
			"refId": string(rune('A' + i)), "datasource": Source(), "editorMode": "code", "expr": q.Expr,
			"instant": q.Instant, "range": !q.Instant, "format": "time_series", "legendFormat": "__auto",
		}
		if q.Format != "" {
			target["format"] = q.Format
		}
		if q.Legend != "" {
			target["legendFormat"] = q.Legend
		}
		targets = append(targets, target)
	}
	defaults := Object{"unit": p.Unit, "color": Object{"mode": "palette-classic"}, "custom": Object{}}
	if p.Kind != "timeseries" {
		defaults["color"] = Object{"mode": "thresholds"}
	}
	for name, value := range p.Defaults {
		defaults[name] = value
	}
	if p.Custom != nil {
		defaults["custom"] = p.Custom
	}
	overrides := p.Overrides
	if overrides == nil {
		overrides = []Object{}
	}
	m := Object{
		"type": p.Kind, "title": p.Title, "description": p.Description, "datasource": Source(), "targets": targets,
		"fieldConfig": Object{"defaults": defaults, "overrides": overrides}, "options": p.Options,
	}
	if p.Transform != nil {
		m["transformations"] = p.Transform
	}
	if p.Step != "" {
		m["interval"] = p.Step
	}
	return m
}

// text returns the dashboard as it is in the committed file.
func (d Dashboard) text() (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // for people who read the queries
	encoder.SetIndent("", "  ")
	err := encoder.Encode(d.Model())
	return b.String(), err
}
