package measure_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// options admits everything and reports no disturbance, however busy the test machine is.
func options(t *testing.T) measure.Options {
	t.Helper()
	meter, _, err := counters.NewMeter()
	require.NoError(t, err)
	return measure.Options{
		FS: sysfs.New("/"), Engine: probe.NewEngine(meter, 1), Meter: meter, Guard: &guard.Guard{},
		Limits: admit.Unlimited(),
	}
}

// read4k returns a small read-4k, and write4k a small durable-write-4k.
func read4k() record.Probe {
	p := record.DefaultProbes()[0]
	p.IOs, p.WarmupIOs = 32, 2
	return p
}

func write4k() record.Probe {
	p := record.DefaultProbes()[2]
	p.IOs, p.WarmupIOs = 4, 0
	return p
}

func openFile(t *testing.T, path string, o measure.Options) *measure.Session {
	t.Helper()
	subject, err := measure.OfFile(device.NewFilesystems(o.FS), path, 16<<20, 0)
	require.NoError(t, err)
	s, err := measure.Open(context.Background(), subject.Target, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func openLoop(t *testing.T, path string, o measure.Options) *measure.Session {
	t.Helper()
	d, err := device.Find(o.FS, path)
	require.NoError(t, err)
	subject, err := measure.OfDevice(device.NewScanner(o.FS), path, d)
	require.NoError(t, err)
	s, err := measure.Open(context.Background(), subject.Target, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// openHere lists the descriptors that this process has open below path.
func openHere(t *testing.T, path string) []string {
	t.Helper()
	fds, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	var found []string
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, path) {
			found = append(found, target)
		}
	}
	return found
}

func TestRoundOnAFile(t *testing.T) {
	dir := testenv.OnDisk(t)
	s := openFile(t, dir, options(t))
	assert.Equal(t, filepath.Join(dir, "ssdprobe.dat"), s.Path)
	assert.Equal(t, int64(16<<20), s.Filled)
	assert.False(t, s.ReadOnly)

	read, err := s.Round(context.Background(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, read.Outcome, read.Reason)
	assert.Equal(t, "file:"+dir, read.Device)
	assert.Equal(t, int64(32), read.Latency.Count())
	assert.Equal(t, int64(34*4096), read.ReadBytes)

	write, err := s.Round(context.Background(), measure.Round{Probe: write4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, write.Outcome, write.Reason)
	assert.Equal(t, int64(4*4096), write.WrittenBytes)
	assert.Empty(t, openHere(t, dir), "nothing is held open between rounds")
}

func TestForeignFileIsOnlyRead(t *testing.T) {
	dir := testenv.OnDisk(t)
	path := filepath.Join(dir, "data")
	data := make([]byte, 4<<20)
	_, err := rand.Read(data)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	s := openFile(t, path, options(t))
	assert.True(t, s.ReadOnly)
	m, err := s.Round(context.Background(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	m, err = s.Round(context.Background(), measure.Round{Probe: write4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeError, m.Outcome)
	assert.Contains(t, m.Reason, "read-only")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, data, after)
}

func TestReplacedFileIsGone(t *testing.T) {
	dir := testenv.OnDisk(t)
	s := openFile(t, dir, options(t))
	require.NoError(t, os.Rename(s.Path, s.Path+".old"))
	require.NoError(t, os.WriteFile(s.Path, []byte("somebody else's"), 0o600))
	m, err := s.Round(context.Background(), measure.Round{Probe: write4k()})
	require.ErrorIs(t, err, measure.ErrGone)
	assert.Equal(t, record.OutcomeError, m.Outcome)
	text, err := os.ReadFile(s.Path)
	require.NoError(t, err)
	assert.Equal(t, "somebody else's", string(text))

	require.NoError(t, os.Remove(s.Path))
	_, err = s.Round(context.Background(), measure.Round{Probe: read4k()})
	require.ErrorIs(t, err, measure.ErrGone)
}

func TestBusyDeviceIsNotTouched(t *testing.T) {
	o := options(t)
	o.Limits.MaxInFlight = new(int64(-1)) // even an idle device is too busy
	s := openFile(t, testenv.OnDisk(t), o)
	m, err := s.Round(context.Background(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeBusy, m.Outcome)
	assert.Contains(t, m.Reason, "in flight")
	assert.Zero(t, m.ReadBytes)
}

// The device is locked only during the round.
func TestRoundTakesTheLock(t *testing.T) {
	o, locks := options(t), t.TempDir()
	o.Lock = func() (func(), error) {
		lock, err := store.TakeLock(locks, "s1")
		return func() { assert.NoError(t, lock.Release()) }, err
	}
	s := openFile(t, testenv.OnDisk(t), o)
	other, err := store.TakeLock(locks, "s1")
	require.NoError(t, err)
	m, err := s.Round(t.Context(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeBusy, m.Outcome)
	assert.Contains(t, m.Reason, "another run of ssdprobe uses the device")
	assert.Zero(t, m.ReadBytes)
	require.NoError(t, other.Release())

	conditions := record.Conditions{Firmware: "A"}
	m, err = s.Round(t.Context(), measure.Round{Probe: read4k(), Conditions: conditions})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	assert.Equal(t, conditions, m.Conditions)
	other, err = store.TakeLock(locks, "s1")
	require.NoError(t, err, "it was given back")
	require.NoError(t, other.Release())

	require.NoError(t, os.Chmod(locks, 0o777))
	m, err = s.Round(t.Context(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeBusy, m.Outcome)
	assert.Contains(t, m.Reason, "another user could change")
	assert.NotContains(t, m.Reason, "another run")
}

// On a drive with 16 KiB logical blocks, no I/O is smaller than that, whether for the probe file or for the probes.
// The budget is charged with what was actually written.
func TestFilesOnLargeLogicalBlocks(t *testing.T) {
	if !testenv.LargeBlocks(t) {
		return
	}
	dir := testenv.XFS(t, 16<<10)
	for range 2 { // first made, then reused
		s := openFile(t, dir, options(t))
		require.False(t, s.ReadOnly)
		require.EqualValues(t, 16<<10, s.Area.BlockBytes)
		m, err := s.Round(t.Context(), measure.Round{Probe: read4k()})
		require.NoError(t, err)
		require.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
		assert.EqualValues(t, 34*16<<10, m.ReadBytes)

		var budget admit.Budget
		round := measure.Round{Probe: write4k(), Budget: &budget, BytesPerDay: 4 * 16 << 10}
		m, err = s.Round(t.Context(), round)
		require.NoError(t, err)
		require.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
		assert.EqualValues(t, 4*16<<10, m.WrittenBytes)
		require.Len(t, m.Warnings, 1)
		assert.Equal(t, record.WarnLargerBlocks, m.Warnings[0].Code)
		m, err = s.Round(t.Context(), round)
		require.NoError(t, err)
		assert.Equal(t, record.OutcomeBusy, m.Outcome, "the budget is used up")
	}
	path := filepath.Join(dir, "foreign")
	data := make([]byte, 4<<20)
	_, err := rand.Read(data)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	s := openFile(t, path, options(t))
	require.True(t, s.ReadOnly)
	m, err := s.Round(t.Context(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
}

// While an earlier call hangs, a round counts as timed out, and no I/O is started.
func TestRoundOnATargetThatHangs(t *testing.T) {
	o := options(t)
	s := openFile(t, testenv.OnDisk(t), o)
	returns, began := make(chan struct{}), make(chan struct{})
	hung := make(chan error, 1)
	go func() {
		_, err := guard.Do(t.Context(), o.Guard, time.Hour, func(context.Context) (struct{}, error) {
			close(began)
			<-returns
			return struct{}{}, nil
		})
		hung <- err
	}()
	<-began
	m, err := s.Round(t.Context(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeTimeout, m.Outcome)
	assert.Contains(t, m.Reason, "has not returned yet")
	close(returns)
	require.NoError(t, <-hung)
	m, err = s.Round(t.Context(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
}

// When the I/O of a round that was given up returns after all, the round is reported once, with the time that I/O
// took among its latencies. It may be an I/O of the search, of the warm-up or of the round itself.
func TestAHungRoundThatReturns(t *testing.T) {
	for name, held := range map[string]int{"in the search": 0, "in the warm-up": 3, "in the counted I/Os": 20} {
		t.Run(name, func(t *testing.T) { testHungRound(t, held) })
	}
}

// testHungRound lets held reads of a round pass before the loop device hangs.
func testHungRound(t *testing.T, held int) {
	t.Helper()
	remote := testenv.RemoteFile(t)
	loop := testenv.Losetup(t, "--find", "--show", remote.Path)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", loop) })
	o := options(t)
	late := make(chan record.Measurement, 10)
	o.Late = func(m record.Measurement) { late <- m }
	s := openLoop(t, loop, o)
	p := read4k()
	m, err := s.Round(t.Context(), measure.Round{Probe: p})
	require.NoError(t, err)
	require.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)

	conditions := record.Conditions{Model: "X"}
	var begun time.Time
	var release func()
	for p.Timeout = 200 * time.Millisecond; ; p.Timeout *= 2 {
		var came <-chan time.Time
		came, release = remote.HoldReads(t, held)
		m, err = s.Round(t.Context(), measure.Round{Probe: p, Conditions: conditions})
		require.NoError(t, err)
		if len(came) > 0 {
			begun = <-came
			break
		}
		release() // the time was over before the device hung: the machine is busy
	}
	require.Equal(t, record.OutcomeTimeout, m.Outcome, m.Reason)
	require.Empty(t, m.Latency, "nothing is known yet")
	assert.Empty(t, late)
	<-time.After(time.Until(begun.Add(p.Timeout))) // on a busy machine, the read came long after the round began
	hung := time.Since(begun)
	release()
	got := <-late
	assert.GreaterOrEqual(t, got.Latency.Max(), p.Timeout)
	assert.GreaterOrEqual(t, got.Latency.Max(), hung*999/1000, "all of the time until it returned, in three digits")
	assert.Equal(t, record.OutcomeTimeout, got.Outcome)
	assert.Equal(t, "read-4k", got.Probe)
	assert.Equal(t, m.Device, got.Device)
	assert.Equal(t, conditions, got.Conditions)
	assert.Positive(t, got.ReadBytes)

	testenv.Eventually(t, "the guard is free", func() bool { return o.Guard.Since().IsZero() })
	m, err = s.Round(t.Context(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	require.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	assert.Less(t, m.Latency.Max(), hung)
	assert.Empty(t, late, "it is told once")
}

func TestRoundIsChargedToTheBudget(t *testing.T) {
	s := openFile(t, testenv.OnDisk(t), options(t))
	var budget admit.Budget
	round := measure.Round{Probe: write4k(), Budget: &budget, BytesPerDay: write4k().RoundBytes()}
	m, err := s.Round(t.Context(), round)
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	assert.True(t, budget.PaidOff.After(time.Now()))
	m, err = s.Round(t.Context(), round)
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeBusy, m.Outcome)
	assert.Contains(t, m.Reason, "used up")
	round.Probe = read4k()
	m, err = s.Round(t.Context(), round)
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, m.Outcome, "reads are not charged: %s", m.Reason)
}

// A round that does not say how much it wrote counts as a whole.
func TestACanceledRoundIsChargedToTheBudget(t *testing.T) {
	s := openFile(t, testenv.OnDisk(t), options(t))
	var budget admit.Budget
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	round := measure.Round{Probe: read4k(), Budget: &budget, BytesPerDay: write4k().RoundBytes()}
	_, err := s.Round(ctx, round)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, budget.PaidOff, "reads are not charged")
	round.Probe = write4k()
	_, err = s.Round(ctx, round)
	require.ErrorIs(t, err, context.Canceled)
	assert.True(t, budget.PaidOff.After(time.Now()))
}

// A whole round is one of blocks as large as the target takes them.
func TestACanceledRoundOfLargerBlocksIsChargedToTheBudget(t *testing.T) {
	s := openFile(t, testenv.Ext4On(t, testenv.LoopDevice(t, 200<<20, testenv.Options{LogicalBlockBytes: 4096})), options(t))
	require.EqualValues(t, 4096, s.Area.BlockBytes)
	p := write4k()
	p.BlockBytes = 512
	var budget admit.Budget
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Round(ctx, measure.Round{Probe: p, Budget: &budget, BytesPerDay: write4k().RoundBytes()})
	require.ErrorIs(t, err, context.Canceled)
	assert.True(t, budget.PaidOff.After(time.Now().Add(23*time.Hour)), "all of a day's share")
}

func TestRoundOnADevice(t *testing.T) {
	loop := testenv.LoopDevice(t, 32<<20, testenv.Options{Random: true})
	s := openLoop(t, loop.Path, options(t))
	require.NotNil(t, s.Pool)
	m, err := s.Round(context.Background(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	assert.Empty(t, openHere(t, loop.Path), "nothing is held open between rounds")
	written, err := s.Sample(context.Background(), 100)
	require.NoError(t, err)
	assert.InDelta(t, 1, written, 0)
}

// A device whose statistics are switched off looks idle, whatever others do on it.
func TestDeviceThatCountsNothing(t *testing.T) {
	loop := testenv.LoopDevice(t, 32<<20, testenv.Options{Random: true})
	s := openLoop(t, loop.Path, options(t))
	for _, statistics := range []string{"0", "1"} {
		require.NoError(t, os.WriteFile("/sys/dev/block/"+loop.Number+"/queue/iostats", []byte(statistics), 0o600))
		m, err := s.Round(context.Background(), measure.Round{Probe: read4k()})
		require.NoError(t, err)
		assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
		blind := slices.ContainsFunc(m.Warnings, func(w record.Warning) bool { return w.Code == record.WarnLoadBlind })
		assert.Equal(t, statistics == "0", blind, m.Warnings)
		assert.Equal(t, statistics == "0", m.Load.OthersIOs < 0, m.Load)
	}
}

func TestSampleOfADeviceNeverWritten(t *testing.T) {
	loop := testenv.LoopDevice(t, 32<<20, testenv.Options{})
	s := openLoop(t, loop.Path, options(t))
	written, err := s.Sample(context.Background(), 100)
	require.NoError(t, err)
	assert.Zero(t, written)
}

func TestCancelledRound(t *testing.T) {
	s := openFile(t, testenv.OnDisk(t), options(t))
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(assert.AnError)
	_, err := s.Round(ctx, measure.Round{Probe: read4k()})
	require.ErrorIs(t, err, assert.AnError)
}

func TestDeniedOfWhatCannotBeOpened(t *testing.T) {
	reason, err := measure.Denied(context.Background(), &guard.Guard{}, filepath.Join(t.TempDir(), "none"), "")
	require.NoError(t, err)
	assert.Empty(t, reason, "not there is no lack of rights")
}

func TestWrongSizeIsRefused(t *testing.T) {
	loop := testenv.LoopDevice(t, 32<<20, testenv.Options{})
	_, err := measure.Open(context.Background(), measure.Target{ID: "x", Path: loop.Path, Number: loop.Number, SizeBytes: 1}, options(t))
	require.ErrorContains(t, err, "it is being resized or replaced")
	assert.Empty(t, openHere(t, loop.Path))
}
