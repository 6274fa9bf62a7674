package deploytest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/dashboards"
)

// allQueries returns the queries of all panels, annotations and variables, by their
// purpose, with values in place of variables.
func allQueries() map[string]string {
	all := map[string]string{}
	for name, d := range dashboards.All() {
		for _, r := range d.Rows {
			for _, p := range r.Panels {
				for i, q := range p.Queries {
					all[fmt.Sprintf("%s/%s/%s/%d", name, r.Title, p.Title, i)] = filled(q.Expr)
				}
			}
		}
		for _, a := range d.Annotations {
			all[fmt.Sprintf("%s/annotation/%s", name, a["name"])] = filled(a["target"].(dashboards.Object)["expr"].(string))
		}
		for _, v := range d.Variables {
			if v["type"] == "query" {
				match, _ := labelValues(v)
				all[fmt.Sprintf("%s/variable/%s", name, v["name"])] = filled(match)
			}
		}
	}
	return all
}

// labelValues splits the query of a variable.
func labelValues(variable dashboards.Object) (match, label string) {
	inner := strings.TrimSuffix(strings.TrimPrefix(variable["query"].(dashboards.Object)["query"].(string), "label_values("), ")")
	at := strings.LastIndex(inner, ", ")
	return inner[:at], inner[at+2:]
}

// filled returns a query as Grafana sends it with All chosen. Single-value variables
// have no All, but match everything here, too.
func filled(expr string) string {
	return choose(regexp.MustCompile(`="\$(\w+)"`).ReplaceAllString(expr, `=~"$$$1"`), nil)
}

// choose returns a query as Grafana sends it with the given values of variables, and
// all values of the others. The one cluster of a dashboard of one has no name if no series has the label.
func choose(expr string, values map[string]string) string {
	pairs := []string{"$__rate_interval", "1m", "$__range", "1m", `="$cluster"`, `="` + values["cluster"] + `"`}
	for _, name := range []string{"cluster", "model", "instance", "device", "id", "suite"} {
		value, ok := values[name]
		if !ok {
			value = dashboards.AnyValue
		}
		pairs = append(pairs, "$"+name, value)
	}
	return strings.NewReplacer(pairs...).Replace(expr)
}

func TestPromtoolParsesEveryQuery(t *testing.T) {
	queries := allQueries()
	for what, expr := range queries {
		assert.NotRegexp(t, `\$[^1]`, expr, "%s: a variable without a value", what)
	}
	parses(t, queries)
}

func TestDashboardsAreWellFormed(t *testing.T) {
	uids := map[string]bool{}
	for name, d := range dashboards.All() {
		t.Run(name, func(t *testing.T) {
			m := d.Model()
			assert.NotEmpty(t, m["description"])
			assert.False(t, uids[d.UID], "uid twice")
			uids[d.UID] = true
			taken := map[[2]int]string{}
			ids, titles, folded := map[int]bool{}, map[string]bool{}, false
			for _, p := range panels(m) {
				title := p["title"].(string)
				at := p["gridPos"].(dashboards.Object)
				if p["type"] == "row" {
					if folded { // its panels take no space until it is opened
						taken = map[[2]int]string{}
					}
					folded = p["collapsed"] == true
				}
				assert.False(t, ids[p["id"].(int)], "id of %q twice", title)
				ids[p["id"].(int)] = true
				occupy(t, taken, title, at)
				if p["type"] == "row" {
					titles = map[string]bool{}
					continue
				}
				assert.False(t, titles[title], "two panels %q in a row", title)
				titles[title] = true
				wellFormed(t, p)
			}
		})
	}
}

// Prometheus is usually asked for $__rate_interval of a minute when it scrapes every 15 seconds. Drives are read once a
// minute, so the first and last sample of such a window may have no reading between them.
func TestRatesOfWhatDrivesCountHaveTheStepOfReadings(t *testing.T) {
	counted := regexp.MustCompile(`(rate|increase)\(ssdprobe_nvme_[^[]*\[\$__rate_interval`)
	found := 0
	for name, d := range dashboards.All() {
		for _, r := range d.Rows {
			for _, p := range r.Panels {
				if !slices.ContainsFunc(p.Queries, func(q dashboards.Query) bool { return counted.MatchString(q.Expr) }) {
					continue
				}
				found++
				least, err := model.ParseDuration(fmt.Sprint(p.Model()["interval"]))
				if assert.NoError(t, err, "%s/%s has no step", name, p.Title) {
					assert.Equal(t, config.Default().Health.Interval, time.Duration(least), "%s/%s", name, p.Title)
				}
			}
		}
	}
	assert.NotZero(t, found)
}

// Grafana colours a missing value like the lowest one, so "not known" would be green or red.
func TestAMissingFigureHasNoColour(t *testing.T) {
	found := 0
	for name, d := range dashboards.All() {
		for _, p := range panels(d.Model()) {
			if p["type"] != "stat" {
				continue
			}
			found++
			what := fmt.Sprintf("%s: %s", name, p["title"])
			defaults := p["fieldConfig"].(dashboards.Object)["defaults"].(dashboards.Object)
			assert.Contains(t, defaults, "thresholds", what)
			mappings := defaults["mappings"].([]dashboards.Object)
			require.Len(t, mappings, 1, what)
			assert.Equal(t, "special", mappings[0]["type"], what)
			options := mappings[0]["options"].(dashboards.Object)
			assert.Equal(t, "null+nan", options["match"], what)
			result := options["result"].(dashboards.Object)
			assert.Equal(t, "transparent", result["color"], what)
			assert.Contains(t, []string{"none", "not known"}, result["text"], what)
		}
	}
	assert.Positive(t, found)
}

