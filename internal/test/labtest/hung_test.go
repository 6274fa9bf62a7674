package labtest_test

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// mapped is a device that can be made to hang: a device-mapper device on a drive. While it is suspended, a read from
// it cannot be interrupted, not even by SIGKILL, like a read from a drive that does not answer.
type mapped struct {
	m    *lab.Machine
	name string // "dm-0"
	id   string
	base string // node of the drive
}

// mapDevice creates a mapped device on a whole drive.
func mapDevice(t *testing.T, m *lab.Machine, drive string) mapped {
	t.Helper()
	d := mapped{m: m, base: disk(t, m, drive).Node()}
	output(t, m, "dmsetup", "create", "lab", "--table", d.table(number(t, m, "/sys/block", disk(t, m, drive).Namespaces[0], "size")))
	t.Cleanup(func() { // first let a process that hangs on it end
		_, err := m.Output(afterwards(t), "dmsetup", "resume", "lab")
		assert.NoError(t, err)
		_, err = m.Output(afterwards(t), "dmsetup", "remove", "--retry", "--deferred", "lab")
		assert.NoError(t, err)
	})
	found, err := m.Glob(bounded(t), "/sys/block/dm-*")
	require.NoError(t, err)
	require.Len(t, found, 1)
	d.name = strings.TrimPrefix(found[0], "/sys/block/")
	d.id = devices(t, m)[d.name].Device.ID
	return d
}

func (d mapped) table(sectors int) string { return fmt.Sprintf("0 %d linear %s 0", sectors, d.base) }
func (d mapped) node() string             { return "/dev/" + d.name }

func (d mapped) hang(t *testing.T) {
	t.Helper()
	output(t, d.m, "dmsetup", "suspend", "--noflush", "--nolockfs", "lab")
}

func (d mapped) release(t *testing.T) {
	t.Helper()
	output(t, d.m, "dmsetup", "resume", "lab")
}

// reload gives the device another table; meanwhile the device hangs.
func (d mapped) reload(t *testing.T, table string) {
	t.Helper()
	d.hang(t)
	output(t, d.m, "dmsetup", "reload", "lab", "--table", table)
	d.release(t)
}

const soonHung = "probes: [{name: read-4k, interval: 1s, ios: 32, warmup_ios: 2, timeout: 2s}]\n"

func testHungDevice(t *testing.T, m *lab.Machine) {
	device, stays := mapDevice(t, m, half), identity(t, m, remote)
	config := configuration(t, m, 0, soonHung+watching(stays)+"    - name: "+device.name+"\n")
	d := startDaemon(t, m, config)
	d.awaitRounds(t, device.id, "ok", 2)
	hung := labels{"id": device.id, "probe": "read-4k"}
	timeouts := func(m metrics) float64 {
		return m.must(t, "ssdprobe_probe_rounds_total", hung.with("outcome", "timeout"))
	}
	for _, again := range []bool{false, true} { // it may hang more than once
		before := timeouts(d.scrape(t))
		device.hang(t)
		var first metrics
		eventually(t, "the round counts as timed out", func() bool {
			first = d.scrape(t)
			age, ok := first.value(t, "ssdprobe_probe_inflight_seconds", hung)
			return ok && age > 3 && timeouts(first) > before
		})
		eventually(t, "the volume is known to be suspended", func() bool { return d.scrape(t).must(t, "ssdprobe_probe_held_back", hung) == 1 })
		d.awaitRounds(t, stays, "ok", 12) // longer than a round of a drive may hang before the drive is severe
		assert.Zero(t, d.scrape(t).must(t, "ssdprobe_drive_health", labels{"id": device.id, "state": "severe"}), "this machine holds the I/O back")
		d.awaitRounds(t, stays, "ok", 3) // and scrapes continue as well
		second := d.scrape(t)
		assert.Greater(t, second.must(t, "ssdprobe_probe_inflight_seconds", hung), first.must(t, "ssdprobe_probe_inflight_seconds", hung))
		if !again {
			run := ssdprobe(t, m, nil, "run", "--target", device.node(), "--config", config)
			assert.Equal(t, 4, run.ExitCode, "refused")
			assert.Contains(t, run.Stderr, "another ssdprobe uses the device")
			d.hasOneHungThreadAtMost(t, m)
			d.goesOnHanging(t, m, config, device.id, stays)
		}
		device.release(t)
		d.awaitRounds(t, device.id, "ok", 2)
		eventually(t, "nothing is in flight between rounds", func() bool {
			_, ok := d.scrape(t).value(t, "ssdprobe_probe_inflight_seconds", hung)
			return !ok
		})
	}
	d.awaitLog(t, "rounds are fine again")

	// The daemon is stopped while the device hangs: it completes its shutdown, and another daemon starts at once. The
	// process itself ends when the kernel releases the thread.
	device.hang(t)
	eventually(t, "the device hangs", func() bool {
		age, ok := d.scrape(t).value(t, "ssdprobe_probe_inflight_seconds", hung)
		return ok && age > 3
	})
	require.NoError(t, d.Signal(bounded(t), syscall.SIGTERM))
	eventually(t, "the process is over", func() bool { return over(t, m, d.PID) })
	next := startDaemon(t, m, config)
	next.awaitRounds(t, stays, "ok", 2)
	assert.Equal(t, 1.0, next.scrape(t).must(t, "ssdprobe_collector_success", labels{"collector": "state"}))
	device.release(t)
	ended, err := d.Wait(bounded(t))
	require.NoError(t, err)
	assert.Zero(t, ended.ExitCode, "%+v", ended)
	next.awaitRounds(t, device.id, "ok", 2)
	next.stop(t)
}

