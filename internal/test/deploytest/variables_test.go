package deploytest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
)

// expressions are the queries of a dashboard as they are written down, by what they
// are for: of its panels and annotations, and what its variables match.
func expressions(d dashboards.Dashboard) (queries, matches map[string]string) {
	queries, matches = map[string]string{}, map[string]string{}
	for _, r := range d.Rows {
		for _, p := range r.Panels {
			for i, q := range p.Queries {
				queries[r.Title+"/"+p.Title+"/"+string(rune('A'+i))] = q.Expr
			}
		}
	}
	for _, a := range d.Annotations {
		queries["annotation/"+a["name"].(string)] = a["target"].(dashboards.Object)["expr"].(string)
	}
	for _, v := range d.Variables {
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
	for name, d := range dashboards.All() {
		t.Run(name, func(t *testing.T) {
			equals := map[string]string{}
			for _, v := range d.Model()["templating"].(dashboards.Object)["list"].([]dashboards.Object) {
				if v["type"] != "query" {
					continue
				}
				variable := v["name"].(string)
				assert.Equal(t, v["includeAll"], v["multi"], variable)
				if v["includeAll"] == true {
					assert.Equal(t, dashboards.AnyValue, v["allValue"], variable)
					equals[variable] = "=~"
				} else {
					assert.NotContains(t, v, "allValue", variable)
					equals[variable] = "="
				}
			}
			queries, matches := expressions(d)
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
	d := dashboards.All()["device"]
	for _, v := range d.Variables {
		if v["name"] == "instance" || v["name"] == "id" {
			assert.Equal(t, false, v["multi"], v["name"])
			assert.Equal(t, false, v["includeAll"], v["name"])
		}
	}
	series := regexp.MustCompile(`ssdprobe_[a-z0-9_:]+({[^}]*})?`)
	queries, _ := expressions(d)
	for what, expr := range queries {
		asked := series.FindAllString(expr, -1)
		assert.NotEmpty(t, asked, what)
		for _, selector := range asked {
			assert.Contains(t, selector, `instance="$instance"`, what)
			if !strings.HasPrefix(selector, "ssdprobe_recording") { // those are of the node
				assert.Contains(t, selector, `id="$id"`, what)
			}
		}
	}
}

// What looks back over all of the time shown reads it anew for each point of a range.
func TestAllOfTheTimeShownIsReadOnce(t *testing.T) {
	found := 0
	for name, d := range dashboards.All() {
		for _, r := range d.Rows {
			for _, p := range r.Panels {
				for _, q := range p.Queries {
					if strings.Contains(q.Expr, "$__range") {
						found++
						assert.True(t, q.Instant, "%s/%s/%s: %s", name, r.Title, p.Title, q.Expr)
					}
				}
			}
		}
	}
	assert.Positive(t, found)
}

// A graph of every drive of a fleet says nothing and takes long.
func TestNoGraphOfTheFleetHasALineForEachDrive(t *testing.T) {
	for _, r := range dashboards.All()["fleet"].Rows {
		for _, p := range r.Panels {
			for _, q := range p.Queries {
				if p.Kind == "timeseries" && strings.Contains(q.Legend, "{{device}}") {
					assert.Regexp(t, `^topk\(`, q.Expr, p.Title)
					assert.Regexp(t, `worst|slowest`, p.Title)
				}
			}
		}
	}
}
