package drift_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// known returns a drive with a final baseline and rounds up to now.
func known(t *testing.T) *history {
	t.Helper()
	h := newHistory(t)
	h.run(day+6*time.Hour, 1, record.Conditions{})
	require.Equal(t, record.Stable, h.p50().State)
	return h
}

func (h *history) now() time.Time { return time.Unix(int64(h.minute)*60, 0) }

func (h *history) after(d time.Duration) []record.Drift { return h.track.Status(h.now().Add(d)).Drift }

func TestWhatWasNotComparedForAnHourIsUnknown(t *testing.T) {
	h := known(t)
	for _, d := range h.after(50 * time.Minute) {
		assert.Equal(t, record.Stable, d.State, d.Statistic)
		assert.Positive(t, d.Ratio)
		assert.Nil(t, d.Unjudged)
	}
	for _, d := range h.after(62 * time.Minute) {
		assert.Equal(t, record.Unknown, d.State, d.Statistic)
		assert.Equal(t, [3]float64{}, [3]float64{d.Ratio, d.Lower, d.Upper}, "what is not known is absent")
		assert.Zero(t, d.Now)
		assert.Nil(t, d.Over)
		require.NotNil(t, d.Unjudged)
		assert.Equal(t, record.ReasonNoRounds, d.Unjudged.Reason)
		assert.WithinDuration(t, h.now(), d.Unjudged.Since, 5*time.Minute, "since it was last compared")
		assert.Equal(t, d.Unjudged.Since, d.Since)
	}
	assert.False(t, h.track.Known(h.now().Add(62*time.Minute)))
}

func TestWhatIsUnknownIsKnownAgainWithTheNextBlock(t *testing.T) {
	h := known(t)
	h.minute += 5 * 60
	h.run(3*time.Minute, 1, record.Conditions{})
	assert.Equal(t, record.Unknown, h.p50().State, "a few rounds are no block yet")
	h.run(8*time.Minute, 1, record.Conditions{})
	assert.Equal(t, record.Stable, h.p50().State)
	assert.Less(t, h.p50().Over.Length(), 15*time.Minute, "what was before the gap is not of now")
}

func TestARegressionStaysAndItsRatioDoesNot(t *testing.T) {
	h := known(t)
	h.run(2*time.Hour, 1.5, record.Conditions{})
	before := h.p50()
	require.Equal(t, record.Regressed, before.State)
	d := h.after(3 * time.Hour)[0]
	assert.Equal(t, record.Regressed, d.State, "until it is seen to be over")
	assert.Equal(t, before.Since, d.Since)
	assert.Equal(t, before.Cause, d.Cause)
	assert.Zero(t, d.Ratio)
	require.NotNil(t, d.Unjudged)
	assert.Equal(t, record.ReasonNoRounds, d.Unjudged.Reason)
}

func TestALoadThatWasNeverSeenIsNotStable(t *testing.T) {
	h := known(t)
	for range 90 { // slower by what a queue at that load may explain
		h.minute++
		x := 80e-6 * 3
		h.track.AddRound(drift.Round{Time: h.now(), Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Utilisation: 0.85}, record.Conditions{})
	}
	d := h.after(0)[0]
	assert.Equal(t, record.Unknown, d.State)
	require.NotNil(t, d.Unjudged)
	assert.Equal(t, record.ReasonLoad, d.Unjudged.Reason)
	assert.Zero(t, d.Ratio)
}

// The first day was one of a restore: the drive never had as little to do as since. It may rightly be a little slower, as idle hosts
// sleep, but no more than that.
func TestLessLoadThanTheFirstDaySawIsJudged(t *testing.T) {
	for slower, want := range map[float64]record.DriftState{1.05: record.Unknown, 1.6: record.Regressed} {
		h := newHistory(t)
		at := func(d time.Duration, slower, utilisation float64) {
			for range int(d / time.Minute) {
				h.minute++
				x := 80e-6 * slower * (1 + 0.03*float64(h.minute*7%17-8)/8)
				h.track.AddRound(drift.Round{Time: h.now(), Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Utilisation: utilisation}, record.Conditions{})
			}
		}
		at(26*time.Hour, 1, 0.6)
		at(2*time.Hour, slower, 0.05)
		assert.Equal(t, want, h.after(0)[0].State, slower)
	}
}

func TestTailsWaitForTheirDay(t *testing.T) {
	h := newHistory(t)
	h.run(30*time.Minute, 1, record.Conditions{})
	for _, d := range h.after(0) {
		assert.Equal(t, record.Learning, d.State)
		assert.Equal(t, record.ReasonLearning, d.Unjudged.Reason)
	}
	h.run(5*time.Hour, 1, record.Conditions{})
	for _, d := range h.after(0) {
		if !d.Statistic.IsTail() {
			assert.Equal(t, record.Stable, d.State, d.Statistic)
			continue
		}
		assert.Equal(t, record.Waiting, d.State, d.Statistic)
		require.NotNil(t, d.Unjudged)
		assert.Equal(t, record.ReasonFirstDay, d.Unjudged.Reason)
		assert.WithinDuration(t, time.Unix(2*3600, 0), d.Unjudged.Since, 5*time.Minute, "since there is a baseline")
	}
	h.run(day, 1, record.Conditions{})
	for _, d := range h.after(0) {
		assert.Equal(t, record.Stable, d.State, d.Statistic)
	}
}

func TestTrafficThatTheBaselineDoesNotHaveIsNotJudged(t *testing.T) {
	track := drift.NewTrafficTracker(drift.Default())
	now := start()
	for range 36 * 60 {
		now = now.Add(time.Minute)
		track.AddRound(drift.Round{Time: now, Values: drift.Values{200e-6}, Work: drift.Work{Known: true, Reads: 100, ReadBytes: 100 << 12}}, record.Conditions{})
	}
	list := track.Status(now).Drift
	assert.Equal(t, record.Stable, list[0].State)
	for _, d := range list[1:] {
		assert.Equal(t, record.Waiting, d.State, d.Statistic)
		assert.Equal(t, record.ReasonNoLike, d.Unjudged.Reason)
	}
}