// goesOnHanging replaces the watch of a hanging device, by a reload and by a reset: the age of the round keeps
// growing, and the device is not up.
func (d daemon) goesOnHanging(t *testing.T, m *lab.Machine, config, id, stays string) {
	t.Helper()
	hung := labels{"id": id, "probe": "read-4k"}
	eventually(t, "the device is down", func() bool {
		up, ok := d.scrape(t).value(t, "ssdprobe_target_up", labels{"id": id})
		return ok && up == 0
	})
	for name, replace := range map[string]func(){
		"reload": func() {
			output(t, m, "sh", "-c", "echo 'drift: {threshold: 0.3}' >>"+config)
			require.NoError(t, d.Signal(bounded(t), syscall.SIGHUP))
			d.awaitLog(t, "configuration reloaded")
		},
		"reset": func() {
			reset := ssdprobe(t, m, nil, "baseline", "reset", id, "--config", config)
			require.Zero(t, reset.ExitCode, "%+v", reset)
			d.awaitLog(t, "request carried out")
		},
	} {
		before := d.scrape(t)
		replace()
		after := d.scrape(t)
		assert.Greater(t, after.must(t, "ssdprobe_probe_inflight_seconds", hung), before.must(t, "ssdprobe_probe_inflight_seconds", hung), name)
		assert.Zero(t, after.must(t, "ssdprobe_target_up", labels{"id": id}), name)
		d.awaitRounds(t, stays, "ok", 2)
	}
	d.hasOneHungThreadAtMost(t, m)
}

// state returns the letter of a process's state.
func state(t *testing.T, m *lab.Machine, pid int) string {
	t.Helper()
	return statusField(t, m, fmt.Sprintf("/proc/%d", pid))
}

// over reports whether a process has ended except for the one thread that hangs in the kernel. Its first thread is
// then a zombie, or, if that is the one that hangs, the only thread.
func over(t *testing.T, m *lab.Machine, pid int) bool {
	t.Helper()
	threads, err := m.Glob(bounded(t), fmt.Sprintf("/proc/%d/task/*", pid))
	require.NoError(t, err)
	return state(t, m, pid) == "Z" || len(threads) == 1 && hungThreads(t, m, pid) == 1
}

// hungThreads counts the threads of a process that are in uninterruptible sleep.
func hungThreads(t *testing.T, m *lab.Machine, pid int) int {
	t.Helper()
	threads, err := m.Glob(bounded(t), fmt.Sprintf("/proc/%d/task/*", pid))
	require.NoError(t, err)
	n := 0
	for _, thread := range threads {
		if statusField(t, m, thread) == "D" {
			n++
		}
	}
	return n
}

// hasOneHungThreadAtMost requires that no second thread hangs on the device. A thread that is reading another drive at
// the moment is uninterruptible too, but soon returns.
func (d daemon) hasOneHungThreadAtMost(t *testing.T, m *lab.Machine) {
	t.Helper()
	eventually(t, "one thread hangs at most", func() bool { return hungThreads(t, m, d.PID) <= 1 })
}

func statusField(t *testing.T, m *lab.Machine, dir string) string {
	t.Helper()
	content, err := m.ReadFile(bounded(t), dir+"/stat")
	if err != nil { // a thread that has just ended
		return ""
	}
	// The name in parentheses may contain anything.
	_, rest, _ := strings.Cut(string(content[strings.LastIndexByte(string(content), ')'):]), " ")
	letter, _, _ := strings.Cut(rest, " ")
	return letter
}

