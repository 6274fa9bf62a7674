package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// discovery returns a daemon that discovers the devices of a fake machine.
func (b bench) discovery() *Daemon {
	b.t.Helper()
	dir, err := state.Open(b.t.TempDir())
	require.NoError(b.t, err)
	return &Daemon{
		shared: &shared{
			judging: newJudging(drift.Default()), tell: func([]judge.Event) {},
			fs: sysfs.New(b.root), log: b.log.timeless(), state: newStorage(dir, b.log.timeless()),
			latencies: export.NewLatencies(), slots: make(turn, 1),
		},
		config: b.config, watches: map[string]*watch{}, ways: map[string]*access{}, health: b.keeper, file: &configFile{},
		flight: newFlight(sysfs.New(b.root), b.config.Recorder), host: device.NewScanner(sysfs.New(b.root)),
	}
}

// While the host cannot be examined, watches and health readers remain.
func TestAScanThatHangsEndsNothing(t *testing.T) {
	smartctl(t, "captured/ata")
	b := newBench(t)
	d := b.discovery()
	t.Cleanup(d.stopAll)
	d.start(t.Context(), context.WithoutCancel(t.Context()), wanted{
		spec: spec{Target: measure.Target{ID: "s1", Path: "/dev/sda"}, Unresolved: true}, seen: sighting{device: sata()},
	})
	b.follow(sata())
	before := b.status(sata())
	require.Equal(t, []string{"s1"}, before.Devices)
	readers := b.current()
	require.Len(t, readers, 1)

	back := make(chan struct{})
	defer close(back)
	_, err := guard.Do(t.Context(), &d.scanning, time.Millisecond, func(context.Context) (scan, error) { <-back; return scan{}, nil })
	require.Error(t, err)
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	require.Contains(t, d.discovered.Error, "has not returned yet")
	assert.Contains(t, d.current(), "s1")
	assert.Equal(t, readers, b.current())
	assert.Equal(t, record.ControllerDrive, b.status(sata()).Kind)

	// A new configuration holds all the same.
	d.config.Admission.MaxInFlight = new(int64(7))
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	require.Contains(t, d.discovered.Error, "has not returned yet")
	require.Contains(t, d.current(), "s1")
	assert.Equal(t, d.config.Admission, d.current()["s1"].spec.Admission)
	assert.True(t, d.current()["s1"].spec.Unresolved)
}

// A node to which volumes are attached all the time does not fill its disk with what is stored of them.
func TestWhatHasLongBeenGoneIsDropped(t *testing.T) {
	smartctl(t, "captured/ata")
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	for i := range keptGone + 3 {
		require.NoError(t, d.shared.state.SaveTarget(state.Target{ID: fmt.Sprint("gone", i)}))
	}
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	left, err := d.shared.state.Count("targets")
	require.NoError(t, err)
	assert.Equal(t, keptGone, left)
	_, warnings := d.shared.state.status()
	assert.Empty(t, warnings)
}

// In the state directory, only the directory of the fallback file is created.
func TestOnlyTheDirectoryOfTheFallbackIsMade(t *testing.T) {
	c := newBench(t).config
	c.StateDir = t.TempDir()
	file := filepath.Join(c.StateDir, "test.dat")
	require.NoError(t, makeOwn(c, file))
	assert.NoFileExists(t, file)
	assert.NoDirExists(t, file)
	for range 2 {
		require.NoError(t, makeOwn(c, FallbackPath(c)))
		assert.DirExists(t, FallbackPath(c))
	}
	require.NoError(t, os.Remove(FallbackPath(c)))
	require.NoError(t, os.WriteFile(FallbackPath(c), nil, 0o600))
	require.NoError(t, makeOwn(c, FallbackPath(c)), "a file of somebody's is left alone")
}

// A problem with the stored state of a target ends when the target is gone.
func TestTheStateOfATargetThatLeftIsNoProblem(t *testing.T) {
	s := newBench(t).discovery().shared.state
	for _, id := range []string{"s1", runsOf("s1"), "s2", runsOf("s2"), requestsOf} {
		s.report(id, errors.New(id))
	}
	s.forget(map[string]wanted{"s2": {}})
	_, warnings := s.status()
	var left []string
	for _, w := range warnings {
		left = append(left, w.Text)
	}
	assert.ElementsMatch(t, []string{"s2", runsOf("s2"), requestsOf}, left)
}

