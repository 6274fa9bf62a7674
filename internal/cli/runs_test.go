package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// everyMinute is a calendar with a short quick run at the start of the next minute, which nothing on the host
// ends early.
const everyMinute = `
runs:
  - {suite: quick, schedule: "* * * * *", set: [time=200ms], window: 1h, max_cpu_pressure: 1, max_others: 1, keep: 1}
`

func TestDaemonRunsByTheCalendar(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	config := file(t, "c.yaml", onFile(dir)+everyMinute)
	p, url := startDaemon(t, state, config)
	ran := func(labels map[string]string) bool {
		n, _ := value(scrape(t, url), "ssdprobe_runs_total", labels)
		return n >= 1
	}
	eventually(t, "a run of quick", func() bool { return ran(map[string]string{"suite": "quick", "outcome": "ok"}) })
	iops, found := value(scrape(t, url), "ssdprobe_run_read_iops", map[string]string{"suite": "quick", "step": "random-read-qd1"})
	assert.True(t, found)
	assert.Positive(t, iops)
	few, _ := value(scrape(t, url), "ssdprobe_run_drift_state", map[string]string{"suite": "quick", "step": "random-read-qd1", "statistic": "iops", "state": "inconclusive"})
	assert.InDelta(t, 1, few, 0, "the first run has none to be compared with")
	now := scrape(t, url)
	completed, _ := value(now, "ssdprobe_run_last_completion_timestamp_seconds", map[string]string{"suite": "quick"})
	next, found := value(now, "ssdprobe_run_next_timestamp_seconds", map[string]string{"suite": "quick"})
	assert.True(t, found)
	assert.Greater(t, next, completed)
	assert.LessOrEqual(t, next-completed, time.Minute.Seconds())
	eventually(t, "the report is stored, which comes after it is told", func() bool {
		reports, err := filepath.Glob(filepath.Join(state, "runs", "*.json"))
		require.NoError(t, err)
		return len(reports) == 1
	})
	assert.FileExists(t, filepath.Join(dir, "ssdprobe.dat"), "the daemon's own file stays")
	rounds, _ := value(scrape(t, url), "ssdprobe_probe_rounds_total", good("read-4k"))
	awaitRounds(t, url, "read-4k", rounds+1) // the probes continue

	p.Signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.Wait(t))
	without := ssdprobe(t, "drift", "--state-dir", state, "--config", file(t, "away.yaml", "listen: [127.0.0.1:1]"))
	require.Equal(t, 0, without.code, without.stderr)
	assert.Contains(t, without.stdout, "run of quick, ", "what is stored is told without a daemon, too")
	require.NoError(t, os.WriteFile(config, []byte(onFile(dir)+"runs: [{suite: quick, schedule: \"@yearly\"}]\n"), 0o600))
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

// hoggedRuns are two runs that take a minute. One ends when others need the CPUs, the other when others need
// its device.
const hoggedRuns = `
runs:
  - {suite: durable-write, schedule: "* * * * *", set: [time=60s, repeats=1], window: 1h, max_cpu_pressure: 80%, max_others: 100%, keep: 1}
  - {suite: quick, schedule: "* * * * *", set: [time=60s], window: 1h, max_cpu_pressure: 1, max_others: 50%, keep: 1}
`

// A run that finds itself next to the work of the host ends early, reports that, and leaves nothing behind.
func TestDaemonEndsRunsWhenTheHostIsBusy(t *testing.T) {
	state, dir := t.TempDir(), testenv.Ext4(t, 256<<20)
	p, url := startDaemon(t, state, file(t, "c.yaml", onFile(dir)+hoggedRuns))
	during := func(suite, says string, hogs ...*exec.Cmd) {
		t.Helper()
		labels := map[string]string{"suite": suite}
		eventually(t, suite+" begins", func() bool {
			n, _ := value(scrape(t, url), "ssdprobe_run_in_progress", labels)
			return n == 1
		})
		end := func() {
			for _, hog := range hogs {
				if hog.Process == nil {
					continue
				}
				_ = hog.Process.Kill() // it may have been already
				_ = hog.Wait()         // it was killed, so there is always an error
			}
		}
		defer end()
		for _, hog := range hogs {
			require.NoError(t, hog.Start())
		}
		line := p.Stderr.Find(t, `.*run not complete.*suite=`+suite+`.*`)[0]
		end()
		assert.Contains(t, line, "outcome=short")
		assert.Contains(t, line, says)
		eventually(t, "the metrics of "+suite, func() bool {
			n, _ := value(scrape(t, url), "ssdprobe_runs_total", map[string]string{"suite": suite, "outcome": "short"})
			return n == 1
		})
		short, _ := value(scrape(t, url), "ssdprobe_run_warning", map[string]string{"suite": suite, "step": "", "code": "short"})
		assert.InDelta(t, 1, short, 0)
		var reports []string
		eventually(t, "the report of "+suite, func() bool {
			var err error
			reports, err = filepath.Glob(filepath.Join(state, "runs", "*"+suite+"*.json"))
			require.NoError(t, err)
			return len(reports) == 1
		})
		shown := ssdprobe(t, "report", reports[0])
		assert.Equal(t, 0, shown.code, shown.stderr)
		assert.Contains(t, shown.stdout, says)
	}
	var busy []*exec.Cmd
	for range 4 * runtime.NumCPU() { // they wait for a CPU, and other tests do not wait for them
		busy = append(busy, exec.Command("nice", "-n", "19", "sh", "-c", "while :; do :; done"))
	}
	during("durable-write", "the host became too busy", busy...)
	assert.NoFileExists(t, filepath.Join(dir, "ssdprobe-write.dat"))

	reader := exec.Command("fio", "--name=others", "--filename="+filepath.Join(dir, "others"), "--size=64MiB", "--rw=read", "--bs=128k",
		"--ioengine=libaio", "--iodepth=32", "--direct=1", "--time_based", "--runtime=300", "--thread")
	during("quick", "others use the device", reader)
	assert.FileExists(t, filepath.Join(dir, "ssdprobe.dat"), "the daemon's own file stays")
	p.Signal(t, syscall.SIGTERM) // the next run may be under way, and its fio has a file of the filesystem open
	assert.Equal(t, 0, p.Wait(t))
}
