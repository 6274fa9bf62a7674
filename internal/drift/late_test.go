package drift_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// hourly returns a tracker that knows an early baseline after an hour of a round a minute.
func hourly() *drift.Tracker {
	s := drift.Default()
	s.BaselineRounds = 60
	return drift.NewTracker(s)
}

func TestADriveThatIsSlowThroughItsFirstDayIsLearnedLater(t *testing.T) {
	h := newHistory(t)
	h.track = hourly()
	h.run(90*time.Minute, 1, record.Conditions{})
	h.run(2*day, 2, record.Conditions{})
	require.Equal(t, record.Regressed, h.p50().State)
	h.run(2*time.Hour, 1, record.Conditions{})
	require.Equal(t, record.Waiting, h.p50().State, "nothing says how its median varies")
	assert.Equal(t, record.ReasonFirstDay, h.p50().Unjudged.Reason)

	h.run(day, 1, record.Conditions{})
	require.Equal(t, record.Stable, h.p50().State)
	h.run(3*time.Hour, 1.3, record.Conditions{})
	assert.Equal(t, record.Regressed, h.p50().State)
}

func TestWritesThatTheFirstDayHardlyHadAreLearnedLater(t *testing.T) {
	track := drift.NewTrafficTracker(drift.Default())
	now := start()
	run := func(d time.Duration, writes, slower float64) record.Drift {
		for range int(d / time.Minute) {
			now = now.Add(time.Minute)
			x := slower * (1 + 0.03*float64(now.Unix()/60*7%17-8)/8)
			values := drift.Values{200e-6 * x}
			if writes > 0 {
				values[1] = 50e-6 * x
			}
			track.AddRound(drift.Round{Time: now, Values: values, Work: drift.Work{
				Known: true, Reads: 100, ReadBytes: 100 << 12, Writes: writes, WrittenBytes: writes * 4096,
			}}, record.Conditions{})
		}
		return track.Status(now).Drift[1]
	}
	run(36*time.Hour, 0, 1)
	d := run(2*time.Hour, 100, 1)
	require.Equal(t, record.Waiting, d.State)
	assert.Equal(t, record.ReasonFirstDay, d.Unjudged.Reason)
	for range 24 {
		d = run(time.Hour, 100, 1)
		require.NoError(t, drift.NewTrafficTracker(drift.Default()).Restore(track.State()))
	}
	require.Equal(t, record.Stable, d.State)
	assert.InDelta(t, 50e-6, track.Status(now).Baseline.Values[record.OthersWriteLatency], 2e-6)
	assert.Equal(t, record.Regressed, run(3*time.Hour, 100, 1.5).State)
}

func TestAPinnedLevelIsKeptForWhatIsLearnedLater(t *testing.T) {
	h := newHistory(t)
	h.track = hourly()
	h.run(90*time.Minute, 1, record.Conditions{})
	h.run(2*day, 2, record.Conditions{})
	pinned, err := h.track.State().Pin()
	require.NoError(t, err)
	require.NoError(t, h.track.Restore(pinned))
	before := h.track.Status(h.now()).Baseline.Values[record.LatencyP50]
	h.run(day+3*time.Hour, 1.1, record.Conditions{})
	assert.InDelta(t, before, h.track.Status(h.now()).Baseline.Values[record.LatencyP50], before/1000)
	assert.InDelta(t, 1.1, h.p50().Ratio, 0.02)
}

// The users begin to write when they turn to other work, which is learned with the level of the epoch before. There is none for
// writes.
func TestWritesThatBeginWithOtherWorkHaveALevelOfTheirOwn(t *testing.T) {
	track := drift.NewTrafficTracker(drift.Default())
	now := start()
	run := func(d time.Duration, size, writes float64) {
		for range int(d / time.Minute) {
			now = now.Add(time.Minute)
			x := 1 + 0.03*float64(now.Unix()/60*7%17-8)/8
			values := drift.Values{200e-6 * x}
			if writes > 0 {
				values[1] = 1e-3 * x
			}
			track.AddRound(drift.Round{Time: now, Values: values, Work: drift.Work{
				Known: true, Reads: 100, ReadBytes: 100 * size, Writes: writes, WrittenBytes: writes * 4096,
			}}, record.Conditions{})
		}
	}
	run(36*time.Hour, 4096, 0)
	run(40*time.Hour, 65536, 100)
	d := track.Status(now).Drift[1]
	assert.Equal(t, record.Stable, d.State)
	assert.InDelta(t, 1, d.Ratio, 0.05)
	assert.InDelta(t, 1e-3, track.Status(now).Baseline.Values[record.OthersWriteLatency], 5e-5)
}