// A request that cannot be read is told until it is away, and keeps nobody from being answered.
func TestARequestThatCannotBeRead(t *testing.T) {
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	var names []string
	for range 2 {
		name, err := d.shared.state.Leave(state.Request{Target: "s1"})
		require.NoError(t, err)
		names = append(names, name)
	}
	unread := filepath.Join(d.shared.state.Dir.Dir(), "requests", names[0]+".json")
	require.NoError(t, os.Chmod(unread, 0o666))
	d.answerRequests(t.Context())
	_, warnings := d.shared.state.status()
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0].Text, unread)
	assert.False(t, d.asked(t.Context()))
	left, err := d.shared.state.Requests()
	require.NoError(t, err)
	assert.Equal(t, names[:1], left)
	require.NoError(t, os.Remove(unread))
	d.answerRequests(t.Context())
	_, warnings = d.shared.state.status()
	assert.Empty(t, warnings)
}

// What could not be stored is stored once that is possible, in the order in which it happened. The next run, or the next
// verdict to tell Kubernetes, may be weeks away.
func TestWhatCouldNotBeKeptIsKeptLater(t *testing.T) {
	d := newBench(t).discovery()
	s := d.shared.state
	blocked := filepath.Join(s.Dir.Dir(), "daemon")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600)) // in place of a directory
	for _, v := range []record.DriveVerdict{record.Severe, record.Degraded} {
		s.keep(t.Context(), toldOf, 1, func(dir state.Dir) error { return dir.SaveTold(map[string]record.ToldVerdict{"s1": {Verdict: v}}) })
	}
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	status, _ := s.status()
	require.False(t, status.Success)
	require.NoError(t, os.Remove(blocked))
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	status, _ = s.status()
	assert.True(t, status.Success, status.Error)
	told, err := s.Told()
	require.NoError(t, err)
	assert.Equal(t, record.Degraded, told["s1"].Verdict)
	assert.Empty(t, s.owed)
}

// What was learned of a drive while the disk was full is not lost when the drive is away: it is stored once there is room.
func TestWhatWasLearnedOfATargetThatLeftIsStoredLater(t *testing.T) {
	d := newBench(t).discovery()
	s := d.shared.state
	require.NoError(t, s.SaveTarget(state.Target{ID: "s1"}))
	blocked := filepath.Join(s.Dir.Dir(), "targets", "s1.json")
	require.NoError(t, os.Chmod(blocked, 0o666)) // which is neither read nor overwritten
	require.Error(t, s.saveTarget(t.Context(), saveTimeout, state.Target{ID: "s1", Path: "/learned"}))
	for range 2 {
		d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
		learned, found, err := s.Target("s1")
		require.NoError(t, err)
		require.True(t, found, "for its return")
		assert.Equal(t, "/learned", learned.Path)
		status, _ := s.status()
		require.False(t, status.Success)
	}
	require.NoError(t, os.Chmod(blocked, 0o600))
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	learned, found, err := s.Dir.Target("s1")
	require.NoError(t, err)
	require.True(t, found)
	assert.Equal(t, "/learned", learned.Path)
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	status, _ := s.status()
	assert.True(t, status.Success, status.Error)
	assert.Empty(t, s.unsaved)
	assert.Empty(t, s.gone)
}

// The report of a run of hours is not lost when the drive is pulled while the disk is full.
func TestTheReportOfATargetThatLeftIsStoredLater(t *testing.T) {
	d := newBench(t).discovery()
	s := d.shared.state
	report := ranAt("s1", at3(3))
	require.NoError(t, s.KeepRun(report, 20))
	blocked := filepath.Join(s.Dir.Dir(), "runs", "quick%20s1%2020261103T030000.000.json")
	require.NoError(t, os.Chmod(blocked, 0o666)) // which is neither read nor overwritten
	report.Node = "later"
	s.keep(t.Context(), runsOf("s1"), mostReports, func(dir state.Dir) error { return dir.KeepRun(report, 20) })
	for range 2 {
		d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
		status, _ := s.status()
		require.False(t, status.Success)
	}
	require.NoError(t, os.Chmod(blocked, 0o600))
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	last, err := s.LastRuns("s1")
	require.NoError(t, err)
	assert.Equal(t, "later", last[0].Last.Node)
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	status, _ := s.status()
	assert.True(t, status.Success, status.Error)
	assert.Empty(t, s.owed)
	assert.Empty(t, s.gone)
}

