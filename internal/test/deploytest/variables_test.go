package deploytest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
)

// expressions returns the queries of a dashboard as written, by their purpose: those of
// its panels and annotations, and the matches of its variables.
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

// For All, Grafana puts all values into the query, unless the variable says what to put
// there. With a fleet these are many. Grafana escapes values for regular expressions
// only for multi-value variables.
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

// The id of a probe file and the names of drives are the same on all nodes, so each
// query in the dashboard of a device selects one device on one node.
func TestTheDashboardOfADeviceIsOfOneDevice(t *testing.T) {
	d := dashboards.All()["device"]
	for _, v := range d.Variables {
		if v["name"] == "cluster" || v["name"] == "instance" || v["name"] == "id" {
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
			assert.Contains(t, selector, `cluster="$cluster",instance="$instance"`, what)
			switch {
			case strings.HasPrefix(selector, "ssdprobe_recording"): // those belong to the node
			case strings.HasPrefix(selector, "ssdprobe_io_latency"): // those to the device, which may have several targets
				assert.Contains(t, expr, ` and on (cluster, instance, device) ssdprobe_device_info{`, what)
			default:
				assert.Contains(t, selector, `id="$id"`, what)
			}
		}
	}
}

// A range query that looks back over the whole time shown reads all of it for each point.
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

// A graph with every drive of a fleet is unreadable and slow.
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