// testRunOnHungDevice makes the device hang during a run, which gives up in time and reports it.
func testRunOnHungDevice(t *testing.T, m *lab.Machine) {
	device := mapDevice(t, m, half)
	config := configuration(t, m, 0, soonHung)
	device.hang(t)
	p, err := m.StartProcess(bounded(t), "ssdprobe", "run", "--target", device.node(), "--config", config)
	require.NoError(t, err)
	line, err := p.AwaitLine(bounded(t), "ssdprobe: ")
	require.NoError(t, err)
	assert.Contains(t, line, "no answer since")
	// The program has done everything; it cannot get the thread back from the kernel.
	eventually(t, "the process is over", func() bool { return over(t, m, p.PID) })
	device.release(t)
	ended, err := p.Wait(bounded(t))
	require.NoError(t, err)
	assert.Equal(t, 1, ended.ExitCode, "%+v", ended)
	// On an emulated machine, the first search for written blocks may take longer than soonHung allows a round.
	patient := configuration(t, m, 0, everySecond)
	again := ssdprobe(t, m, nil, "run", "--rounds", "1", "--target", device.node(), "--config", patient)
	assert.Zero(t, again.ExitCode, "%+v", again)
}

// testSilentDrive tests a drive that is present and answers admin commands, but does no I/O for a while.
func testSilentDrive(t *testing.T, m *lab.Machine) {
	id, stays, d := identity(t, m, plain), identity(t, m, remote), disk(t, m, plain)
	// QEMU hangs as a whole when the driver resets such a drive, so the driver is more patient than the test.
	timeout := "/sys/block/" + d.Namespaces[0] + "/queue/io_timeout"
	before := text(t, m, timeout)
	t.Cleanup(func() { assert.NoError(t, m.WriteFile(afterwards(t), timeout, []byte(before), 0)) })
	require.NoError(t, m.WriteFile(bounded(t), timeout, []byte("600000"), 0)) // ms
	daemon := startDaemon(t, m, configuration(t, m, 0, soonHung+watching(id, stays)))
	daemon.awaitRounds(t, id, "ok", 1)
	hung := labels{"id": id, "probe": "read-4k"}

	require.NoError(t, m.Hang(bounded(t), plain))
	daemon.awaitRounds(t, id, "timeout", 1)
	eventually(t, "the age of the round grows", func() bool {
		age, ok := daemon.scrape(t).value(t, "ssdprobe_probe_inflight_seconds", hung)
		return ok && age > 5
	})
	daemon.awaitRounds(t, stays, "ok", 3)
	daemon.awaitReading(t, d.Controllers[0])
	daemon.hasOneHungThreadAtMost(t, m)

	require.NoError(t, m.Throttle(bounded(t), plain, 0))
	daemon.awaitRounds(t, id, "ok", 2)
	daemon.awaitLog(t, "rounds are fine again")
	daemon.stop(t)
}

// testResizedDevice gives a watched device another size.
func testResizedDevice(t *testing.T, m *lab.Machine) {
	device := mapDevice(t, m, half)
	d := startDaemon(t, m, configuration(t, m, 0, everySecond+"devices: {include: [{name: "+device.name+"}]}\n"))
	d.awaitRounds(t, device.id, "ok", 1)
	d.followsSize(t, device.id, device, func() {})
	d.stop(t)
}

// followsSize halves a device and restores it, and waits each time until the daemon measures the target with that
// size. tell announces a new size where that is necessary.
func (d daemon) followsSize(t *testing.T, id string, device mapped, tell func()) {
	t.Helper()
	of := labels{"id": id}
	const family = "ssdprobe_device_size_bytes"
	before := d.scrape(t).must(t, family, of)
	for _, size := range []float64{before / 2, before} {
		device.reload(t, device.table(int(size)/512))
		tell()
		eventually(t, "the new size is seen: "+strconv.FormatFloat(size, 'f', 0, 64), func() bool {
			now, _ := d.scrape(t).value(t, family, of)
			return now == size
		})
		d.awaitRounds(t, id, "ok", 2)
	}
}

// testDeadDevice makes every read of a device fail, and then lets them succeed again.
func testDeadDevice(t *testing.T, m *lab.Machine) {
	device, stays := mapDevice(t, m, half), identity(t, m, remote)
	d := startDaemon(t, m, configuration(t, m, 0, everySecond+watching(stays)+"    - name: "+device.name+"\n"))
	d.awaitRounds(t, device.id, "ok", 1)
	sectors := number(t, m, "/sys/block", device.name, "size")
	device.reload(t, fmt.Sprintf("0 %d error", sectors))
	d.awaitRounds(t, device.id, "error", 2)
	d.awaitRounds(t, stays, "ok", 2)
	now := d.scrape(t)
	assert.Positive(t, now.must(t, "ssdprobe_probe_errors_total", labels{"id": device.id, "errno": "EIO"}))
	last := d.last(t, device.id, "read-4k")
	assert.Equal(t, record.OutcomeError, last.Outcome)
	assert.LessOrEqual(t, last.Errors["EIO"], int64(16), "a drive in trouble is not asked all there is to ask")
	device.reload(t, device.table(sectors))
	d.awaitRounds(t, device.id, "ok", 2)
	d.stop(t)
}
