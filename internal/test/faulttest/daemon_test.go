package faulttest_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// everySecond starts a round every second, even if the machine is busy with other tests.
const everySecond = `
discovery_interval: 1s
fallback_file: false
admission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1, write_budget_per_day: 4GiB}
probes:
  - {name: read-4k, interval: 1s, ios: 32, warmup_ios: 2}
  - {name: durable-write-4k, direction: write, pattern: sequential, datasync: true, interval: 1s, ios: 4, timeout: 3s, targets: files}
`

// onFiles returns a configuration that watches only small probe files, with a separate lock directory.
func onFiles(t *testing.T, dirs ...string) string {
	t.Helper()
	var files strings.Builder
	for _, dir := range dirs {
		fmt.Fprintf(&files, "  - {path: %s, size: 16MiB}\n", dir)
	}
	return fmt.Sprintf("lock_dir: %s\ndevices: {enabled: false}\nfiles:\n%s%s", t.TempDir(), files.String(), everySecond)
}

// file writes a temporary file.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// daemon is a running daemon.
type daemon struct {
	*testenv.Program
	config, state string
	url           string // ends with a slash
}

// startDaemon starts a daemon with a configuration and returns it once it is ready.
func startDaemon(t *testing.T, state, configuration string) *daemon {
	t.Helper()
	return startDaemonWith(t, nil, state, configuration)
}

func startDaemonWith(t *testing.T, environment []string, state, configuration string) *daemon {
	t.Helper()
	return startDaemonIn(t, "", environment, state, configuration)
}

// startDaemonIn starts a daemon in a prepared environment: see testenv.StartIn.
func startDaemonIn(t *testing.T, world string, environment []string, state, configuration string) *daemon {
	t.Helper()
	config := file(t, "ssdprobe.yaml", configuration)
	arguments := []string{"daemon", "--config", config, "--state-dir", state, "--web.listen-address", "127.0.0.1:0"}
	var p *testenv.Program
	if world == "" {
		p = start(t, environment, arguments...)
	} else {
		p = testenv.StartIn(t, world, environment, arguments...)
	}
	return &daemon{Program: p, config: config, state: state, url: p.Stdout.Find(t, `status +(http://\S+/)`)[1]}
}

// stop stops the daemon as systemd does.
func (d *daemon) stop(t *testing.T) {
	t.Helper()
	d.Signal(t, syscall.SIGTERM)
	assert.Equal(t, 0, d.Wait(t), "a clean stop")
}

// labels are the labels by which to find a series.
type labels map[string]string

// metrics is the text of one scrape. Only what a test looks at is parsed: the race detector makes parsing slow, and a
// test scrapes many times.
type metrics string

// family returns the series of a family; none if it is missing.
func (m metrics) family(t testing.TB, name string) []*dto.Metric {
	t.Helper()
	_, text, found := strings.Cut("\n"+string(m), "\n# HELP "+name+" ")
	if !found {
		return nil
	}
	text, _, _ = strings.Cut(text, "\n# HELP ")
	families, err := parse("# HELP " + name + " " + text + "\n")
	if err != nil {
		t.Errorf("parse %s: %v", name, err) // maybe not on the goroutine of the test
	}
	return families[name].GetMetric()
}

func parse(text string) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(strings.NewReader(text))
}

// scrape returns the metrics of a daemon.
func (d *daemon) scrape(t *testing.T) metrics {
	t.Helper()
	var m metrics
	eventually(t, "a scrape is answered", func() bool {
		var err error
		m, err = fetch(http.DefaultClient, d.url+"metrics")
		require.True(t, err == nil || errors.Is(err, errAgain), err)
		return err == nil
	})
	return m
}

// errAgain says that a scrape has to be repeated.
var errAgain = errors.New("too many scrapes at once, or a machine that is too slow for one")

// soonest is the shortest time after which the daemon ends a connection that does not move.
const soonest = 5 * time.Second

// gather scrapes once, and parses everything.
func gather(client *http.Client, url string) error {
	m, err := fetch(client, url)
	if err != nil {
		return err
	}
	_, err = parse(string(m))
	return err
}

// fetch scrapes once.
func fetch(client *http.Client, url string) (metrics, error) {
	asked := time.Now()
	again := func(err error) error {
		if time.Since(asked) >= soonest && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)) {
			return fmt.Errorf("%w: %w", errAgain, err)
		}
		return err
	}
	response, err := client.Get(url)
	if err != nil {
		return "", again(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", again(err)
	}
	switch response.StatusCode {
	case http.StatusOK:
		return metrics(body), nil
	case http.StatusServiceUnavailable:
		return "", errAgain
	default:
		return "", fmt.Errorf("scrape: %s: %s", response.Status, body)
	}
}

