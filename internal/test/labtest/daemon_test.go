package labtest_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// calm holds settings for a machine with emulated processors: no round is skipped because the machine is slow.
const calm = `
state_dir: %[1]s/state
lock_dir: %[1]s/locks
fallback_file: false
admission: {max_utilisation: 1, max_in_flight: 1000, max_io_pressure: 1, max_cpu_wait: 1}
`

const (
	// everySecond starts a round each second.
	everySecond = "probes: [{name: read-4k, interval: 1s, ios: 32, warmup_ios: 2, timeout: 10s}]\n"
	// noProbes has no probes for devices: the only probe is for files.
	noProbes = "probes: [{name: durable-write-4k, direction: write, pattern: sequential, interval: 1h, targets: files}]\n"
)

// watching returns a configuration that watches the devices with the given ids.
func watching(ids ...string) string {
	var b strings.Builder
	b.WriteString("devices:\n  include:\n")
	for _, id := range ids {
		fmt.Fprintf(&b, "    - id: %s\n", id)
	}
	return b.String()
}

// configuration writes a configuration of calm followed by text. Its directory also holds the
// state, and belongs to the user with the given ID.
func configuration(t *testing.T, m *lab.Machine, uid int, text string) (path string) {
	t.Helper()
	dir := strings.TrimSpace(output(t, m, "mktemp", "-d"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("configuration: %s", text)
		}
	})
	for _, otherwise := range []string{
		"io_latency: never\n", // an emulated processor takes seconds to verify the programs
		"discovery_interval: 1s\n", "health: {interval: 1s}\n",
	} {
		if key, _, _ := strings.Cut(otherwise, " "); !strings.Contains(text, key) {
			text += otherwise
		}
	}
	path = dir + "/ssdprobe.yaml"
	require.NoError(t, m.WriteFile(bounded(t), path, fmt.Appendf(nil, calm+text, dir), 0o644))
	output(t, m, "chown", "-R", fmt.Sprintf("%d:%d", uid, uid), dir)
	return path
}

// daemon is a daemon that runs in the machine.
type daemon struct {
	*lab.Process
	url string
}

// startDaemon starts a daemon and waits until it has found its targets.
func startDaemon(t *testing.T, m *lab.Machine, config string) daemon {
	t.Helper()
	return startDaemonAs(t, m, lab.Command{}, config)
}

// startDaemonAs starts a daemon as the user of the command.
func startDaemonAs(t *testing.T, m *lab.Machine, command lab.Command, config string) daemon {
	t.Helper()
	command.Args = []string{"ssdprobe", "daemon", "--config", config, "--log.level", "debug"}
	p, err := m.StartCommand(bounded(t), command)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			written, err := p.Output(afterwards(t))
			t.Logf("daemon: %+v %v", written, err)
		}
	})
	_, err = p.AwaitLine(bounded(t), "status  ")
	require.NoError(t, err)
	return daemon{p, "http://" + m.Addr(metricsPort) + "/"}
}

// stop stops the daemon as systemd would.
func (d daemon) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, d.Signal(bounded(t), syscall.SIGTERM))
	ended, err := d.Wait(bounded(t))
	require.NoError(t, err)
	assert.Zero(t, ended.ExitCode, "%+v", ended)
}

// awaitLog waits for a line of the log.
func (d daemon) awaitLog(t *testing.T, text string) string {
	t.Helper()
	line, err := d.AwaitLine(bounded(t), text)
	require.NoError(t, err)
	return line
}

// countLog returns how many lines of the log contain the text so far.
func (d daemon) countLog(t *testing.T, text string) int {
	t.Helper()
	written, err := d.Output(bounded(t))
	require.NoError(t, err)
	return strings.Count(written.Stderr, text)
}

// metrics is the result of one scrape.
type metrics map[string]*dto.MetricFamily

// scrape retries until there is an answer: with too many scrapes at once the daemon answers 503.
func (d daemon) scrape(t *testing.T) metrics {
	t.Helper()
	var code int
	var body string
	eventually(t, "a scrape", func() bool {
		code, body = d.get(t, "metrics")
		return code != http.StatusServiceUnavailable
	})
	require.Equal(t, http.StatusOK, code, body)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err)
	return families
}

func (d daemon) get(t *testing.T, path string) (code int, body string) {
	t.Helper()
	return testenv.Get(t, bound, d.url+path)
}

// labels identify a series.
type labels map[string]string

// value returns the value of the only series of a family that has the labels, or false if there is none.
func (m metrics) value(t *testing.T, family string, with labels) (float64, bool) {
	t.Helper()
	var found []float64
	for _, s := range m[family].GetMetric() {
		if with.match(s) {
			found = append(found, s.GetGauge().GetValue()+s.GetCounter().GetValue())
		}
	}
	require.LessOrEqual(t, len(found), 1, "%s%v stands for several series", family, with)
	if len(found) == 0 {
		return 0, false
	}
	return found[0], true
}

// must is like value, for a series that has to exist.
func (m metrics) must(t *testing.T, family string, with labels) float64 {
	t.Helper()
	value, ok := m.value(t, family, with)
	require.True(t, ok, "no series %s%v", family, with)
	return value
}

// count returns how many series of all families have the labels.
func (m metrics) count(with labels) int {
	n := 0
	for _, family := range m {
		for _, s := range family.Metric {
			if with.match(s) {
				n++
			}
		}
	}
	return n
}

func (l labels) match(s *dto.Metric) bool {
	have := map[string]string{}
	for _, pair := range s.Label {
		have[pair.GetName()] = pair.GetValue()
	}
	for name, value := range l {
		if have[name] != value {
			return false
		}
	}
	return true
}

// with returns the labels with one added or changed.
func (l labels) with(name, value string) labels {
	more := maps.Clone(l)
	more[name] = value
	return more
}

// awaitRounds waits until the given number of further rounds of read-4k have had an outcome.
func (d daemon) awaitRounds(t *testing.T, id, outcome string, more float64) {
	t.Helper()
	d.awaitRoundsOfAll(t, []string{id}, outcome, more)
}

// awaitRoundsOfAll is like awaitRounds, for several drives at the same time.
func (d daemon) awaitRoundsOfAll(t *testing.T, ids []string, outcome string, more float64) {
	t.Helper()
	rounds := func() map[string]float64 {
		now, all := d.scrape(t), map[string]float64{}
		for _, id := range ids {
			all[id], _ = now.value(t, "ssdprobe_probe_rounds_total", labels{"id": id, "probe": "read-4k", "outcome": outcome})
		}
		return all
	}
	before := rounds()
	eventually(t, fmt.Sprintf("%v more rounds of %s that are %s", more, strings.Join(ids, ", "), outcome), func() bool {
		now := rounds()
		return !slices.ContainsFunc(ids, func(id string) bool { return now[id] < before[id]+more })
	})
}

// awaitReading waits until the health of the controller has been read after now, and returns the metrics then.
func (d daemon) awaitReading(t *testing.T, controller string) metrics {
	t.Helper()
	series := labels{"controller": controller}
	const family = "ssdprobe_nvme_health_timestamp_seconds"
	before, _ := d.scrape(t).value(t, family, series)
	var now metrics
	first := 0.0
	eventually(t, "two readings of "+controller, func() bool { // the first may have begun before
		now = d.scrape(t)
		at, _ := now.value(t, family, series)
		if first == 0 && at > before {
			first = at
		}
		return first > 0 && at > first
	})
	return now
}
