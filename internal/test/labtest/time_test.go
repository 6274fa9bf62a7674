package labtest_test

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// testSlowDrive makes a drive many times slower than its baseline, and then as fast as before.
func testSlowDrive(t *testing.T, m *lab.Machine) {
	_, err := m.Plug(bounded(t), spare) // so small that its written blocks are found soon
	require.NoError(t, err)
	id := identity(t, m, spare)
	d := startDaemon(t, m, configuration(t, m, 0, everySecond+watching(id)+"drift: {baseline_rounds: 10, window: 30s}\n"))
	d.awaitLog(t, "baseline learned")
	p50 := labels{"id": id, "probe": "read-4k", "statistic": "latency_p50_seconds"}
	baseline := d.scrape(t).must(t, "ssdprobe_baseline_value", p50)
	require.Less(t, baseline, 0.004, "an emulated drive takes tens of microseconds, and longer where its host is busy")
	ratio := func(statistic string) float64 {
		value, _ := d.scrape(t).value(t, "ssdprobe_drift_ratio", p50.with("statistic", statistic))
		return value
	}
	require.NoError(t, m.Throttle(bounded(t), spare, 20)) // 50 ms each: far more than the emulation itself takes, even on a busy host
	eventually(t, "p50 is ten times the baseline's", func() bool { return ratio("latency_p50_seconds") >= 10 })
	eventually(t, "IOPS are a quarter of the baseline's", func() bool { return ratio("iops") >= 4 })
	assert.Equal(t, baseline, d.scrape(t).must(t, "ssdprobe_baseline_value", p50), "the baseline does not follow")

	require.NoError(t, m.Throttle(bounded(t), spare, 0))
	eventually(t, "p50 is near the baseline's again", func() bool {
		now := ratio("latency_p50_seconds")
		return now > 0 && now < 3
	})
	d.stop(t)
}

// testKilled kills the daemon in the middle of a round: everything that it held is free at once.
func testKilled(t *testing.T, m *lab.Machine) {
	id := identity(t, m, plain)
	config := configuration(t, m, 0, everySecond+watching(id))
	d := startDaemon(t, m, config)
	d.awaitRounds(t, id, "ok", 1)
	require.NoError(t, m.Throttle(bounded(t), plain, 20))
	eventually(t, "a round is in progress", func() bool {
		_, ok := d.scrape(t).value(t, "ssdprobe_probe_inflight_seconds", labels{"id": id})
		return ok
	})
	require.NoError(t, d.Signal(bounded(t), syscall.SIGKILL))
	ended, err := d.Wait(bounded(t))
	require.NoError(t, err)
	require.Equal(t, 128+int(syscall.SIGKILL), ended.ExitCode)

	require.NoError(t, m.Throttle(bounded(t), plain, 0))
	run := ssdprobe(t, m, nil, "run", "--rounds", "1", "--target", disk(t, m, plain).Node(), "--config", config)
	assert.Zero(t, run.ExitCode, "%+v", run)
	next := startDaemon(t, m, config)
	next.awaitRounds(t, id, "ok", 1)
	next.stop(t)
}

// testClockSteps sets the clock an hour forward and two back while probes of different intervals
// run: all of them continue.
func testClockSteps(t *testing.T, m *lab.Machine) {
	id := identity(t, m, plain)
	d := startDaemon(t, m, configuration(t, m, 0, watching(id)+`
probes:
  - {name: read-4k, interval: 1s, ios: 16, warmup_ios: 2}
  - {name: read-8k, block_size: 8KiB, interval: 3s, ios: 16, warmup_ios: 2}
`))
	rounds := func(probe string) float64 {
		now, _ := d.scrape(t).value(t, "ssdprobe_probe_rounds_total", labels{"id": id, "probe": probe, "outcome": "ok"})
		return now
	}
	goOn := func() {
		t.Helper()
		for _, probe := range []string{"read-4k", "read-8k"} {
			before := rounds(probe)
			eventually(t, "rounds of "+probe+" go on", func() bool { return rounds(probe) >= before+2 })
		}
	}
	step := func(hours int) {
		t.Helper()
		now, err := strconv.ParseInt(strings.TrimSpace(output(t, m, "date", "+%s")), 10, 64)
		require.NoError(t, err)
		output(t, m, "date", "-s", fmt.Sprintf("@%d", now+int64(hours)*3600))
	}
	goOn()
	for _, hours := range []int{1, -2, 1} {
		step(hours)
		goOn()
	}
	d.awaitReading(t, disk(t, m, plain).Controllers[0])
	d.stop(t)
}

// testSuspend suspends the machine to memory for several of a probe's intervals. No round fails
// because of it, and all probes continue when the machine's clock wakes it.
func testSuspend(t *testing.T, m *lab.Machine) {
	id := identity(t, m, plain)
	d := startDaemon(t, m, configuration(t, m, 0, everySecond+watching(id)))
	d.awaitRounds(t, id, "ok", 2)
	const alarm = "/sys/class/rtc/rtc0/wakealarm"
	output(t, m, "sh", "-c", "echo 0 >"+alarm+" && echo +5 >"+alarm+" && echo mem >/sys/power/state")
	require.Contains(t, output(t, m, "dmesg"), "Waking up from system sleep state S3")
	d.awaitRounds(t, id, "ok", 2)
	d.awaitReading(t, disk(t, m, plain).Controllers[0])
	now := d.scrape(t)
	for _, outcome := range []string{"error", "timeout"} {
		assert.Zero(t, now.must(t, "ssdprobe_probe_rounds_total", labels{"id": id, "outcome": outcome}), outcome)
	}
	assert.Equal(t, 1.0, now.must(t, "ssdprobe_target_up", labels{"id": id}))
	assert.Zero(t, now.must(t, "ssdprobe_device_stall_longest_seconds", labels{"id": id}), "the machine stood still, not the drive")
	d.stop(t)
}
