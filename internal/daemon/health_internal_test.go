package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// logbook collects what is logged.
type logbook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// timeless returns a logger that writes into the book without times.
func (l *logbook) timeless() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func (l *logbook) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// bench is a keeper on a fake machine.
type bench struct {
	*keeper
	t      *testing.T
	log    *logbook
	config config.Config
	root   string
}

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{t: t, log: &logbook{}, config: config.Default(), root: t.TempDir()}
	b.config.HostRoot = b.root
	sysfstest.Add(t, b.root, map[string]string{
		"proc/interrupts":    "   CPU0\n 30: 7 PCI-MSI 1-edge nvme0q0\n 31: 9 PCI-MSI 1-edge nvme0q1\n 32: 5 PCI-MSI 1-edge virtio1-req.0\n",
		"sys/block/vda/stat": "1 0 0 0 1 0 0 0 0 0 0\n", "sys/class/nvme/nvme0/transport": "pcie\n",
		"sys/block/sda/device/vendor": "ATA\n", "sys/devices/virtio1/x": "",
	}, map[string]string{"sys/block/vda/device": "/sys/devices/virtio1"})
	b.keeper = newKeeper(sysfs.New(b.root), slog.New(slog.NewTextHandler(b.log, nil)))
	t.Cleanup(b.stopAll)
	return b
}

func (b bench) follow(devices ...record.Device) {
	b.keeper.follow(b.t.Context(), context.WithoutCancel(b.t.Context()), b.config, devices)
}

// smartctl installs a program that prints the given answer and that the keeper finds as smartctl.
func smartctl(t *testing.T, answer string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "health", "testdata", answer+".json"))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "smartctl"), []byte("#!/bin/sh\ncat "+path+"\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func sata() record.Device {
	return record.Device{ID: "s1", Name: "sda", Kind: record.KindDisk, Transport: "sata"}
}

func onNVMe() record.Device {
	return record.Device{ID: "n1", Name: "nvme0n1", Kind: record.KindDisk, Transport: "pcie", Controllers: []string{"nvme0", "nvme1"}, NUMANode: -1}
}

func onVirtio() record.Device {
	return record.Device{ID: "v1", Name: "vda", Kind: record.KindDisk, Transport: "virtio", NUMANode: -1}
}

func TestTheHealthOfADriveIsInTheSnapshot(t *testing.T) {
	smartctl(t, "built/ata-failing")
	b := newBench(t)
	b.follow(sata(), sata(), record.Device{ID: "md", Name: "md0", Kind: record.KindMD})
	before := []record.Warning{{Code: "x"}}
	s := record.Snapshot{Targets: []record.TargetStatus{
		{ID: "s1", Device: sata(), Warnings: before, Collectors: []record.CollectorStatus{{Collector: "conditions"}}},
		{ID: "file:/a", File: true, Device: sata()}, {ID: "other"},
	}}
	b.fill(&s)
	require.Len(t, s.Controllers, 1)
	c := s.Controllers[0]
	assert.Equal(t, []any{"sda", record.ControllerDrive, []string{"s1"}}, []any{c.Name, c.Kind, c.Devices})
	assert.EqualValues(t, 8, *c.Disk.PendingSectors)
	assert.WithinDuration(t, time.Now(), c.LastRead, time.Minute)
	for _, target := range s.Targets[:2] {
		last := target.Collectors[len(target.Collectors)-1]
		assert.Equal(t, []any{"health", "sda", true, ""}, []any{last.Collector, last.Device, last.Success, last.Error})
		assert.Contains(t, target.Warnings, c.Warnings[0])
	}
	assert.Len(t, before, 1)
	assert.Empty(t, s.Targets[2].Collectors)

	b.config.Health.Enabled = false
	b.follow(sata())
	s = record.Snapshot{Targets: []record.TargetStatus{{Device: sata()}}}
	b.fill(&s)
	assert.Equal(t, record.Snapshot{Targets: []record.TargetStatus{{Device: sata()}}}, s, "switched off, nothing is known")
}

