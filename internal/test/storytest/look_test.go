package storytest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// looksSlow opens the status page in a browser: one drive is slower than its baseline, and the other is not.
func looksSlow(t *testing.T, m *machine) {
	t.Helper()
	var text string
	await(t, "the page is whole", func() bool { // the emulated processors may take longer than the daemon waits
		text = testenv.Words(testenv.Chromium(t, m.url, "--dump-dom"))
		return strings.Contains(text, "/dev/"+m.sound.name)
	})
	assert.Contains(t, text, "/dev/"+m.worn.name+" read-4k slower than its baseline", text)
	assert.NotContains(t, text, "/dev/"+m.sound.name+" read-4k slower", text)
	assert.Regexp(t, "/dev/"+m.sound.name+`.{0,80} partly judged`, text) // the tail statistics need a day of data
}

// explain asks the daemon for the reasons of its verdict on a drive.
func (m *machine) explain(t *testing.T, d drive) report.ProbeExplained {
	t.Helper()
	x := m.explained(t, d)
	require.Len(t, x.Probes, 1)
	return x.Probes[0]
}

func (m *machine) explained(t *testing.T, d drive) report.Explained {
	t.Helper()
	_, body := testenv.Get(t, bound, m.url+"/api/v1/explain/"+d.id)
	var x report.Explained
	require.NoError(t, json.Unmarshal([]byte(body), &x))
	return x
}

// isNoAlarm checks why there is no alarm about the drive that is slower under other conditions.
func isNoAlarm(t *testing.T, m *machine) {
	t.Helper()
	probe := m.explain(t, m.worn)
	assert.Equal(t, "mq-deadline", probe.Conditions.Scheduler, "the epoch is that of the new conditions")
	require.NotNil(t, probe.Effect)
	assert.Contains(t, probe.Effect.Changes, record.Change{Condition: "scheduler", From: "none", To: "mq-deadline"})
	assert.Greater(t, probe.Effect.Ratios[record.LatencyP50].Ratio, 1.5, "what came with it")
	for _, s := range probe.Statistics {
		assert.Contains(t, []record.DriftState{record.Stable, record.Waiting}, s.State, s.Statistic) // the tail statistics need a day of data
	}
}

// notInStory holds metrics that the drives of the story do not have, and why. TestDashboards has them.
var notInStory = map[string]string{
	"ssdprobe_nvme_thermal_":             "the drives do not say that they throttle themselves",
	"ssdprobe_nvme_remote_interrupts":    "the machine has one NUMA node",
	"ssdprobe_probe_written_bytes_total": "only files are written, and there is none",
	"ssdprobe_probe_errors_total":        "no I/O failed",
	"ssdprobe_io_latency_seconds":        "nobody but ssdprobe uses the drives",
	":vs_peers":                          "two drives are too few to be peers",
	":limit":                             "two drives are too few to be peers",
}

// byAddress is in queries about nodes that are known by their address. The machine has a name.
const byAddress = `=~".+:[0-9]+"`

// nowhere matches queries that have no answer in either test, and whose panels say so. They need a
// batch of slow drives, a slow host, a node that does not answer, a SATA or SAS drive, an NVMe drive that reports its wear, or a drive that is slow for longer.
// Package deploytest evaluates them.
var nowhere = regexp.MustCompile(`scope="batch"|1000 \* \(instance:ssdprobe_answered_timestamp|ssdprobe_host_health_(info|since)|ssdprobe_drive_[^h]|ssdprobe_nvme_(percentage_used|media_errors|unsafe_shutdowns|power_)|_slower_ratio_(low|upp)er`)

// dashboardHasData evaluates the wanted queries of a dashboard over the time since then, and
// returns how many there were.
func dashboardHasData(t *testing.T, p prometheus, name string, d drive, since time.Time, wanted func(expr string) bool) (asked int) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "dashboards", name))
	require.NoError(t, err)
	type panel struct {
		Title, Description string
		Targets            []struct{ Expr string }
	}
	var dashboard struct {
		Panels []struct {
			panel
			Panels []panel // of a collapsed row
		}
	}
	require.NoError(t, json.Unmarshal(content, &dashboard))
	var panels []panel
	for _, p := range dashboard.Panels {
		panels = append(append(panels, p.panel), p.Panels...)
	}
	// No series has the label cluster.
	chosen := strings.NewReplacer(`="$cluster"`, `=""`, "$cluster", ".*", "$instance", node, "$device", d.name, "$id", d.id, "$model", ".+", "$suite", ".+", "$__rate_interval", "10s", "$__range", "10m")
	for _, panel := range panels {
		for _, target := range panel.Targets {
			expr := chosen.Replace(target.Expr)
			if nowhere.MatchString(expr) {
				assert.Regexp(t, `(?i)\bempty (if|when|in|for)\b`, panel.Description, panel.Title)
				continue
			}
			if !wanted(expr) || strings.Contains(expr, byAddress) {
				continue
			}
			asked++
			assert.NotRegexp(t, `\$[^1-9]`, expr, "a variable without a value")
			// A scrape of the emulated machine may exceed its timeout, which ends all series until the next scrape.
			testenv.EventuallyWithin(t, time.Minute, 250*time.Millisecond, panel.Title+" has data: "+expr, func() bool {
				now := time.Now()
				from := now.Add(-now.Sub(since).Truncate(time.Second)) // so that one of the seconds is now
				return slices.ContainsFunc(p.QueryRange(t, from, now, expr), promtest.Series.Holds)
			})
		}
	}
	return asked
}

func inStory(expr string) bool { return !hasAny(expr, notInStory) }

func hasAny(expr string, names map[string]string) bool {
	for name := range names {
		if strings.Contains(expr, name) {
			return true
		}
	}
	return false
}
