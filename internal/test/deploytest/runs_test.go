package deploytest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// stepsOf returns the names of the steps of a suite on a file.
func stepsOf(t *testing.T, name string, set ...string) []string {
	t.Helper()
	s, err := suite.Find(name)
	require.NoError(t, err)
	values, err := s.Set(set)
	require.NoError(t, err)
	plan, err := s.Plan(values, suite.Target{Path: "/srv/data", SizeBytes: 1 << 30})
	require.NoError(t, err)
	var names []string
	for _, step := range plan {
		names = append(names, step.Name)
	}
	return names
}

// ofDrive returns the labels of a drive of node stor-1.
func ofDrive(n int) string {
	return fmt.Sprintf(`job="ssdprobe",instance="stor-1",device="nvme%dn1",id="eui.%[1]d"`, n)
}

// exposition collects samples of one time by their families, as OpenMetrics wants them.
type exposition struct {
	at       time.Time
	families map[string]string
}

func (e *exposition) add(name, labels string, value float64) {
	if e.families == nil {
		e.at, e.families = time.Unix(1767225600, 0), map[string]string{}
	}
	e.families[name] += fmt.Sprintf("%s{%s} %g %d\n", name, labels, value, e.at.Unix())
}

func (e *exposition) text() string {
	return strings.Join(slices.Collect(maps.Values(e.families)), "") + "# EOF\n"
}

// The bars of the dashboard of runs are of the depths and rounds of the suites as they are: not of repeats, nor of the
// preconditioning. One device that is far off does not change them.
func TestBarsAreOfTheDepthsAndRoundsOfTheSuites(t *testing.T) {
	var e exposition
	for n, slower := range []float64{1, 1, 1000} {
		e.add("device:ssdprobe_device_info:unique", ofDrive(n)+`,model="PM9A3"`, 1)
		for _, step := range stepsOf(t, "depth-sweep", "depths=1,32", "repeats=3") {
			e.add("ssdprobe_run_read_iops", ofDrive(n)+`,suite="depth-sweep",step="`+step+`"`, 5000/slower)
		}
		for i, step := range stepsOf(t, "steady-state", "rounds=12") {
			e.add("ssdprobe_run_write_iops", ofDrive(n)+`,suite="steady-state",step="`+step+`"`, 5000/slower*min(1, float64(1+i)))
		}
		e.add("ssdprobe_run_write_iops", ofDrive(n)+`,suite="steady-state",step="precondition"`, 1)
	}
	s := promtest.StartWith(t, e.text())
	for _, c := range []struct {
		row, title, number string
		want               []string
	}{
		{"Depth sweep", "IOPS by depth", "depth", []string{"1", "32"}},
		{"Steady state", "Write IOPS by round", "round", []string{"01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"}},
	} {
		var numbers []string
		for _, bar := range s.Query(t, e.at, choose(panelOf(t, "runs", c.row, c.title).Queries[0].Expr, nil)) {
			assert.Equal(t, "5000", bar.Value[1], "%s: %v", c.title, bar.Metric)
			numbers = append(numbers, bar.Metric[c.number])
		}
		slices.Sort(numbers)
		assert.Equal(t, c.want, numbers, c.title)
	}
	slowest := s.Query(t, e.at, choose(panelOf(t, "runs", "Steady state", "Steady state over runs, the slowest fifty").Queries[0].Expr, map[string]string{"id": "eui.0"}))
	require.Len(t, slowest, 1)
	assert.Equal(t, "5000", slowest[0].Value[1], "not the preconditioning")
}

