package deploytest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allQueries are those of all panels, annotations and variables, by what they
// are for, with values in place of variables.
func allQueries() map[string]string {
	all := map[string]string{}
	for name, d := range dashboards() {
		for _, r := range d.rows {
			for _, p := range r.panels {
				for i, q := range p.queries {
					all[fmt.Sprintf("%s/%s/%s/%d", name, r.title, p.title, i)] = filled(q.expr)
				}
			}
		}
		for _, a := range d.annotations {
			all[fmt.Sprintf("%s/annotation/%s", name, a["name"])] = filled(a["target"].(object)["expr"].(string))
		}
		for _, v := range d.variables {
			if v["type"] == "query" {
				match, _ := labelValues(v)
				all[fmt.Sprintf("%s/variable/%s", name, v["name"])] = filled(match)
			}
		}
	}
	return all
}

// labelValues takes the query of a variable apart.
func labelValues(variable object) (match, label string) {
	inner := strings.TrimSuffix(strings.TrimPrefix(variable["query"].(object)["query"].(string), "label_values("), ")")
	at := strings.LastIndex(inner, ", ")
	return inner[:at], inner[at+2:]
}

// filled is a query as Grafana sends it when everything is chosen. Variables of one
// value have no word for that, and are everything here too.
func filled(expr string) string {
	return choose(regexp.MustCompile(`="\$(\w+)"`).ReplaceAllString(expr, `=~"$$$1"`), nil)
}

// choose is a query as Grafana sends it with values of variables, and all values of
// the others.
func choose(expr string, values map[string]string) string {
	pairs := []string{"$__rate_interval", "1m", "$__range", "1m"}
	for _, name := range []string{"model", "instance", "device", "id", "suite"} {
		value, ok := values[name]
		if !ok {
			value = anyValue
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
	for name, d := range dashboards() {
		t.Run(name, func(t *testing.T) {
			m := d.model()
			assert.NotEmpty(t, m["description"])
			assert.False(t, uids[d.uid], "uid twice")
			uids[d.uid] = true
			taken := map[[2]int]string{}
			ids, titles := map[int]bool{}, map[string]bool{}
			for _, p := range m["panels"].([]object) {
				title := p["title"].(string)
				at := p["gridPos"].(object)
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

// occupy marks the places of a panel on the grid of 24 columns.
func occupy(t *testing.T, taken map[[2]int]string, title string, at object) {
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

func wellFormed(t *testing.T, p object) {
	t.Helper()
	title := p["title"].(string)
	assert.NotEmpty(t, title)
	assert.Regexp(t, `\.$`, p["description"], title)
	assert.NotEmpty(t, p["fieldConfig"].(object)["defaults"].(object)["unit"], "no unit: %s", title)
	assert.Equal(t, source(), p["datasource"], title)
	targets := p["targets"].([]object)
	assert.NotEmpty(t, targets, title)
	refs := map[string]bool{}
	for _, q := range targets {
		assert.Equal(t, source(), q["datasource"], title)
		assert.False(t, refs[q["refId"].(string)], title)
		refs[q["refId"].(string)] = true
		assert.NotEqual(t, q["instant"], q["range"], title)
	}
}

// All dashboards choose by the same variables, so a link that takes them along
// keeps what is chosen.
func TestLinksKeepTheChosenDevice(t *testing.T) {
	shared := []string{"datasource", "model", "instance", "device", "id"}
	known := map[string]bool{}
	for _, d := range dashboards() {
		known["/d/"+d.uid] = true
	}
	for name, d := range dashboards() {
		t.Run(name, func(t *testing.T) {
			var names []string
			for _, v := range d.variables[:len(shared)] {
				names = append(names, v["name"].(string))
			}
			assert.Equal(t, shared, names)
			m := d.model()
			require.Len(t, m["links"], len(dashboards())-1)
			for _, l := range m["links"].([]object) {
				assert.True(t, known[l["url"].(string)], l["url"])
				assert.NotEqual(t, "/d/"+d.uid, l["url"])
				assert.Equal(t, true, l["includeVars"])
				assert.Equal(t, true, l["keepTime"])
			}
			for _, r := range d.rows {
				for _, p := range r.panels {
					checkDataLinks(t, p)
				}
			}
		})
	}
}

// checkDataLinks wants of a table with devices that they lead to their dashboard,
// and that the columns are there that the link is made from.
func checkDataLinks(t *testing.T, p panel) {
	t.Helper()
	if p.kind != "table" || !strings.Contains(fmt.Sprint(p.transform), "device:Device") {
		return
	}
	text := fmt.Sprint(p.overrides)
	assert.Contains(t, text, deviceURL(), p.title)
	for _, column := range []string{"instance:Node", "device:Device", "id:Target"} {
		assert.Contains(t, fmt.Sprint(p.transform), column, p.title)
	}
	for _, variable := range []string{"${datasource:queryparam}", "${model:queryparam}", "var-instance=", "var-device=", "var-id=", "${__url_time_range}"} {
		assert.Contains(t, deviceURL(), variable)
	}
}
