package deploytest

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// exporter serves what the daemon of recordtest.Snapshot does, and returns its address. The counters grow with
// each scrape, because counters that never change have no rates. Figures are multiplied by times.
func exporter(t *testing.T, times int) (address string) {
	t.Helper()
	latencies := export.NewLatencies()
	var scrapes atomic.Uint64
	snapshot := func() record.Snapshot {
		s := recordtest.Snapshot()
		for i := range s.Targets {
			target := &s.Targets[i]
			for _, p := range target.Probes {
				latencies.Observe(target.Device.Name, *p.Last)
			}
			depths, rounds := stepsOf(t, "depth-sweep"), stepsOf(t, "steady-state")
			target.Runs = slices.Concat(target.Runs, numbered(target.Runs, "depth-sweep", depths[:4]), numbered(target.Runs, "steady-state", rounds[:5]))
		}
		for i := range s.Targets[:2] { // a new kernel made both drives slower
			s.Targets[i].Probes[0].Effect = &record.Effect{
				Changes: []record.Change{{Condition: "kernel", From: "6.1", To: "6.12"}},
				Ratios:  map[record.Statistic]record.Ratio{record.LatencyP50: {Ratio: 1.2 + 0.1*float64(i)}},
			}
		}
		batched, host := *s.Targets[1].Verdict, *s.Targets[1].Verdict
		batched.Scope, host.Scope = record.ScopeBatch, record.ScopeHost
		s.Targets[1].Verdict, s.Host = &batched, &host
		s.Controllers[1].Health.CriticalWarnings = []record.CriticalWarning{record.CriticalReliability}
		passed, celsius, hours, used, none := true, 31, int64(12001), 0.04, int64(0)
		s.Controllers = append(s.Controllers, record.Controller{
			Name: "sda", Kind: record.ControllerDrive, Devices: []string{recordtest.RegressedID}, LastRead: recordtest.Now(),
			Disk: &record.DiskHealth{
				Time: recordtest.Now(), Passed: &passed, TemperatureCelsius: &celsius, PowerOnHours: &hours, PowerCycles: &hours,
				PercentageUsed: &used, ReallocatedSectors: &none, PendingSectors: &none, UncorrectableSectors: &none,
			},
		})
		n := scrapes.Add(1)
		for i := range s.Controllers {
			interrupts := s.Controllers[i].Interrupts
			if interrupts == nil {
				continue // a SATA drive has no interrupts of its own
			}
			*interrupts.Remote += n
			interrupts.Count += n
			interrupts.EveryQueue = true
			for j := range interrupts.Queues {
				q := &interrupts.Queues[j]
				q.Count += n
				q.Local, q.Remote = &q.Count, new(uint64)
			}
		}
		return s
	}
	registry, err := export.NewRegistry(snapshot, latencies, export.Build{Version: "1.2.3"})
	require.NoError(t, err)
	server := httptest.NewServer(promhttp.HandlerFor(multiplied{registry, times}, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// multiplied multiplies figures, but not what is 1 if it holds.
type multiplied struct {
	prometheus.Gatherer
	times int
}

func (m multiplied) Gather() ([]*dto.MetricFamily, error) {
	families, err := m.Gatherer.Gather()
	value := func(v *float64) {
		if v != nil && *v != 1 {
			*v *= float64(m.times)
		}
	}
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			if g := metric.GetGauge(); g != nil {
				value(g.Value)
			}
			if c := metric.GetCounter(); c != nil {
				value(c.Value)
			}
			if h := metric.GetHistogram(); h != nil {
				*h.SampleCount *= uint64(m.times)
				value(h.SampleSum)
				for _, b := range h.Bucket {
					*b.CumulativeCount *= uint64(m.times)
				}
			}
		}
	}
	return families, err
}

// numbered returns the runs of the suite saturate as runs of another suite, whose steps have the given names: of two
// steps, a percentile of the second stands for few I/Os.
func numbered(runs []record.RunStatus, suite string, steps []string) []record.RunStatus {
	var all []record.RunStatus
	for _, r := range runs {
		if r.Suite != "saturate" {
			continue
		}
		r.Suite = suite
		last := *r.Last
		last.Suite, last.Steps = suite, nil
		few := record.NewHistogram([]record.Bin{{Latency: time.Millisecond, Count: 15}})
		for i, name := range steps {
			step := record.Step{Name: name, Read: new(*r.Last.Steps[0].Read), Write: new(*r.Last.Steps[1].Write)}
			if i%2 == 1 {
				step.Read.Latency, step.Write.Latency = few, few
			}
			last.Steps = append(last.Steps, step)
		}
		r.Last = &last
		all = append(all, r)
	}
	return all
}

// nodes returns as many nodes as it takes to distinguish a firmware from its nodes, and
// to have six drives of one model. One is known by its address, the others by their names.
func nodes() []string { return []string{"stor-06", "stor-07", "stor-08:10040"} }

// server is a real Prometheus with the rules and alerts of ssdprobe, and the number of nodes that it scrapes.
type server struct {
	promtest.Server
	nodes int
}

// start runs Prometheus on the exporter until the test ends.
func start(t *testing.T, arguments ...string) server {
	t.Helper()
	return startPods(t, []string{""}, arguments...)
}

// startPods is like start, with the given pods on each node at the same time. They
// differ only in their label pod.
func startPods(t *testing.T, pods []string, arguments ...string) server {
	t.Helper()
	address := exporter(t, 1)
	var targets strings.Builder
	for _, node := range nodes() {
		for _, pod := range pods {
			fmt.Fprintf(&targets, "  - {targets: [%q], labels: {instance: %q, pod: %q}}\n", address, node, pod)
		}
	}
	return server{scrape(t, targets.String(), arguments...), len(nodes())}
}

// startClusters is like start, with nodes and drives of the same names in each of the given clusters.
func startClusters(t *testing.T, clusters ...string) server {
	t.Helper()
	var targets strings.Builder
	for i, cluster := range clusters {
		address := exporter(t, i+1)
		for _, node := range nodes() {
			fmt.Fprintf(&targets, "  - {targets: [%q], labels: {cluster: %q, instance: %q}}\n", address, cluster, node)
		}
	}
	return server{scrape(t, targets.String()), len(clusters) * len(nodes())}
}

// scrape runs Prometheus with the rules and alerts on targets, in YAML.
func scrape(t *testing.T, targets string, arguments ...string) promtest.Server {
	t.Helper()
	return promtest.Start(t, fmt.Sprintf("global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s}\nrule_files: [%s, %s]\n"+
		"scrape_configs:\n- job_name: ssdprobe\n  static_configs:\n%s",
		promtest.Prompt(t, filepath.Join(rulesDir(), "rules.yaml")), promtest.Prompt(t, filepath.Join(rulesDir(), "alerts.yaml")), targets), arguments...)
}

// ask evaluates a query at one time, or over the half minute before it.
func (s server) ask(t *testing.T, at time.Time, expr string, instant bool) []promtest.Series {
	t.Helper()
	if instant {
		return s.Query(t, at, expr)
	}
	return s.QueryRange(t, at.Add(-30*time.Second), at, expr)
}

// await returns a time at which every node had been scraped often enough for rates, the rules
// had seen it, and each of the given metrics had values. A group of rules may be evaluated long
// after another. Queries use that time, because on a busy machine later scrapes may fail.
func (s server) await(t *testing.T, metrics ...string) time.Time {
	t.Helper()
	const ready = `count(count by (cluster, instance) (ssdprobe_build_info) and on (cluster, instance) count_over_time(ssdprobe_build_info[1m]) > 2 and on (cluster, instance) ` +
		`device:ssdprobe_probe_level_seconds:excess{probe="read-4k",statistic="latency_p50_seconds",device="nvme0n1"})`
	want := strconv.Itoa(s.nodes)
	var at time.Time
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		at = time.Now()
		nodes, err := s.TryQuery(t, at, ready)
		require.NoError(c, err)
		require.Len(c, nodes, 1)
		require.Equal(c, want, nodes[0].Value[1])
		for _, metric := range metrics {
			values, err := s.TryQuery(t, at, metric)
			require.NoError(c, err)
			assert.NotEmpty(c, values, "%s has no values", metric)
		}
	}, 6*time.Minute, 200*time.Millisecond)
	return at
}
