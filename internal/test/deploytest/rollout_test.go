package deploytest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// While a pod is replaced, Prometheus remembers two of it. No query may fail then, and nothing may appear twice.
func TestWhilePodsAreReplaced(t *testing.T) {
	s := startPods(t, []string{"old", "new"})
	at := s.await(t)
	require.Len(t, s.Query(t, at, `count by (pod) (ssdprobe_device_info)`), 2)
	for name, d := range dashboards.All() {
		t.Run(name+" answers", func(t *testing.T) { answers(t, s, at, d) })
		if name != "device" {
			t.Run(name+" is of the chosen model", func(t *testing.T) { isOfTheModel(t, s, at, d) })
		}
	}
	t.Run("drives are counted once", func(t *testing.T) {
		drives := len(nodes()) * len(recordtest.Snapshot().Targets)
		for _, p := range dashboards.All()["fleet"].Rows[0].Panels {
			if p.Title == "Targets" {
				count := 0.0
				require.Eventually(t, func() bool { // the rules of the fleet may not have seen all nodes yet
					found := s.Query(t, time.Now(), filled(p.Queries[0].Expr))
					require.Len(t, found, 1)
					count, _ = found[0].Last()
					return int(count) >= drives
				}, testenv.Patience, 500*time.Millisecond)
				assert.InDelta(t, drives, count, 0)
			}
		}
	})
	t.Run("device is of one device on one node", func(t *testing.T) { isOfOneDevice(t, s, at) })
}

// answers evaluates every query of a dashboard, with everything chosen.
func answers(t *testing.T, s server, at time.Time, d dashboards.Dashboard) {
	t.Helper()
	for _, r := range d.Rows {
		for _, p := range r.Panels {
			for _, q := range p.Queries {
				series := s.ask(t, at, filled(q.Expr), q.Instant) // fails if the query fails
				assert.True(t, p.Kind != "table" || !slices.ContainsFunc(series, func(r promtest.Series) bool { return r.Metric["pod"] != "" }),
					"%s/%s: a row for each pod", r.Title, p.Title)
			}
		}
	}
	for _, a := range d.Annotations {
		s.ask(t, at, filled(a["target"].(dashboards.Object)["expr"].(string)), false)
	}
}

// isOfTheModel chooses a model that no drive has: nothing may be left, except what is said of nodes, which have no model.
func isOfTheModel(t *testing.T, s server, at time.Time, d dashboards.Dashboard) {
	t.Helper()
	queries, _ := expressions(d)
	for what, expr := range queries {
		if strings.Contains(expr, "fleet:") {
			continue
		}
		for _, series := range s.Query(t, at, choose(expr, map[string]string{"model": "none such"})) {
			value, _ := series.Last()
			assert.Zero(t, value, "%s: %s", what, expr)
		}
	}
}

// isOfOneDevice chooses each device of one node.
func isOfOneDevice(t *testing.T, s server, at time.Time) {
	t.Helper()
	node := nodes()[0]
	for _, target := range recordtest.Snapshot().Targets {
		chosen := map[string]string{"instance": node, "id": target.ID}
		summed := map[string]float64{}
		for _, r := range dashboards.All()["device"].Rows {
			for _, p := range r.Panels {
				for _, q := range p.Queries {
					for _, series := range s.ask(t, at, choose(q.Expr, chosen), q.Instant) {
						what := fmt.Sprintf("%s/%s: %s", r.Title, p.Title, q.Expr)
						assert.Contains(t, []string{"", node}, series.Metric["instance"], what)
						assert.Contains(t, []string{"", target.Device.Name}, series.Metric["device"], what)
						if p.Title == "Failed I/O" {
							value, _ := series.Last()
							summed[series.Metric["errno"]] += value
						}
					}
				}
			}
		}
		failed := map[string]float64{}
		for _, probe := range target.Probes {
			for errno, n := range probe.Errors {
				failed[errno] += 2 * float64(n) // of both pods
			}
		}
		assert.Equal(t, failed, summed, "%s: failed I/Os", target.ID)
	}
}