// While a disk is full, memory does not grow with the drives that come and go.
func TestWhatWasLearnedOfTargetsThatLeftIsBounded(t *testing.T) {
	s := newBench(t).discovery().shared.state
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir.Dir(), "targets"), nil, 0o600))
	leave := func(id string) {
		require.Error(t, s.saveTarget(t.Context(), saveTimeout, state.Target{ID: id}))
		s.keep(t.Context(), runsOf(id), mostReports, func(state.Dir) error { return unix.ENOSPC })
		s.forget(map[string]wanted{"here": {}})
	}
	require.Error(t, s.saveTarget(t.Context(), saveTimeout, state.Target{ID: "here"}))
	leave("z first")
	for i := range mostGone - 1 {
		leave(fmt.Sprintf("s%d", i))
	}
	require.Contains(t, s.unsaved, "z first")
	leave("last")
	assert.NotContains(t, s.unsaved, "z first")
	assert.Contains(t, s.unsaved, "here")
	assert.Len(t, s.unsaved, mostGone+1)
	assert.Len(t, s.owed, mostGone)
	assert.NotContains(t, s.owed, runsOf("z first"))

	s.forget(map[string]wanted{"last": {}, "here": {}})
	assert.NotContains(t, s.gone, "last", "it is back")
	assert.Contains(t, s.unsaved, "last")
}

// While a disk is full, memory does not grow. What Kubernetes was told last replaces what it was told before. Reports of
// runs are further ones, of which the newest are stored later, in their order.
func TestWhatCannotBeKeptIsBounded(t *testing.T) {
	s := newBench(t).discovery().shared.state
	full := true
	var tried, stored []int
	change := func(n int) func(state.Dir) error {
		return func(state.Dir) error {
			if tried = append(tried, n); full {
				return unix.ENOSPC
			}
			stored = append(stored, n)
			return nil
		}
	}
	for i := range 3 {
		s.keep(t.Context(), toldOf, 1, change(i))
	}
	assert.Equal(t, []int{0, 1, 2}, tried, "none is tried again once another has replaced it")
	const runs = mostReports + 3
	for i := range runs {
		s.keep(t.Context(), runsOf("s1"), mostReports, change(100+i))
	}
	assert.Len(t, s.owed[runsOf("s1")], mostReports)

	full = false
	s.pay(t.Context())
	var want []int
	for i := range mostReports {
		want = append(want, 100+runs-mostReports+i)
	}
	assert.Equal(t, append(want, 2), stored)
	s.pay(t.Context())
	assert.Len(t, stored, mostReports+1, "each is stored once")
	assert.Empty(t, s.owed)
	status, _ := s.status()
	assert.True(t, status.Success)
}

// A file that was refused on SIGHUP counts as changed at once, not only at the next check.
func TestARefusedFileHasChanged(t *testing.T) {
	f := &configFile{changed: new(bool)}
	f.taken(sum{}, os.ErrPermission)
	assert.False(t, *f.changed, "what it holds is not known")
	f.taken(sum{1}, errors.New("colour: unknown field"))
	assert.True(t, *f.changed)
	f.taken(sum{2}, nil)
	assert.False(t, *f.changed)
}

// A scrape right after the start or a reload has the suites, which are exported while they are planned.
func TestAWatchKnowsItsSuitesFromTheBeginning(t *testing.T) {
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	d.config.Runs = []config.Run{daily("quick"), daily("burst", "nvme*")}
	d.start(t.Context(), context.WithoutCancel(t.Context()), wanted{
		spec: spec{Target: measure.Target{ID: "s1", Path: "/dev/sda"}, Unresolved: true}, seen: sighting{device: sata()},
	})
	runs := d.current()["s1"].suites.list()
	require.Len(t, runs, 1, "the other is meant for other drives")
	assert.Equal(t, "quick", runs[0].Suite)
	assert.NotZero(t, runs[0].Next)
}

// A drive that hangs goes on doing so for the judge when a reload or a request replaces its watch.
func TestADriveHangsOnWhenItsWatchIsReplaced(t *testing.T) {
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	target := wanted{spec: spec{Target: measure.Target{ID: "s1", Path: "/dev/sda"}, Unresolved: true}, seen: sighting{device: sata()}}
	begin := func() { d.start(t.Context(), context.WithoutCancel(t.Context()), target) }
	verdict := func(in time.Duration) (v record.Judgement, ok bool) {
		d.shared.judging.look(func() {
			d.shared.judging.node.Advance(time.Now().Add(in))
			v, ok = d.shared.judging.node.Verdict("s1")
		})
		return v, ok
	}
	begin()
	d.shared.judging.took("s1", record.Measurement{Probe: "read-4k", Start: time.Now().Add(-time.Minute), Outcome: record.OutcomeTimeout})
	v, _ := verdict(0)
	require.Equal(t, record.Severe, v.Verdict)

	d.halt(d.current()["s1"])
	begin()
	v, _ = verdict(2 * time.Hour)
	assert.Equal(t, record.Severe, v.Verdict)
	d.stop(d.current()["s1"])
	_, ok := verdict(2 * time.Hour)
	assert.False(t, ok)
}