// panelOf returns the panel with a title in a row of a dashboard.
func panelOf(t *testing.T, dashboard, row, title string) dashboards.Panel {
	t.Helper()
	for _, r := range dashboards.All()[dashboard].Rows {
		for _, p := range r.Panels {
			if r.Title == row && p.Title == title {
				return p
			}
		}
	}
	require.Fail(t, "no such panel", "%s/%s/%s", dashboard, row, title)
	return dashboards.Panel{}
}

// panels returns the panels of a dashboard, including rows and the panels folded in them.
func panels(model dashboards.Object) []dashboards.Object {
	var all []dashboards.Object
	for _, p := range model["panels"].([]dashboards.Object) {
		all = append(all, p)
		if p["type"] == "row" {
			all = append(all, p["panels"].([]dashboards.Object)...)
		}
	}
	return all
}

// Rows about what only some devices have, only some suites produce, or only chosen nodes show are folded, and no others.
func TestRowsThatMayBeEmptyAreFolded(t *testing.T) {
	some := regexp.MustCompile(`ssdprobe_nvme_|ssdprobe_drive_[^h]|suite="(depth-sweep|steady-state)"|^topk.*none!~`)
	for name, d := range dashboards.All() {
		for _, r := range d.Rows {
			everywhere := slices.ContainsFunc(r.Panels, func(p dashboards.Panel) bool {
				return slices.ContainsFunc(p.Queries, func(q dashboards.Query) bool { return !some.MatchString(q.Expr) })
			})
			assert.Equal(t, !everywhere, r.Folded, "%s: %s", name, r.Title)
		}
	}
}

// occupy marks the cells of a panel on the grid of 24 columns.
func occupy(t *testing.T, taken map[[2]int]string, title string, at dashboards.Object) {
	t.Helper()
	x, y, w, h := at["x"].(int), at["y"].(int), at["w"].(int), at["h"].(int)
	assert.Positive(t, w*h, title)
	assert.LessOrEqual(t, x+w, 24, title)
	for i := x; i < x+w; i++ {
		for j := y; j < y+h; j++ {
			assert.Empty(t, taken[[2]int{i, j}], "%q lies on another panel", title)
			taken[[2]int{i, j}] = title
		}
	}
}

func wellFormed(t *testing.T, p dashboards.Object) {
	t.Helper()
	title := p["title"].(string)
	assert.NotEmpty(t, title)
	assert.Regexp(t, `\.$`, p["description"], title)
	assert.NotEmpty(t, p["fieldConfig"].(dashboards.Object)["defaults"].(dashboards.Object)["unit"], "no unit: %s", title)
	assert.Equal(t, dashboards.Source(), p["datasource"], title)
	targets := p["targets"].([]dashboards.Object)
	assert.NotEmpty(t, targets, title)
	refs := map[string]bool{}
	for _, q := range targets {
		assert.Equal(t, dashboards.Source(), q["datasource"], title)
		assert.False(t, refs[q["refId"].(string)], title)
		refs[q["refId"].(string)] = true
		assert.NotEqual(t, q["instant"], q["range"], title)
	}
}

// All dashboards have the same variables, so a link that passes them on keeps the selection.
func TestLinksKeepTheChosenDevice(t *testing.T) {
	shared := []string{"datasource", "cluster", "model", "instance", "device", "id"}
	known := map[string]bool{}
	for _, d := range dashboards.All() {
		known["/d/"+d.UID] = true
	}
	for name, d := range dashboards.All() {
		t.Run(name, func(t *testing.T) {
			var names []string
			for _, v := range d.Variables[:len(shared)] {
				names = append(names, v["name"].(string))
			}
			assert.Equal(t, shared, names)
			m := d.Model()
			require.Len(t, m["links"], len(dashboards.All())-1)
			for _, l := range m["links"].([]dashboards.Object) {
				assert.True(t, known[l["url"].(string)], l["url"])
				assert.NotEqual(t, "/d/"+d.UID, l["url"])
				assert.Equal(t, true, l["includeVars"])
				assert.Equal(t, true, l["keepTime"])
			}
			for _, r := range d.Rows {
				for _, p := range r.Panels {
					checkDataLinks(t, p)
				}
			}
		})
	}
}

// checkDataLinks requires that the devices in a table link to their dashboard, and that
// the columns exist from which the link is built.
func checkDataLinks(t *testing.T, p dashboards.Panel) {
	t.Helper()
	if p.Kind != "table" || !strings.Contains(fmt.Sprint(p.Transform), "device:Device") {
		return
	}
	text := fmt.Sprint(p.Overrides)
	assert.Contains(t, text, dashboards.DeviceURL(), p.Title)
	for _, column := range []string{"cluster:Cluster", "instance:Node", "device:Device", "id:Target"} {
		assert.Contains(t, fmt.Sprint(p.Transform), column, p.Title)
	}
	for _, variable := range []string{"${datasource:queryparam}", "${model:queryparam}", "var-cluster=", "var-instance=", "var-device=", "var-id=", "${__url_time_range}"} {
		assert.Contains(t, dashboards.DeviceURL(), variable)
	}
}
