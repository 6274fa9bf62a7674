package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everyMinute is a calendar with a short quick run at the top of the next minute.
const everyMinute = `
runs:
  - {suite: quick, schedule: "* * * * *", set: [time=200ms], window: 1h, max_cpu_pressure: 1, keep: 1}
`

func TestDaemonRunsByTheCalendar(t *testing.T) {
	state, dir := onDisk(t), onDisk(t)
	config := file(t, "c.yaml", onFile(dir)+everyMinute)
	p, url := startDaemon(t, state, config)
	ran := func(labels map[string]string) bool {
		n, _ := value(scrape(t, url), "ssdprobe_runs_total", labels)
		return n >= 1
	}
	patient(t, 2*time.Minute, "a run of quick", func() bool { return ran(map[string]string{"suite": "quick", "outcome": "ok"}) })
	iops, found := value(scrape(t, url), "ssdprobe_run_read_iops", map[string]string{"suite": "quick", "step": "random-read-qd1"})
	assert.True(t, found)
	assert.Positive(t, iops)
	few, _ := value(scrape(t, url), "ssdprobe_run_drift_state", map[string]string{"suite": "quick", "step": "random-read-qd1", "statistic": "iops", "state": "few_runs"})
	assert.InDelta(t, 1, few, 0, "the first run has none to be compared with")
	reports, err := filepath.Glob(filepath.Join(state, "runs", "*.json"))
	require.NoError(t, err)
	assert.Len(t, reports, 1)
	assert.FileExists(t, filepath.Join(dir, "ssdprobe.dat"), "the daemon's own file stays")
	rounds, _ := value(scrape(t, url), "ssdprobe_probe_rounds_total", good("read-4k"))
	awaitRounds(t, url, "read-4k", rounds+1) // the probes go on

	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.wait())
	require.NoError(t, os.WriteFile(config, []byte(onFile(dir)), 0o600))
	_, url = startDaemon(t, state, config)
	again, found := value(scrape(t, url), "ssdprobe_run_read_iops", map[string]string{"suite": "quick", "step": "random-read-qd1"})
	assert.True(t, found, "kept over a restart")
	assert.InDelta(t, iops, again, 0)
}

func TestRunsOfTheCalendarAreChecked(t *testing.T) {
	for name, c := range map[string]struct{ run, says string }{
		"unknown suite":     {`{suite: slow, schedule: "@daily"}`, "line 1: runs[0].suite: \"slow\" is not a suite; want one of quick, "},
		"unknown parameter": {`{suite: quick, schedule: "@daily", set: [colour=red]}`, "line 1: runs[0].set: "},
		"schedule":          {`{suite: quick, schedule: "often"}`, "runs[0].schedule"},
		"time zone":         {`{suite: quick, schedule: "@daily", time_zone: Mars/Base}`, "runs[0].time_zone"},
		"window":            {`{suite: quick, schedule: "@daily", window: 1s}`, "runs[0].window"},
	} {
		t.Run(name, func(t *testing.T) {
			got := in("config", "check", file(t, "c.yaml", fmt.Sprintf("runs: [%s]\n", c.run)))
			assert.Equal(t, 2, got.code)
			assert.Contains(t, got.stderr, c.says)
		})
	}
}
