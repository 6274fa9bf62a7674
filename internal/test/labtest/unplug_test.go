package labtest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// testUnplug unplugs a drive in the middle of a round, and plugs it in again under another name.
func testUnplug(t *testing.T, m *lab.Machine) {
	gone, stays := identity(t, m, plain), identity(t, m, remote)
	before := disk(t, m, plain)
	d := startDaemon(t, m, configuration(t, m, 0, everySecond+watching(gone, stays)))
	d.awaitRounds(t, gone, "ok", 1)
	d.awaitRounds(t, stays, "ok", 1)
	require.Positive(t, d.scrape(t).count(labels{"id": gone, "controller": before.Controllers[0]}))

	require.NoError(t, m.Throttle(bounded(t), plain, 10)) // a round takes seconds now
	eventually(t, "a round is in progress", func() bool {
		_, ok := d.scrape(t).value(t, "ssdprobe_probe_inflight_seconds", labels{"id": gone, "probe": "read-4k"})
		return ok
	})
	require.NoError(t, m.Unplug(bounded(t), plain))
	eventually(t, "the drive's series end", func() bool {
		now := d.scrape(t)
		return now.count(labels{"id": gone}) == 0 && now.count(labels{"device": before.Namespaces[0]}) == 0 &&
			now.count(labels{"controller": before.Controllers[0]}) == 0
	})
	d.awaitRounds(t, stays, "ok", 2)
	assert.Positive(t, d.scrape(t).must(t, "ssdprobe_nvme_health_timestamp_seconds", labels{"id": stays}))

	require.NoError(t, m.Throttle(bounded(t), plain, 0))
	other, err := m.Plug(bounded(t), spare)
	require.NoError(t, err)
	after, err := m.Plug(bounded(t), plain)
	require.NoError(t, err)
	require.Equal(t, before.Controllers, other.Controllers, "another drive took its name")
	require.NotEqual(t, before.Namespaces, after.Namespaces)
	d.awaitRounds(t, gone, "ok", 2)
	now := d.scrape(t)
	assert.Equal(t, 1.0, now.must(t, "ssdprobe_device_returns_total", labels{"id": gone}))
	assert.Equal(t, now.count(labels{"id": gone}), 1+now.count(labels{"id": gone, "device": after.Namespaces[0]}), "all others are under its new name")
	assert.Zero(t, now.count(labels{"device": before.Namespaces[0]}), "the other drive is not watched")
	assert.Equal(t, 1.0, now.must(t, "ssdprobe_target_up", labels{"id": gone}))
	d.awaitReading(t, after.Controllers[0])
	d.stop(t)
}

// testUnplugDuringFio unplugs a drive while a suite of fio runs on it. The suite ends long before its time.
func testUnplugDuringFio(t *testing.T, m *lab.Machine) {
	config := configuration(t, m, 0, everySecond)
	p, err := m.StartProcess(bounded(t), "ssdprobe", "run", "quick", "--set", "time=1h", "--target", disk(t, m, plain).Node(), "--config", config)
	require.NoError(t, err)
	_, err = p.AwaitLine(bounded(t), "step 1 of")
	require.NoError(t, err)
	eventually(t, "fio runs", func() bool { return running(t, m, "fio") })
	require.NoError(t, m.Throttle(bounded(t), plain, 5))
	eventually(t, "fio waits for a read", func() bool {
		return text(t, m, "/sys/block", disk(t, m, plain).Namespaces[0], "inflight") == "1        0"
	})
	require.NoError(t, m.Unplug(bounded(t), plain))
	ended, err := p.Wait(bounded(t))
	require.NoError(t, err)
	assert.Equal(t, 1, ended.ExitCode, "%+v", ended)
	assert.Empty(t, ended.Stdout, "no figures of a drive that is not there")
	assert.Contains(t, ended.Stderr, "step random-read-qd1: run fio: ")
	assert.False(t, running(t, m, "fio"), "fio is left behind")

	require.NoError(t, m.Throttle(bounded(t), plain, 0))
	back, err := m.Plug(bounded(t), plain)
	require.NoError(t, err)
	again := ssdprobe(t, m, nil, "run", "--rounds", "1", "--target", back.Node(), "--config", config)
	assert.Zero(t, again.ExitCode, "%+v", again)
}

// testUnplugDuringSmart unplugs a drive while the daemon and commands repeatedly read its health.
func testUnplugDuringSmart(t *testing.T, m *lab.Machine) {
	gone, stays, name := identity(t, m, plain), identity(t, m, remote), disk(t, m, plain).Controllers[0]
	d := startDaemon(t, m, configuration(t, m, 0, noProbes+watching(gone, stays)))
	d.awaitReading(t, name)
	var readers []*lab.Process
	for range 3 {
		p, err := m.StartProcess(bounded(t), "sh", "-c", "while ssdprobe smart "+name+" >/dev/null; do echo read; done; echo over")
		require.NoError(t, err)
		readers = append(readers, p)
	}
	for _, p := range readers {
		_, err := p.AwaitLine(bounded(t), "read")
		require.NoError(t, err)
	}
	require.NoError(t, m.Unplug(bounded(t), plain))
	for _, p := range readers {
		ended, err := p.Wait(bounded(t))
		require.NoError(t, err)
		assert.Contains(t, ended.Stdout, "over")
		assert.Regexp(t, `(?m)^ssdprobe: .*`+name, ended.Stderr, "it says what it could not read")
		assert.NotContains(t, ended.Stderr, "panic")
	}
	eventually(t, "the controller's series end", func() bool { return d.scrape(t).count(labels{"controller": name}) == 0 })
	other := disk(t, m, remote).Controllers[0]
	d.awaitReading(t, other)
	assert.Equal(t, 1.0, d.scrape(t).must(t, "ssdprobe_collector_success", labels{"id": stays, "collector": "health"}))

	back, err := m.Plug(bounded(t), plain)
	require.NoError(t, err)
	eventually(t, "its health is read again", func() bool {
		now, ok := d.scrape(t).value(t, "ssdprobe_collector_success", labels{"id": gone, "collector": "health"})
		return ok && now == 1
	})
	d.awaitReading(t, back.Controllers[0])
	d.stop(t)
}

