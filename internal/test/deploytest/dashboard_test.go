package deploytest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the dashboards")

// What addresses of dashboards are made of.
const (
	fleetUID  = "ssdprobe-fleet"
	deviceUID = "ssdprobe-device"
	runsUID   = "ssdprobe-runs"
)

// schemaVersion is that of Grafana 12; Grafana 11 reads it as well.
const schemaVersion = 41

// dashboard is one dashboard: rows of panels, placed from left to right and from
// top to bottom.
type dashboard struct {
	uid, title, description string
	variables               []object
	annotations             []object
	rows                    []row
	// since is how far back it looks at first.
	since string
}

type row struct {
	title  string
	panels []panel
}

func dashboards() map[string]dashboard {
	return map[string]dashboard{"fleet": fleetDashboard(), "device": deviceDashboard(), "runs": runsDashboard()}
}

// anyValue is what is asked for when all values of a variable are chosen, in place of
// every one of them: 500 nodes would make queries of a megabyte. It matches what has
// no value as well, as the model of a virtual drive.
const anyValue = ".*"

// variable asks for the values of a label.
func variable(name, label, match string) object {
	return object{
		"type": "query", "name": name, "label": label, "datasource": source(),
		"query":   object{"query": "label_values(" + match + ", " + name + ")", "refId": name},
		"refresh": 2, "sort": 7, "regex": "", "multi": true, "includeAll": true, "allValue": anyValue,
		"current": object{"selected": true, "text": []string{"All"}, "value": []string{"$__all"}},
	}
}

// one makes a variable have one value at a time, the first one to begin with.
func one(variable object) object {
	variable["multi"], variable["includeAll"] = false, false
	delete(variable, "current")
	delete(variable, "allValue")
	return variable
}

// variables choose what is seen. All dashboards have the same ones, so that
// links between them keep what is chosen. Single ones have one value, which Grafana
// does not escape for a regular expression.
func variables(single ...string) []object {
	all := []object{{
		"type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus",
		"refresh": 1, "regex": "", "multi": false, "includeAll": false,
	}}
	from, before := "ssdprobe_device_info", []string{}
	for _, v := range []struct{ name, label string }{{"model", "Model"}, {"instance", "Node"}, {"device", "Device"}, {"id", "Target"}} {
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

// links lead to the other dashboards and take variables and time along.
func links(from string) []object {
	var all []object
	for _, to := range []struct{ uid, title string }{{fleetUID, "Fleet"}, {deviceUID, "Device"}, {runsUID, "Runs"}} {
		if to.uid != from {
			all = append(all, object{
				"type": "link", "title": to.title, "url": "/d/" + to.uid, "icon": "dashboard", "tooltip": "The same devices there",
				"tags": []string{}, "asDropdown": false, "targetBlank": false, "includeVars": true, "keepTime": true,
			})
		}
	}
	return all
}

// model is the dashboard as Grafana stores it.
func (d dashboard) model() object {
	panels := []object{}
	id, y := 0, 0
	place := func(p object, x, y, w, h int) {
		id++
		p["id"], p["gridPos"] = id, object{"x": x, "y": y, "w": w, "h": h}
		panels = append(panels, p)
	}
	for _, r := range d.rows {
		place(object{"type": "row", "title": r.title, "collapsed": false, "panels": []object{}}, 0, y, 24, 1)
		y++
		x, height := 0, 0
		for _, p := range r.panels {
			if x+p.width > 24 {
				x, y, height = 0, y+height, 0
			}
			place(p.model(), x, y, p.width, p.height)
			x, height = x+p.width, max(height, p.height)
		}
		y += height
	}
	return object{
		"uid": d.uid, "title": d.title, "description": d.description, "tags": []string{"ssdprobe"},
		"schemaVersion": schemaVersion, "version": 1, "editable": true, "graphTooltip": 1, "timezone": "browser",
		"time": object{"from": d.since, "to": "now"}, "refresh": "1m", "timepicker": object{},
		"templating":  object{"list": d.variables},
		"annotations": object{"list": append([]object{}, d.annotations...)},
		"links":       links(d.uid),
		"panels":      panels,
	}
}

func (p panel) model() object {
	targets := []object{}
	for i, q := range p.queries {
		target := object{
			"refId": string(rune('A' + i)), "datasource": source(), "editorMode": "code", "expr": q.expr,
			"instant": q.instant, "range": !q.instant, "format": "time_series", "legendFormat": "__auto",
		}
		if q.format != "" {
			target["format"] = q.format
		}
		if q.legend != "" {
			target["legendFormat"] = q.legend
		}
		targets = append(targets, target)
	}
	defaults := object{"unit": p.unit, "color": object{"mode": "palette-classic"}, "custom": object{}}
	if p.kind != "timeseries" {
		defaults["color"] = object{"mode": "thresholds"}
	}
	for name, value := range p.defaults {
		defaults[name] = value
	}
	if p.custom != nil {
		defaults["custom"] = p.custom
	}
	overrides := p.overrides
	if overrides == nil {
		overrides = []object{}
	}
	m := object{
		"type": p.kind, "title": p.title, "description": p.description, "datasource": source(), "targets": targets,
		"fieldConfig": object{"defaults": defaults, "overrides": overrides}, "options": p.options,
	}
	if p.transform != nil {
		m["transformations"] = p.transform
	}
	return m
}

// text is the dashboard as the committed file has it.
func (d dashboard) text(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // for people who read the queries
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(d.model()))
	return b.String()
}

func TestDashboardsAreTheCommittedOnes(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "dashboards")
	for name, d := range dashboards() {
		path, got := filepath.Join(dir, name+".json"), d.text(t)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "run the test with -update to make it")
		if got != string(want) { // the difference of whole dashboards is no help to read
			t.Errorf("%s is not what is made here: run the test with -update if this is meant", path)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	assert.Len(t, files, len(dashboards()), "every file is made here")
}
