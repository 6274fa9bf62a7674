package deploytest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// expressions are the queries of a dashboard as they are written down, by what they
// are for: of its panels and annotations, and what its variables match.
func (d dashboard) expressions() (queries, matches map[string]string) {
	queries, matches = map[string]string{}, map[string]string{}
	for _, r := range d.rows {
		for _, p := range r.panels {
			for i, q := range p.queries {
				queries[r.title+"/"+p.title+"/"+string(rune('A'+i))] = q.expr
			}
		}
	}
	for _, a := range d.annotations {
		queries["annotation/"+a["name"].(string)] = a["target"].(object)["expr"].(string)
	}
	for _, v := range d.variables {
		if v["type"] == "query" {
			matches["variable/"+v["name"].(string)], _ = labelValues(v)
		}
	}
	return queries, matches
}

// Grafana puts all values into the query in place of All, unless it is told what to
// put there: with a fleet these are many. It escapes values for regular expressions
// only of variables that may have several.
func TestAllOfAVariableIsShort(t *testing.T) {
	for name, d := range dashboards() {
		t.Run(name, func(t *testing.T) {
			equals := map[string]string{}
			for _, v := range d.model()["templating"].(object)["list"].([]object) {
				if v["type"] != "query" {
					continue
				}
				variable := v["name"].(string)
				assert.Equal(t, v["includeAll"], v["multi"], variable)
				if v["includeAll"] == true {
					assert.Equal(t, anyValue, v["allValue"], variable)
					equals[variable] = "=~"
				} else {
					assert.NotContains(t, v, "allValue", variable)
					equals[variable] = "="
				}
			}
			queries, matches := d.expressions()
			for what, expr := range matches {
				queries[what] = expr
			}
			for what, expr := range queries {
				for _, use := range regexp.MustCompile(`(=~|=)"\$(\w+)"`).FindAllStringSubmatch(expr, -1) {
					assert.Equal(t, equals[use[2]], use[1], "%s: $%s: %s", what, use[2], expr)
				}
			}
		})
	}
}

// The id of a probe file is the same on all nodes, and the names of drives are: the
// dashboard of one device asks for one on one node in each of its queries.
func TestTheDashboardOfADeviceIsOfOneDevice(t *testing.T) {
	d := deviceDashboard()
	for _, v := range d.variables {
		if v["name"] == "instance" || v["name"] == "id" {
			assert.Equal(t, false, v["multi"], v["name"])
			assert.Equal(t, false, v["includeAll"], v["name"])
		}
	}
	series := regexp.MustCompile(`ssdprobe_[a-z0-9_:]+({[^}]*})?`)
	queries, _ := d.expressions()
	for what, expr := range queries {
		asked := series.FindAllString(expr, -1)
		assert.NotEmpty(t, asked, what)
		for _, selector := range asked {
			assert.Contains(t, selector, `instance="$instance"`, what)
			assert.Contains(t, selector, `id="$id"`, what)
		}
	}
}

// What looks back over all of the time shown reads it anew for each point of a range.
func TestAllOfTheTimeShownIsReadOnce(t *testing.T) {
	found := 0
	for name, d := range dashboards() {
		for _, r := range d.rows {
			for _, p := range r.panels {
				for _, q := range p.queries {
					if strings.Contains(q.expr, "$__range") {
						found++
						assert.True(t, q.instant, "%s/%s/%s: %s", name, r.title, p.title, q.expr)
					}
				}
			}
		}
	}
	assert.Positive(t, found)
}

// A graph of every drive of a fleet says nothing and takes long.
func TestNoGraphOfTheFleetHasALineForEachDrive(t *testing.T) {
	for _, r := range fleetDashboard().rows {
		for _, p := range r.panels {
			for _, q := range p.queries {
				if p.kind == "timeseries" && strings.Contains(q.legend, "{{device}}") {
					assert.Regexp(t, `^topk\(`, q.expr, p.title)
					assert.Regexp(t, `worst|slowest`, p.title)
				}
			}
		}
	}
}