// Whoever shows a warning names the drive. For a drive with two controllers, that does not say which controller is
// meant.
func TestAWarningNamesTheControllerOfSeveral(t *testing.T) {
	hot := record.Warning{Code: record.WarnThrottling, Text: "slowed down"}
	r := &healthReader{source: health.Source{Name: "nvme1", Devices: []record.Device{onNVMe()}}}
	r.now.Warnings = []record.Warning{hot}
	alone := onNVMe()
	alone.Controllers = []string{"nvme1"}
	targets := []record.TargetStatus{{ID: "n1", Device: onNVMe()}, {ID: "n1", Device: alone}}
	r.fill(targets)
	assert.Equal(t, []record.Warning{{Code: record.WarnThrottling, Text: "nvme1: slowed down"}}, targets[0].Warnings)
	assert.Equal(t, []record.Warning{hot}, targets[1].Warnings)
	assert.Equal(t, []record.Warning{hot}, r.now.Warnings, "its own are left alone")
}

// A reading that failed has no result; the previous result is not shown instead.
func TestAFailedReadingEndsTheResult(t *testing.T) {
	smartctl(t, "captured/ata")
	b := newBench(t)
	b.config.Health.Interval = time.Millisecond
	b.follow(sata())
	require.Eventually(t, func() bool { return b.status(sata()).Disk != nil }, time.Minute, time.Millisecond)
	path, err := health.FindSmartctl()
	require.NoError(t, err)
	become := func(script string) { // atomically, because it runs all the time
		// Hold the lock so that no process is started meanwhile. A forked child would have the file open for writing
		// until it executes another program, and a program that is open for writing cannot be executed.
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		require.NoError(t, os.WriteFile(path+".new", []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		require.NoError(t, os.Rename(path+".new", path))
	}
	become("echo broken")
	require.Eventually(t, func() bool { return b.status(sata()).Disk == nil }, time.Minute, time.Millisecond)
	assert.False(t, b.status(sata()).LastRead.IsZero(), "when it was last known stays")
	require.Eventually(t, func() bool { return b.log.count("the health cannot be read") == 1 }, time.Minute, time.Millisecond)
	become("cat " + filepath.Join(testdata(t), "captured", "ata.json"))
	require.Eventually(t, func() bool { return b.log.count("the health can be read again") == 1 }, time.Minute, time.Millisecond)
	assert.Equal(t, 1, b.log.count("the health cannot be read"), "said when it is news")
}

func testdata(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "health", "testdata"))
	require.NoError(t, err)
	return path
}

// status returns the only controller in a snapshot.
func (b bench) status(d record.Device) record.Controller {
	s := record.Snapshot{Targets: []record.TargetStatus{{ID: d.ID, Device: d}}}
	b.fill(&s)
	require.Len(b.t, s.Controllers, 1)
	return s.Controllers[0]
}

// Neither controller of the drive has a device node. Both errors appear in the one status.
func TestControllersThatCannotBeOpened(t *testing.T) {
	b := newBench(t)
	b.follow(onNVMe())
	s := record.Snapshot{Targets: []record.TargetStatus{{ID: "n1", Device: onNVMe()}}}
	b.fill(&s)
	require.Len(t, s.Controllers, 2)
	require.Len(t, s.Targets[0].Collectors, 1)
	status := s.Targets[0].Collectors[0]
	assert.False(t, status.Success)
	assert.Contains(t, status.Error, "health of nvme0: open nvme: stat")
	assert.Contains(t, status.Error, "; health of nvme1: open nvme: stat")
	assert.Equal(t, 2, b.log.count("the health cannot be read"))
}