// A drive that comes and goes gets no more rounds, and no more of them out of turn, than one that stays.
func TestADriveThatComesAndGoes(t *testing.T) {
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	comes := func() *watch {
		d.start(t.Context(), context.WithoutCancel(t.Context()), wanted{spec: spec{
			Target: measure.Target{ID: "s1", Path: "/dev/sda"}, Unresolved: true, Probes: record.DefaultProbes(),
		}})
		d.forgetAccess()
		return d.current()["s1"]
	}
	goes := func(w *watch) {
		d.stop(w)
		d.forgetAccess()
	}
	w := comes()
	p := w.rounds.probes[0]
	began := time.Now()
	w.rounds.begin(p, record.Conditions{}, nil)
	w.access.endRounds()
	require.True(t, w.access.confirmed.Take(began, 1))
	goes(w)

	again := comes()
	assert.False(t, again.rounds.probes[0].next.Before(began.Add(p.probe.Interval/2)))
	assert.False(t, again.access.confirmed.Take(began, 1))
	goes(again)

	d.access("s1").watched = began.Add(-time.Hour)
	d.forgetAccess()
	assert.Empty(t, d.ways, "what is gone for good is not remembered for ever")
}

// writerFunc is a log that is also a trigger.
type writerFunc func(line string)

func (w writerFunc) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

// A stop during a reload does not wait until each of a thousand targets has been ended, one after the other, and begun again.
func TestAStopDuringAReloadReplacesNoMoreWatches(t *testing.T) {
	smartctl(t, "captured/ata")
	d := newBench(t).discovery()
	d.config.Devices.Enabled, d.config.Files = false, nil
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	ended := 0
	d.shared.log = slog.New(slog.NewTextHandler(writerFunc(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(line, "no longer watching") {
			ended++
			cancel()
		}
	}), nil))
	for range 5 {
		path := t.TempDir()
		d.config.Files = append(d.config.Files, config.File{Path: path, SizeBytes: 16 << 20})
		d.start(ctx, context.WithoutCancel(ctx), wanted{spec: spec{Target: measure.UnknownFile(path, 1, 1).Target, Unresolved: true}})
	}
	require.False(t, d.reconcile(ctx, context.WithoutCancel(ctx)))
	mu.Lock()
	assert.Equal(t, 1, ended)
	mu.Unlock()
	assert.Len(t, d.current(), 5)
	d.stopAll()
	assert.Equal(t, 6, ended, "one had been begun again")
}

// A drive that drops off the bus and returns is away for a moment, in which nobody may look.
func TestADriveThatReturnsIsCounted(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	appears := func(name, number string) {
		dir := "sys/devices/virtio-" + name + "/block/" + name
		sysfstest.Add(t, root, map[string]string{dir + "/dev": number, dir + "/size": "16", dir + "/serial": "S"}, map[string]string{
			dir + "/device": "../..", "sys/devices/virtio-" + name + "/subsystem": "../../bus/virtio",
			"sys/block/" + name: "../devices/virtio-" + name + "/block/" + name,
		})
	}
	left := t.TempDir()
	leaves := func(name string) {
		at, err := os.MkdirTemp(left, "") // inode numbers remain taken, as in the kernel
		require.NoError(t, err)
		require.NoError(t, os.Rename(filepath.Join(root, "sys/devices/virtio-"+name), filepath.Join(at, "device")))
		require.NoError(t, os.Remove(filepath.Join(root, "sys/block", name)))
	}
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	d.shared.fs, d.host = sysfs.New(root), device.NewScanner(sysfs.New(root))
	d.config.HostRoot, d.config.StateDir, d.config.FallbackFile = root, t.TempDir(), false
	returns := func() (of map[string]uint64) {
		d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
		of = map[string]uint64{}
		for _, w := range d.current() {
			s := w.Status(time.Now())
			of[s.Device.Name] = s.Returns
		}
		return of
	}
	appears("vda", "252:0")
	assert.Equal(t, map[string]uint64{"vda": 0}, returns())
	leaves("vda")
	appears("vda", "252:0")
	assert.Equal(t, map[string]uint64{"vda": 1}, returns(), "between two looks")
	assert.Equal(t, map[string]uint64{"vda": 1}, returns())
	leaves("vda")
	assert.Empty(t, returns())
	appears("vdb", "252:16")
	assert.Equal(t, map[string]uint64{"vdb": 2}, returns(), "under another name")
	d.config.Admission.MaxInFlight = new(int64(7))
	assert.Equal(t, map[string]uint64{"vdb": 2}, returns(), "a reload makes no difference")
}