func TestAPlannedPauseKeepsWhatIsKnown(t *testing.T) {
	h := known(t)
	night := h.now().Add(8 * time.Hour)
	h.track.Pause(h.now(), night)
	assert.Equal(t, record.Stable, h.track.Status(night.Add(50 * time.Minute)).Drift[0].State)
	assert.Equal(t, record.Unknown, h.track.Status(night.Add(62 * time.Minute)).Drift[0].State, "but no longer than without it")

	late := known(t)
	late.track.Pause(late.now().Add(2*time.Hour), late.now().Add(9*time.Hour))
	assert.Equal(t, record.Unknown, late.after(9 * time.Hour)[0].State, "what was unknown before is so after it")
}

func TestRareRoundsAreStaleAfterTwoBlocksOfThem(t *testing.T) {
	h := known(t)
	h.track.Every(40 * time.Minute) // a block takes an hour
	for n := range 12 {
		h.minute += 39
		h.run(time.Minute, 1, record.Conditions{})
		if n >= 6 { // the first block is over
			assert.Equal(t, record.Stable, h.p50().State)
		}
	}
	block, ok := h.track.LastBlock()
	require.True(t, ok)
	assert.Equal(t, time.Hour, h.track.Explain(h.now()).BlockLength)
	over := block.Time.Add(time.Hour).Sub(h.now())
	assert.Equal(t, record.Stable, h.after(over + 110*time.Minute)[0].State)
	assert.Equal(t, record.Unknown, h.after(over + 130*time.Minute)[0].State)
}

// Rounds up to an hour apart are all compared, those two hours apart never are.
func TestLongestInterval(t *testing.T) {
	for interval, want := range map[time.Duration]record.DriftState{
		drift.LongestInterval: record.Stable, 2 * drift.LongestInterval: record.Unknown,
	} {
		h := known(t)
		h.track.Every(interval)
		for n := range 48 {
			h.minute += int(interval/time.Minute) - 1
			h.run(time.Minute, 1, record.Conditions{})
			if n >= 3 {
				assert.Equal(t, want, h.p50().State, "%v, round %d", interval, n)
			}
		}
	}
}

func TestAFastVerdictHasARatioOfItsOwnRounds(t *testing.T) {
	h := known(t)
	for _, e := range h.run(4*time.Minute, 3, record.Conditions{}) {
		if e.To == record.Regressed && e.Statistic == record.LatencyP50 {
			assert.Equal(t, record.ByLargeShift, e.Cause)
			assert.InDelta(t, 3, e.Ratio, 0.1)
		}
	}
	d := h.p50()
	require.Equal(t, record.Regressed, d.State)
	assert.InDelta(t, 3, d.Ratio, 0.1)
	require.NotNil(t, d.Over)
	assert.False(t, d.Over.From.Before(d.Since.Add(-time.Second)), "of the time since the onset alone")
}

func TestTheFiguresOfALineAreOfOneSpan(t *testing.T) {
	h := known(t)
	d := h.p50()
	require.NotNil(t, d.Over)
	assert.InDelta(t, time.Hour, d.Over.Length(), float64(6*time.Minute))
	was := h.track.Status(h.now()).Baseline.Values[record.LatencyP50]
	assert.InDelta(t, d.Ratio, d.Now/was, 1e-9, "now is the baseline times the ratio")
	iops := h.after(0)[3]
	assert.InDelta(t, iops.Ratio, h.track.Status(h.now()).Baseline.Values[record.IOPS]/iops.Now, 1e-9)

	h.run(90*time.Minute, 1.5, record.Conditions{})
	d = h.p50()
	require.Equal(t, record.Regressed, d.State)
	assert.WithinDuration(t, d.Since, d.Over.From, 10*time.Minute, "of a drift, since its onset")
}

func TestARestartDoesNotMakeStaleFresh(t *testing.T) {
	h := known(t)
	data, err := json.Marshal(h.track.State())
	require.NoError(t, err)
	var state, before drift.State
	require.NoError(t, json.Unmarshal(data, &state))
	require.NoError(t, json.Unmarshal(data, &before))
	before.Compared = nil // as an older version wrote it
	for _, s := range []drift.State{state, before} {
		again := drift.NewTracker(drift.Default())
		require.NoError(t, again.Restore(s))
		want, err := json.Marshal(h.after(0))
		require.NoError(t, err)
		got, err := json.Marshal(again.Status(h.now()).Drift)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(got))
		assert.Equal(t, record.Unknown, again.Status(h.now().Add(3 * time.Hour)).Drift[0].State)
	}
}

func TestAClockThatWasSetBackDoesNotKeepWhatIsKnown(t *testing.T) {
	h := known(t)
	h.minute -= 20 * 60
	h.run(10*time.Minute, 1, record.Conditions{})
	assert.Equal(t, record.Unknown, h.after(2 * time.Hour)[0].State)
}

// By the monotonic clock, it would not be noticed that the clock was set back.
func TestRoundsGoByTheWallClock(t *testing.T) {
	now := time.Now()
	for _, tracker := range []*drift.Tracker{drift.NewTracker(drift.Default()), drift.NewTrafficTracker(drift.Default())} {
		tracker.AddRound(drift.Round{Time: now, Values: drift.Values{1e-4, 1e-4, 1e-4, 1e4}}, record.Conditions{})
		assert.Equal(t, now.Round(0), tracker.LastRound())
	}
}
