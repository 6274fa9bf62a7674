package deploytest

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// One server has two clusters, in which nodes, devices and drives have the same names. With one of them chosen, each query
// answers as if there were no other; with both, none fails.
func TestDashboardsKeepClustersApart(t *testing.T) {
	live := startClusters(t, "a", "b")
	at := live.await(t, recorded(t)...)
	rulesWork(t, live)
	everything := live.Query(t, at, `{__name__=~".+"}[10m]`)
	// The past of cluster a, and what was recorded over all clusters, is that of a server that has only this cluster. Both
	// are read back, because a copy has no marks of the ends of series.
	both, alone := readBack(t, everything, "", "a", "b"), readBack(t, everything, "", "a")
	for name, d := range dashboards.All() {
		t.Run(name, func(t *testing.T) {
			queries := expressionsOfPanels(d)
			require.NotEmpty(t, queries)
			for what, q := range queries {
				for _, expr := range sent(strings.ReplaceAll(q.Expr, "$cluster", "a")) {
					want := figures(alone.ask(t, at, expr, q.Instant))
					assert.Equal(t, want, figures(both.ask(t, at, expr, q.Instant)), "%s: %s", what, expr)
					assert.True(t, len(want) > 0 || what == "How well the fleet is watched/Nodes that do not answer/0", "%s: no data: %s", what, expr)
				}
				for _, expr := range sent(q.Expr) {
					for _, series := range both.ask(t, at, expr, q.Instant) { // fails if the query fails
						if series.Metric["instance"] != "" {
							assert.NotEmpty(t, series.Metric["cluster"], "%s: the node of which cluster?", what)
						}
					}
				}
			}
			for _, v := range d.Variables {
				if v["type"] == "query" {
					chosenFrom(t, both, v)
				}
			}
		})
	}
}

// chosenFrom checks what a variable offers: the clusters, and what the chosen cluster has.
func chosenFrom(t *testing.T, s server, variable dashboards.Object) {
	t.Helper()
	match, label := labelValues(variable)
	if label == "cluster" {
		var values []string
		require.NoError(t, s.Ask(t, "/api/v1/label/cluster/values", url.Values{"match[]": {filled(match)}}, &values))
		assert.Equal(t, []string{"a", "b"}, values)
		return
	}
	assert.Contains(t, match, `"$cluster"`, label)
}

// expressionsOfPanels returns the queries of the panels and annotations of a dashboard, by their purpose.
func expressionsOfPanels(d dashboards.Dashboard) map[string]dashboards.Query {
	all := map[string]dashboards.Query{}
	for _, r := range d.Rows {
		for _, p := range r.Panels {
			for i, q := range p.Queries {
				all[fmt.Sprintf("%s/%s/%d", r.Title, p.Title, i)] = q
			}
		}
	}
	for _, a := range d.Annotations {
		all[fmt.Sprintf("annotation/%s", a["name"])] = dashboards.Query{Expr: a["target"].(dashboards.Object)["expr"].(string)}
	}
	return all
}

// readBack runs a Prometheus with the samples of the given clusters.
func readBack(t *testing.T, everything []promtest.Series, clusters ...string) server {
	t.Helper()
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	everything = slices.Clone(everything)
	slices.SortStableFunc(everything, func(a, b promtest.Series) int { return cmp.Compare(a.Metric["__name__"], b.Metric["__name__"]) })
	var history strings.Builder
	for _, series := range everything {
		if !slices.Contains(clusters, series.Metric["cluster"]) {
			continue
		}
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(series.Metric)) {
			if name != "__name__" {
				labels = append(labels, fmt.Sprintf(`%s="%s"`, name, escaped.Replace(series.Metric[name])))
			}
		}
		for _, v := range series.Values {
			fmt.Fprintf(&history, "%s{%s} %s %.3f\n", series.Metric["__name__"], strings.Join(labels, ","), v[1], v[0])
		}
	}
	return server{Server: promtest.StartWith(t, history.String()+"# EOF\n")}
}

// figures returns series as texts, with values that do not tell in which order they were added up.
func figures(all []promtest.Series) []string {
	var texts []string
	for _, series := range all {
		values := series.Values
		if series.Value != nil {
			values = append(slices.Clone(values), series.Value)
		}
		text := fmt.Sprint(series.Metric)
		for _, v := range values {
			f, err := strconv.ParseFloat(v[1].(string), 64)
			text += fmt.Sprintf(" %.3f:%.9g", v[0], f)
			if err != nil {
				text += err.Error()
			}
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts
}