// value returns the value of the first series of a family that has the labels, or false if there is none.
func (m metrics) value(t testing.TB, name string, want labels) (float64, bool) {
	t.Helper()
	for _, series := range m.family(t, name) {
		have := labels{}
		for _, l := range series.Label {
			have[l.GetName()] = l.GetValue()
		}
		matches := true
		for k, v := range want {
			matches = matches && have[k] == v
		}
		if matches {
			return series.GetGauge().GetValue() + series.GetCounter().GetValue(), true
		}
	}
	return 0, false
}

// of is like value, but returns 0 for a missing series.
func (m metrics) of(t testing.TB, name string, want labels) float64 {
	t.Helper()
	v, _ := m.value(t, name, want)
	return v
}

// fileID returns the identity of the probe file in a directory.
func fileID(dir string) string { return "file:" + dir }

// rounds returns how many rounds of a probe have had an outcome.
func (d *daemon) rounds(t *testing.T, id, probe, outcome string) float64 {
	t.Helper()
	return d.scrape(t).of(t, "ssdprobe_probe_rounds_total", labels{"id": id, "probe": probe, "outcome": outcome})
}

// awaitMore waits until a probe has had n more rounds with an outcome.
func (d *daemon) awaitMore(t *testing.T, id, probe, outcome string, n float64) {
	t.Helper()
	before := d.rounds(t, id, probe, outcome)
	eventually(t, fmt.Sprintf("%v more %s rounds of %s on %s", n, outcome, probe, id), func() bool {
		// A target that was away counts from zero.
		now := d.rounds(t, id, probe, outcome)
		before = min(before, now)
		return now >= before+n
	})
}

// awaitUp waits until a target can be probed, or cannot.
func (d *daemon) awaitUp(t *testing.T, id string, up bool) {
	t.Helper()
	eventually(t, fmt.Sprintf("target %s up: %t", id, up), func() bool {
		v, found := d.scrape(t).value(t, "ssdprobe_target_up", labels{"id": id})
		return found && (v == 1) == up
	})
}

// awaitCollector waits until a source of the whole node succeeds, or fails.
func (d *daemon) awaitCollector(t *testing.T, collector string, success bool) {
	t.Helper()
	eventually(t, fmt.Sprintf("collector %s succeeds: %t", collector, success), func() bool {
		v, found := d.scrape(t).value(t, "ssdprobe_collector_success", labels{"collector": collector})
		return found && (v == 1) == success
	})
}

// saved returns the files of the state directory that hold the state of targets.
func saved(t *testing.T, state string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "targets", "*.json"))
	require.NoError(t, err)
	return files
}

// use is a daemon's use of resources that could leak.
type use struct{ goroutines, descriptors, heapBytes float64 }

// use returns the minimum over some scrapes: between collections the heap holds garbage, and a
// running round holds a descriptor. It passes over the two lowest counts of goroutines: one in 250 is too low by one or two,
// because the runtime moves free ones meanwhile.
func (d *daemon) use(t *testing.T) use {
	t.Helper()
	least := use{descriptors: math.Inf(1), heapBytes: math.Inf(1)}
	var goroutines []float64
	for range 20 {
		m := d.scrape(t)
		goroutines = append(goroutines, m.of(t, "go_goroutines", nil))
		least.descriptors = min(least.descriptors, m.of(t, "process_open_fds", nil))
		least.heapBytes = min(least.heapBytes, m.of(t, "go_memstats_heap_alloc_bytes", nil))
	}
	require.Positive(t, least.descriptors)
	slices.Sort(goroutines)
	least.goroutines = goroutines[2]
	return least
}

// eager makes the garbage collector run often, so that growth is visible.
func eager() []string { return []string{"GOGC=10"} }

// assertNoGrowth waits until the daemon uses no more than before; activities in progress may take a while to end.
func (d *daemon) assertNoGrowth(t *testing.T, before use) {
	t.Helper()
	const slackBytes = 3 << 20
	var now use
	late := time.Now().Add(patience)
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		now = d.use(t)
		if now.goroutines <= before.goroutines && now.descriptors <= before.descriptors && now.heapBytes <= before.heapBytes+slackBytes {
			return
		}
		if time.Now().After(late) {
			assert.Fail(t, "the daemon has grown", "before %+v, now %+v", before, now)
			return
		}
		<-again.C
	}
}