func running(t *testing.T, m *lab.Machine, program string) bool {
	t.Helper()
	result, err := m.Run(bounded(t), "pidof", program)
	require.NoError(t, err)
	return result.ExitCode == 0
}

// testControllerReset resets a controller repeatedly while rounds run: the driver repeats the I/O
// in flight, and restarts its interrupt counts.
func testControllerReset(t *testing.T, m *lab.Machine) {
	id, name := identity(t, m, plain), disk(t, m, plain).Controllers[0]
	d := startDaemon(t, m, configuration(t, m, 0, everySecond+watching(id)))
	d.awaitRounds(t, id, "ok", 1)
	for range 3 {
		before := d.scrape(t)
		output(t, m, "nvme", "reset", "/dev/"+name)
		d.awaitRounds(t, id, "ok", 2)
		after := d.awaitReading(t, name)
		of := labels{"controller": name}
		const family = "ssdprobe_nvme_interrupts_total"
		assert.GreaterOrEqual(t, after.must(t, family, of), before.must(t, family, of), "a counter only grows")
	}
	now := d.scrape(t)
	for _, outcome := range []string{"error", "timeout"} {
		assert.Zero(t, now.must(t, "ssdprobe_probe_rounds_total", labels{"id": id, "outcome": outcome}), outcome)
	}
	assert.Equal(t, 1.0, now.must(t, "ssdprobe_collector_success", labels{"id": id, "collector": "health"}))
	assert.Zero(t, now.must(t, "ssdprobe_device_stall_longest_seconds", labels{"id": id}), "a reset is no stall by the drive")
	assert.Zero(t, now.must(t, "ssdprobe_device_returns_total", labels{"id": id}), "it was there all the time")
	d.stop(t)
}

// testNodesAreClosed reads the health again and again: in between, its node is not open, and nothing that a controller
// refused is sent again, which would add to its error log.
func testNodesAreClosed(t *testing.T, m *lab.Machine) {
	id, name := identity(t, m, plain), disk(t, m, plain).Controllers[0]
	d := startDaemon(t, m, configuration(t, m, 0, noProbes+watching(id)))
	entries := labels{"controller": name}
	before := d.awaitReading(t, name).must(t, "ssdprobe_nvme_error_log_entries_total", entries)
	eventually(t, "the node is closed", func() bool {
		open := output(t, m, "sh", "-c", "ls -l /proc/$(pidof ssdprobe)/fd 2>/dev/null || true") // some are closed while they are listed
		require.Contains(t, open, " -> ")
		return !strings.Contains(open, "/dev/"+name+"\n")
	})
	assert.Equal(t, before, d.awaitReading(t, name).must(t, "ssdprobe_nvme_error_log_entries_total", entries))
	d.stop(t)
}

// testPathLost unplugs one of two controllers of a drive: the drive is probed through the other.
func testPathLost(t *testing.T, m *lab.Machine) {
	id, both := identity(t, m, dual), disk(t, m, dual).Controllers
	d := startDaemon(t, m, configuration(t, m, 0, everySecond+watching(id)))
	d.awaitRounds(t, id, "ok", 1)
	for _, name := range both {
		require.Positive(t, d.scrape(t).count(labels{"controller": name}), name)
	}
	pci := text(t, m, "/sys/class/nvme", both[0], "address")
	t.Cleanup(func() {
		assert.NoError(t, m.WriteFile(afterwards(t), "/sys/bus/pci/rescan", []byte("1"), 0))
		_, err := m.Disk(afterwards(t), dual)
		assert.NoError(t, err)
	})
	require.NoError(t, m.WriteFile(bounded(t), "/sys/bus/pci/devices/"+pci+"/remove", []byte("1"), 0))
	eventually(t, "the lost controller has no series", func() bool { return d.scrape(t).count(labels{"controller": both[0]}) == 0 })
	d.awaitRounds(t, id, "ok", 2)
	d.awaitReading(t, both[1])
	now := d.scrape(t)
	assert.Zero(t, now.must(t, "ssdprobe_probe_rounds_total", labels{"id": id, "outcome": "error"}))
	assert.Equal(t, 1.0, now.must(t, "ssdprobe_collector_success", labels{"id": id, "collector": "health"}))
	require.NoError(t, m.WriteFile(bounded(t), "/sys/bus/pci/rescan", []byte("1"), 0))
	eventually(t, "both are here again", func() bool {
		now := d.scrape(t)["ssdprobe_nvme_error_log_entries_total"].GetMetric()
		return len(now) == len(both)
	})
	d.awaitRounds(t, id, "ok", 2)
	d.stop(t)
}