func TestAMissingPermissionIsSaidOnce(t *testing.T) {
	b := newBench(t)
	for range 3 {
		for range 2 {
			r := &healthReader{keeper: b.keeper, log: b.keeper.log}
			r.report(time.Now(), fmt.Errorf("health of nvme0: identify 01h: %w", syscall.EPERM))
			assert.False(t, r.collector.Success)
		}
	}
	assert.Equal(t, 1, b.log.count("probes go on without"))
	assert.Equal(t, 1, b.log.count("CAP_SYS_ADMIN"))
	assert.Equal(t, 0, b.log.count("the health cannot be read"))
}

func TestInterruptsAreCounted(t *testing.T) {
	b := newBench(t)
	b.follow(onVirtio())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.count(ctx) }()
	var s record.Snapshot
	require.Eventually(t, func() bool {
		s = record.Snapshot{}
		b.fill(&s)
		return len(s.Controllers) == 1
	}, time.Minute, time.Millisecond)
	assert.Equal(t, "virtio1", s.Controllers[0].Name)
	assert.Equal(t, []record.QueueInterrupts{{Queue: "req.0", Number: "32"}}, s.Controllers[0].Interrupts.Queues, "what the kernel had counted before is not the daemon's")
	require.Len(t, s.Collectors, 1)
	assert.True(t, s.Collectors[0].Success)

	// A new device is counted at once, and a table that cannot be read is logged.
	require.NoError(t, os.WriteFile(filepath.Join(b.root, "proc/interrupts"), []byte("nonsense\n"), 0o600))
	b.follow(onVirtio(), onNVMe())
	require.Eventually(t, func() bool { return b.log.count("interrupts cannot be counted") == 1 }, time.Minute, time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
}

// A reload that requests every queue of a drive takes effect at once, and only for that drive.
func TestInterruptsOfEveryQueueAreAskedFor(t *testing.T) {
	b := newBench(t)
	every := func() map[string]bool {
		b.follow(onVirtio(), onNVMe())
		asked := map[string]bool{}
		for _, s := range b.sources {
			asked[s.Name] = s.EveryQueue
		}
		return asked
	}
	assert.Equal(t, map[string]bool{"nvme0": false, "nvme1": false, "virtio1": false}, every())
	<-b.changed
	b.config.Health.Devices = []config.HealthOf{{Rule: device.Rule{Name: "nvme0n1"}, Interrupts: config.InterruptsAll}}
	assert.Equal(t, map[string]bool{"nvme0": true, "nvme1": true, "virtio1": false}, every())
	select {
	case <-b.changed:
	default:
		t.Error("the count of interrupts was not woken")
	}
	b.config.Health.Interrupts, b.config.Health.Devices[0].Interrupts = config.InterruptsAll, config.InterruptsSummary
	assert.Equal(t, map[string]bool{"nvme0": false, "nvme1": false, "virtio1": true}, every())
}

// A reload that shortens the interval does not wait until the long one is over.
func TestInterruptsAreCountedAtANewIntervalAtOnce(t *testing.T) {
	b := newBench(t)
	b.config.Health.Interval = 24 * time.Hour
	b.follow(onVirtio())
	<-b.changed
	b.follow(onVirtio())
	assert.Empty(t, b.changed)
	b.config.Health.Interval = time.Minute
	b.follow(onVirtio())
	assert.Len(t, b.changed, 1)
}

func TestSettingsOfADriveAreConditions(t *testing.T) {
	b := newBench(t)
	known := record.Health{Features: record.Features{Coalescing: &record.Coalescing{Threshold: 8, Time: time.Millisecond}}}
	b.readers["nvme0"] = &healthReader{
		source: health.Source{Name: "nvme0", Devices: []record.Device{onNVMe()}}, known: &known, cancel: func() {}, done: closed(),
	}
	assert.Equal(t, record.EachOf(*known.Features.Coalescing), b.complete(onNVMe(), record.Conditions{}).Coalescing)
	assert.Zero(t, b.complete(sata(), record.Conditions{}).Coalescing)
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
