package measure_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// openBusy opens a loop device on which others keep atOnce reads in flight, without limits of the
// user.
func openBusy(t *testing.T, atOnce int) *measure.Session {
	t.Helper()
	o := options(t)
	o.Limits = admit.Limits{}
	loop := testenv.LoopDevice(t, 32<<20, testenv.Options{Random: true})
	s := openLoop(t, loop.Path, o)
	testenv.Readers(t, loop.Path, atOnce)
	return s
}

// others executes rounds until the load of others is as wanted, and returns the last measurement.
func others(t *testing.T, s *measure.Session, r measure.Round, wanted func(record.Load) bool) record.Measurement {
	t.Helper()
	var m record.Measurement
	const span = time.Second // long enough for the load of others to show
	testenv.EventuallyWithin(t, testenv.Patience, span, "others are at work", func() bool {
		var err error
		m, err = s.Round(t.Context(), r)
		require.NoError(t, err)
		return wanted(m.Load)
	})
	return m
}

// A process that reads three blocks at a time keeps a drive busy all the time, but leaves most of its
// capacity free.
func TestBusyTimeDoesNotKeepADriveFromBeingMeasured(t *testing.T) {
	s := openBusy(t, 3)
	m := others(t, s, measure.Round{Probe: read4k()}, func(l record.Load) bool { return l.Utilisation > 0.8 })
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	assert.Less(t, m.Load.MeanInFlight, 5.0)
	assert.False(t, m.Loaded)
}

// However busy the device, a small round runs when it is overdue, unless a limit of the user forbids
// it.
func TestASmallRoundGoesInHoweverBusyTheDriveIs(t *testing.T) {
	s := openBusy(t, 128)
	probe := read4k()
	probe.IOs, probe.WarmupIOs, probe.QueueDepth = 256, 16, 64
	m := others(t, s, measure.Round{Probe: probe}, func(l record.Load) bool { return l.MeanInFlight > 32 })
	assert.Equal(t, record.OutcomeBusy, m.Outcome)
	assert.Contains(t, m.Reason, "I/Os in flight, above the limit of 32")
	assert.False(t, m.Loaded)

	m = others(t, s, measure.Round{Probe: probe, Overdue: true}, func(l record.Load) bool { return l.MeanInFlight > 32 })
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	assert.True(t, m.Loaded)
	assert.Positive(t, m.Latency.Count()) // some blocks are known even to a new pool
	assert.LessOrEqual(t, m.Latency.Count(), int64(32))
	assert.LessOrEqual(t, m.Warmup.Count(), int64(8))

	o := options(t)
	o.Limits = admit.Limits{}
	testenv.EventuallyWithin(t, testenv.Patience, time.Second, "the first round of a session is forced", func() bool {
		var err error
		m, err = openLoop(t, s.Path, o).Round(t.Context(), measure.Round{Probe: probe, Overdue: true})
		require.NoError(t, err)
		return m.Loaded
	})
	assert.LessOrEqual(t, m.ReadBytes, int64(64*4096), "with the search of a pool that knows no block")
}

// A run of ours on the drive is not the load of others, and does not show what they can have the drive do.
func TestARunOfOursIsNotTheLoadOfOthers(t *testing.T) {
	testenv.Installed(t, "fio")
	o := options(t)
	running := false
	o.Lock = func() (func(), error) {
		if running {
			return nil, store.ErrLocked
		}
		return func() {}, nil
	}
	loop := testenv.LoopDevice(t, 32<<20, testenv.Options{Random: true})
	s := openLoop(t, loop.Path, o)
	m := others(t, s, measure.Round{Probe: read4k()}, func(l record.Load) bool { return l.Utilisation >= 0 })
	require.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	most := s.Most()
	running = true
	t.Run("run", func(t *testing.T) {
		testenv.Readers(t, loop.Path, 16)
		rounds := 0
		others(t, s, measure.Round{Probe: read4k()}, func(record.Load) bool { rounds++; return rounds > 2 })
	})
	running = false
	m, err := s.Round(t.Context(), measure.Round{Probe: read4k()})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	assert.Less(t, m.Load.Utilisation, 0.5)
	assert.Equal(t, most.IOs, s.Most().IOs)
}

// An overdue probe runs at its full size on a device that is not busy.
func TestAnOverdueProbeOnAnIdleDevice(t *testing.T) {
	s := openFile(t, testenv.OnDisk(t), options(t))
	m, err := s.Round(t.Context(), measure.Round{Probe: read4k(), Overdue: true})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	assert.False(t, m.Loaded)

	o := options(t)
	o.Limits.MaxInFlight = new(int64(-1))
	s = openFile(t, testenv.OnDisk(t), o)
	m, err = s.Round(t.Context(), measure.Round{Probe: read4k(), Overdue: true})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeBusy, m.Outcome, "a limit that a user has set")
	assert.False(t, m.Loaded)
}