// A percentile with fewer than ten I/Os above it is only a hint, and shown as one.
func TestPercentilesOfFewIOsAreMarked(t *testing.T) {
	var e exposition
	for n := range 2 {
		e.add("device:ssdprobe_device_info:unique", ofDrive(n)+`,model="PM9A3"`, 1)
		for _, direction := range []string{"read", "write"} {
			family := "ssdprobe_run_" + direction + "_latency_percentile_"
			for suite, step := range map[string]string{"depth-sweep": "random-read-qd1", "steady-state": "round-01"} {
				of := ofDrive(n) + `,suite="` + suite + `",step="` + step + `"`
				e.add(family+"seconds", of+`,percentile="50"`, 1)
				e.add(family+"seconds", of+`,percentile="99"`, 2+float64(n))
				if n == 1 {
					e.add(family+"ios", of+`,percentile="99"`, 120)
				}
			}
		}
		probe := ofDrive(n) + `,probe="read-4k",percentile="99"`
		e.add("ssdprobe_probe_latency_percentile_seconds", probe, 2+float64(n))
		if n == 1 {
			e.add("ssdprobe_probe_latency_percentile_window_seconds", probe, 21600)
		}
	}
	s := promtest.StartWith(t, e.text())
	values := func(expr string, chosen map[string]string) []string {
		var all []string
		for _, series := range s.Query(t, e.at, choose(expr, chosen)) {
			all = append(all, series.Value[1].(string))
		}
		slices.Sort(all)
		return all
	}
	for _, title := range []string{"Reads, the slowest step first", "Writes, the slowest step first"} {
		p := panelOf(t, "runs", "Last runs", title)
		require.Len(t, p.Queries, 4)
		assert.Equal(t, []string{"2", "2", "3", "3"}, values(p.Queries[0].Expr, nil), title)
		assert.Equal(t, []string{"120", "120"}, values(p.Queries[3].Expr, nil), "%s: the I/Os of drive 1 in two suites", title)
	}
	for row, title := range map[string]string{"Depth sweep": "Latency by depth", "Steady state": "Write latency by round"} {
		p := panelOf(t, "runs", row, title)
		names := fmt.Sprint(p.Transform[2]["options"])
		for i, want := range []struct {
			name   string
			values []string
		}{{"median", []string{"1"}}, {"median of few I/Os", nil}, {"p99", []string{"2"}}, {"p99 of few I/Os", []string{"3"}}} {
			assert.Equal(t, want.values, values(p.Queries[i].Expr, nil), "%s: %s", title, want.name)
			assert.Contains(t, names, "Value #"+string(rune('A'+i))+":"+want.name, title)
		}
	}
	p := panelOf(t, "device", "Latency and IOPS", "Latency percentiles")
	for n, want := range [][][]string{{{"2"}, nil}, {nil, {"3"}}} {
		for i, want := range want {
			assert.Equal(t, want, values(p.Queries[i].Expr, map[string]string{"instance": "stor-1", "id": fmt.Sprintf("eui.%d", n)}))
		}
	}
	assert.Contains(t, fmt.Sprint(p.Overrides), "map[id:byFrameRefID options:B]")
	assert.Contains(t, fmt.Sprint(p.Overrides), "dash")
}

// Prometheus may store a histogram in both forms, for example while it moves to native ones: the classic buckets would be
// rows among those of the native one. A plain series stands in for a native histogram, which promtool cannot import.
func TestHeatmapsAreOfOneFormOfHistogram(t *testing.T) {
	at := time.Unix(1767225600, 0)
	for native, want := range map[bool]int{true: 1, false: 2} {
		history := ""
		add := func(series string) {
			for i := range int64(3) {
				history += fmt.Sprintf("%s %d %d\n", series, i, at.Unix()-30+i*15)
			}
		}
		for _, le := range []string{"0.001", "+Inf"} {
			add(`ssdprobe_probe_latency_seconds_bucket{` + ofDrive(1) + `,probe="read-4k",le="` + le + `"}`)
		}
		if native {
			add(`ssdprobe_probe_latency_seconds{` + ofDrive(1) + `,probe="read-4k"}`)
		}
		s := promtest.StartWith(t, history+"# EOF\n")
		expr := panelOf(t, "device", "Latency and IOPS", "Latency of every I/O of probes").Queries[0].Expr
		assert.Len(t, s.Query(t, at, choose(expr, map[string]string{"instance": "stor-1", "id": "eui.1"})), want)
	}
}

// The runs in a time are counted from what was recorded: the counters of a fleet are too many samples.
func TestRunsAreCountedOverTheTimeShown(t *testing.T) {
	var history strings.Builder
	at := time.Unix(1767225600, 0)
	// As it is recorded when two drives end a run within five minutes: each is in two or three rates.
	for i, rate := range []float64{0, 0, 1. / 240, 2. / 240, 1. / 240, 0, 0} {
		fmt.Fprintf(&history, "model_suite_outcome:ssdprobe_runs:rate5m{model=\"PM9A3\",suite=\"quick\",outcome=\"ok\"} %g %d\n", rate, at.Unix()+int64(i)*120)
	}
	s := promtest.StartWith(t, history.String()+"# EOF\n")
	expr := strings.ReplaceAll(panelOf(t, "runs", "Last runs", "Runs").Queries[0].Expr, "$__range", "1h")
	runs := s.Query(t, at.Add(15*time.Minute), choose(expr, nil))
	require.Len(t, runs, 1)
	counted, err := strconv.ParseFloat(runs[0].Value[1].(string), 64)
	require.NoError(t, err)
	assert.InDelta(t, 2, counted, 0.01)
	assert.Equal(t, "ok", runs[0].Metric["outcome"])
}
