package deploytest

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// Every query of every dashboard returns data on a real Prometheus that scrapes the
// exporter, with native histograms and without.
func TestEveryQueryReturnsData(t *testing.T) {
	for name, arguments := range map[string][]string{
		"classic histograms": nil,
		"native histograms":  {"--enable-feature=native-histograms"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, arguments...)
			at := s.await(t, recorded(t)...)
			rulesWork(t, s)
			alertsWork(t, s)
			for name, d := range dashboards.All() {
				for _, r := range d.Rows {
					for _, p := range r.Panels {
						returnsData(t, s, at, fmt.Sprintf("%s/%s/%s", name, r.Title, p.Title), p)
					}
				}
				for _, a := range d.Annotations {
					for _, expr := range sent(a["target"].(dashboards.Object)["expr"].(string)) {
						assert.True(t, slices.ContainsFunc(s.ask(t, at, expr, false), promtest.Series.Holds), "%s: annotation %s", name, a["name"])
					}
				}
				for _, v := range d.Variables {
					hasValues(t, s, v)
				}
			}
		})
	}
}

// returnsData evaluates all queries of a panel, and checks for the labels that it shows.
func returnsData(t *testing.T, s server, at time.Time, what string, p dashboards.Panel) {
	t.Helper()
	if p.Kind == "table" && p.Title == "Nodes that do not answer" {
		return // all of them answer: TestNodesThatDoNotAnswer
	}
	shown := map[string]bool{"Value": true, "cluster": true}
	for i, q := range p.Queries {
		var results []promtest.Series
		for _, expr := range sent(q.Expr) {
			some := slices.DeleteFunc(s.ask(t, at, expr, q.Instant), func(r promtest.Series) bool { return !r.Holds() })
			assert.NotEmpty(t, some, "%s: no data: %s", what, expr)
			results = append(results, some...)
		}
		labels := map[string]bool{"cluster": true} // here is one, without a name: see TestDashboardsKeepClustersApart
		for _, r := range results {
			for label := range r.Metric {
				labels[label], shown[label] = true, true
			}
		}
		shown["Value #"+string(rune('A'+i))] = true
		assert.True(t, p.Kind != "table" || !labels["__name__"], "%s: answers that differ in their name get no common row", what)
		for _, label := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(q.Legend, -1) {
			native := label[1] == "le" && slices.ContainsFunc(results, func(r promtest.Series) bool { return len(r.Histograms) > 0 })
			assert.True(t, labels[label[1]] || native, "%s: the legend shows %s, which no series has", what, label[1])
		}
	}
	if p.Kind != "table" {
		return
	}
	kept := slices.IndexFunc(p.Transform, func(t dashboards.Object) bool { return t["id"] == "filterFieldsByName" })
	for _, field := range p.Transform[kept]["options"].(dashboards.Object)["include"].(dashboards.Object)["names"].([]string) {
		assert.True(t, shown[field], "%s: the column %s is in no answer", what, field)
		assert.True(t, field != "Value" || len(p.Queries) == 1, "%s: of several queries the columns are called Value #A", what)
		assert.True(t, !strings.HasPrefix(field, "Value #") || len(p.Queries) > 1, "%s: of one query the column is called Value", what)
	}
}

// sent returns a query as Grafana sends it with All chosen, and with a node chosen if that asks for other series.
func sent(expr string) []string {
	const ofChosen = `none!~`
	chosen := choose(expr, map[string]string{"instance": nodes()[0]})
	switch {
	case !strings.Contains(expr, ofChosen):
		return []string{filled(expr)}
	case !strings.Contains(expr, " or "): // a line for each drive, of chosen nodes only
		return []string{chosen}
	}
	return []string{filled(expr), chosen}
}

// hasValues requires that a variable has values to choose from.
func hasValues(t *testing.T, s server, variable dashboards.Object) {
	t.Helper()
	if variable["type"] != "query" {
		return
	}
	match, label := labelValues(variable)
	assert.Equal(t, variable["name"], label)
	if label == "cluster" { // here is one, without a name
		return
	}
	var values []string
	require.NoError(t, s.Ask(t, "/api/v1/label/"+label+"/values", url.Values{"match[]": {filled(match)}}, &values))
	assert.NotEmpty(t, values, label)
}

// recorded returns the metrics that rules record.
func recorded(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, r := range rules(t, "rules.yaml") {
		names = append(names, r.Record)
	}
	return names
}

// rulesWork finds rules that fail on real data, for example with two series where a join allows one.
func rulesWork(t *testing.T, s server) {
	t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.NoError(c, s.Ask(t, "/api/v1/rules", nil, &data))
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				// A rule that was not evaluated yet is unknown; a single evaluation may
				// fail on a busy machine.
				assert.Equal(c, "ok", r.Health, "%s: %s", r.Name, r.LastError)
			}
		}
	}, 6*time.Minute, 200*time.Millisecond)
	count := 0
	for _, g := range data.Groups {
		count += len(g.Rules)
	}
	assert.Equal(t, len(rules(t, "rules.yaml"))+len(rules(t, "alerts.yaml")), count)
}

// alertsWork waits for the alerts about the problems in the snapshot. It fails on other
// alerts, and on alerts whose text cannot be rendered.
func alertsWork(t *testing.T, s server) {
	t.Helper()
	var data struct {
		Alerts []struct{ Labels, Annotations map[string]string }
	}
	raised := map[string]bool{}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.NoError(c, s.Ask(t, "/api/v1/alerts", nil, &data))
		clear(raised)
		for _, a := range data.Alerts {
			raised[a.Labels["alertname"]+" "+a.Labels["device"]] = true
		}
		assert.True(c, raised["SsdprobeDriveDegraded nvme1n1"])
		assert.True(c, raised["SsdprobeLinkBelowMaximum nvme1n1"])
		assert.True(c, raised["SsdprobeStateFailing "])
	}, 6*time.Minute, 200*time.Millisecond)
	assert.False(t, raised["SsdprobeDriveDegraded nvme0n1"], "the healthy drive")
	assert.False(t, raised["SsdprobeLinkBelowMaximum nvme0n1"], "the healthy drive")
	for _, a := range data.Alerts {
		for name, text := range a.Annotations {
			assert.NotContains(t, text, "<error", "%s of %s", name, a.Labels["alertname"])
			assert.NotContains(t, text, "<no value>", "%s of %s", name, a.Labels["alertname"])
		}
	}
}

// A drive without probes has no statistics. Why it is not judged is known for the drive as a whole.
func TestADeviceWithoutProbesSaysWhyItIsNotJudged(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	const family = "ssdprobe_device_unjudged_since_timestamp_seconds"
	s := server{promtest.StartWith(t, fmt.Sprintf("# TYPE %s gauge\n%[1]s{job=\"ssdprobe\",instance=\"stor-1\",device=\"sda\",id=\"naa.5\",reason=\"learning\"} %d %d\n# EOF\n",
		family, at.Add(-2*time.Hour).Unix(), at.Unix())), 1}
	for _, r := range dashboards.All()["device"].Rows {
		for _, p := range r.Panels {
			if p.Title != "Not judged, and why" {
				continue
			}
			answer := s.ask(t, at, choose(p.Queries[0].Expr, map[string]string{"instance": "stor-1", "id": "naa.5"}), true)
			require.Len(t, answer, 1)
			assert.Equal(t, "learning", answer[0].Metric["reason"])
			assert.Equal(t, "7200", answer[0].Value[1])
		}
	}
}
