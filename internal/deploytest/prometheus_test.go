package deploytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// exporter serves what the daemon of recordtest.Snapshot does. With each scrape
// more was measured and done: figures that never change have no rates.
func exporter(t *testing.T) *httptest.Server {
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
			for _, suite := range []string{"depth-sweep", "steady-state"} {
				target.Runs = append(target.Runs, numbered(target.Runs, suite)...)
			}
		}
		n := scrapes.Add(1)
		for i := range s.Controllers {
			interrupts := s.Controllers[i].Interrupts
			*interrupts.Remote += n
			for j := range interrupts.Queues {
				interrupts.Queues[j].Count += n
			}
		}
		return s
	}
	registry, err := export.NewRegistry(snapshot, latencies, export.Build{Version: "1.2.3"})
	require.NoError(t, err)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	t.Cleanup(server.Close)
	return server
}

// numbered are the runs of the suite saturate as if they were of another one,
// whose steps end in a number, as those of all depths and rounds do.
func numbered(runs []record.RunStatus, suite string) []record.RunStatus {
	var all []record.RunStatus
	for _, r := range runs {
		if r.Suite != "saturate" {
			continue
		}
		r.Suite = suite
		last := *r.Last
		last.Suite, last.Steps = suite, slices.Clone(last.Steps)
		for i := range last.Steps {
			last.Steps[i].Name = fmt.Sprintf("step-%d", 1<<i)
		}
		r.Last = &last
		all = append(all, r)
	}
	return all
}

// nodes are as many as it takes for six drives of one model: fewer have no peers.
func nodes() []string { return []string{"stor-06", "stor-07", "stor-08"} }

// server is a real Prometheus with the rules and alerts of ssdprobe.
type server struct{ url string }

// start runs Prometheus on the exporter until the test ends.
func start(t *testing.T, arguments ...string) server {
	t.Helper()
	address := strings.TrimPrefix(exporter(t).URL, "http://")
	dir := t.TempDir()
	folder, err := filepath.Abs(rulesDir())
	require.NoError(t, err)
	var config bytes.Buffer
	fmt.Fprintf(&config, "global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s}\nrule_files: [%s/rules.yaml, %s/alerts.yaml]\n", folder, folder)
	config.WriteString("scrape_configs:\n- job_name: ssdprobe\n  static_configs:\n")
	for _, node := range nodes() {
		fmt.Fprintf(&config, "  - {targets: [%q], labels: {instance: %s}}\n", address, node)
	}
	path := filepath.Join(dir, "prometheus.yml")
	require.NoError(t, os.WriteFile(path, config.Bytes(), 0o600))

	s := server{url: "http://" + free(t)}
	ctx, stop := context.WithCancel(context.Background())
	var log bytes.Buffer
	command := exec.CommandContext(ctx, program(t, "prometheus"), append([]string{
		"--config.file=" + path, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=" + strings.TrimPrefix(s.url, "http://"), "--log.level=warn",
	}, arguments...)...)
	command.Stderr = &log
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		stop()
		_ = command.Wait() // it was told to stop
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return s
}

// free is an address on loopback that nobody listened on a moment ago.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// get asks the HTTP API and puts the data of its answer into into.
func (s server) get(t *testing.T, path string, query url.Values, into any) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", response.Status, answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// result is one series of an answer.
type result struct {
	Metric     map[string]string
	Value      []any   // of an instant query
	Values     [][]any // of a range
	Histogram  []any
	Histograms [][]any
}

// holds reports whether there is any number in it.
func (r result) holds() bool {
	values := r.Values
	if r.Value != nil {
		values = append(values, r.Value)
	}
	for _, v := range values {
		text, isText := v[1].(string)
		if f, err := strconv.ParseFloat(text, 64); isText && err == nil && !math.IsNaN(f) {
			return true
		}
	}
	return len(r.Histogram) > 0 || len(r.Histograms) > 0
}

// ask runs a query for a moment, or for the half minute before it.
func (s server) ask(t *testing.T, at time.Time, expr string, instant bool) []result {
	t.Helper()
	path, query := "/api/v1/query", url.Values{"query": {expr}, "time": {at.Format(time.RFC3339Nano)}}
	if !instant {
		path += "_range"
		query = url.Values{
			"query": {expr}, "step": {"1"},
			"start": {at.Add(-30 * time.Second).Format(time.RFC3339Nano)}, "end": {at.Format(time.RFC3339Nano)},
		}
	}
	var data struct{ Result []result }
	require.NoError(t, s.get(t, path, query, &data), expr)
	return data.Result
}

// await returns a moment at which every node had been scraped often enough for
// rates, and the rules had seen it. Queries ask for that moment: on a machine with
// much to do, scrapes may fail later.
func (s server) await(t *testing.T) time.Time {
	t.Helper()
	const ready = `count(ssdprobe_build_info and on (instance) count_over_time(ssdprobe_build_info[1m]) > 2 and on (instance) ` +
		`device:ssdprobe_probe_latency_percentile_seconds:vs_peers{probe="read-4k",percentile="50",device="nvme0n1"})`
	want := strconv.Itoa(len(nodes()))
	var at time.Time
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		at = time.Now()
		var data struct{ Result []result }
		require.NoError(c, s.get(t, "/api/v1/query", url.Values{"query": {ready}, "time": {at.Format(time.RFC3339Nano)}}, &data))
		require.Len(c, data.Result, 1)
		assert.Equal(c, want, data.Result[0].Value[1])
	}, 2*time.Minute, 200*time.Millisecond)
	return at
}