// A device that hangs is told; the others are looked at, and nothing is concluded from what is not known of it.
func TestADeviceThatHangsHoldsUpNoDiscovery(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, number := range map[string]string{"vda": "252:0", "vdb": "252:16"} {
		dir := "sys/devices/virtio-" + name + "/block/" + name
		sysfstest.Add(t, root, map[string]string{dir + "/dev": number, dir + "/size": "16", dir + "/serial": "S-" + name}, map[string]string{
			dir + "/device": "../..", "sys/devices/virtio-" + name + "/subsystem": "../../bus/virtio",
			"sys/block/" + name: "../devices/virtio-" + name + "/block/" + name,
		})
	}
	serial := filepath.Join(root, "sys/devices/virtio-vda/block/vda/serial")
	require.NoError(t, os.Remove(serial))
	require.NoError(t, unix.Mkfifo(serial, 0o600))
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	d.shared.fs, d.host = sysfs.New(root), device.NewScanner(sysfs.New(root))
	d.config.HostRoot, d.config.StateDir, d.config.FallbackFile = root, t.TempDir(), true
	d.config.Devices.Exclude = []device.Rule{{Name: "vdb"}}
	for i := range keptGone + 3 {
		require.NoError(t, d.shared.state.SaveTarget(state.Target{ID: fmt.Sprint("gone", i)}))
	}
	reconcile := func() (answered bool) {
		start := time.Now()
		answered = d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
		require.Less(t, time.Since(start), 20*time.Second)
		return answered
	}
	assert.False(t, reconcile(), "it is asked again before long")
	assert.Contains(t, d.discovered.Error, "read device vda: it hangs, and has not answered before")
	require.Len(t, d.ignored, 1)
	assert.Equal(t, "virtio_S-vdb", d.ignored[0].Device.ID)
	assert.Empty(t, d.current(), "the fallback file is not begun: vda may be one to watch")
	left, err := d.shared.state.Count("targets")
	require.NoError(t, err)
	assert.Equal(t, keptGone+3, left, "vda may be one of those")

	driver, err := os.OpenFile(serial, os.O_RDWR|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	require.NoError(t, os.Remove(serial))
	require.NoError(t, os.WriteFile(serial, []byte("S-vda"), 0o600))
	require.NoError(t, driver.Close())
	require.Eventually(t, func() bool { return reconcile() }, time.Minute, time.Millisecond)
	assert.Contains(t, d.current(), "virtio_S-vda")
}

// A disk that hangs while the daemon is restarted is watched on: what it hangs for is told, and its baselines stay.
func TestADeviceThatHangsIsWatchedAfterARestart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const dir = "sys/devices/virtio-vda/block/vda"
	sysfstest.Add(t, root, map[string]string{dir + "/dev": "252:0", dir + "/size": "16"}, map[string]string{
		dir + "/device": "../..", "sys/devices/virtio-vda/subsystem": "../../bus/virtio", "sys/block/vda": "../devices/virtio-vda/block/vda",
		"dev/disk/by-id/virtio-S-vda": "../../vda",
	})
	require.NoError(t, unix.Mkfifo(filepath.Join(root, dir, "serial"), 0o600))
	t.Cleanup(func() { // whoever hangs gets an answer
		driver, err := os.OpenFile(filepath.Join(root, dir, "serial"), os.O_RDWR|unix.O_NONBLOCK, 0)
		require.NoError(t, err)
		require.NoError(t, driver.Close())
	})
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	d.shared.fs, d.host = sysfs.New(root), device.NewScanner(sysfs.New(root))
	d.host.Recall = d.recall
	d.config.HostRoot, d.config.StateDir, d.config.FallbackFile = root, t.TempDir(), true
	known := record.Conditions{Kernel: "6.12", Scheduler: "none"}
	require.NoError(t, d.shared.state.SaveTarget(state.Target{
		ID: "virtio_S-vda", Path: "/dev/vda", Conditions: known,
		Device: record.Device{ID: "virtio_S-vda", Name: "vda", Kind: record.KindDisk, Transport: "virtio", Serial: "S-vda", SizeBytes: 8192, ByID: []string{"virtio-S-vda"}},
	}))
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	assert.Contains(t, d.discovered.Error, "read device vda, of which now holds what it said before a restart")
	require.Contains(t, d.current(), "virtio_S-vda")
	now := d.current()["virtio_S-vda"].Status(time.Now())
	assert.Equal(t, "vda", now.Device.Name)
	assert.Equal(t, "252:0", now.Device.Number)
	assert.Equal(t, "6.12", now.Conditions.Kernel)
	assert.Empty(t, now.Changed)
}
