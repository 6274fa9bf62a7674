package drift_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// start is when the tests' rounds begin. It lies on the edge of a block.
func start() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }

func firmware(version string) record.Conditions {
	return record.Conditions{Model: "SAMSUNG MZQL23T8HCLS-00A07", Firmware: version}
}

// measured returns a round of 100 I/Os with the given median; p95 is 1.25 times it and p99 twice.
func measured(at time.Time, p50 time.Duration, conditions record.Conditions) record.Measurement {
	latency := record.Histogram{{Latency: p50, Count: 50}, {Latency: p50 * 5 / 4, Count: 45}, {Latency: 2 * p50, Count: 5}}
	return record.Measurement{
		Device: "eui.1", Probe: "read-4k", Start: at, Outcome: record.OutcomeOK,
		Duration: latency.Sum(), Latency: latency, Conditions: conditions,
		Load: record.Load{Utilisation: 0.02, IOPressure: -1, OthersIOs: -1},
	}
}

// feeder gives a tracker one round a minute.
type feeder struct {
	tracker    *drift.Tracker
	now        time.Time
	conditions record.Conditions
}

func newFeeder(s drift.Settings) *feeder {
	return &feeder{tracker: drift.NewTracker(s), now: start(), conditions: firmware("A")}
}

func (f *feeder) add(p50 time.Duration) []drift.Event {
	events := f.tracker.Add(measured(f.now, p50, f.conditions))
	f.now = f.now.Add(time.Minute)
	return events
}

// run adds rounds that vary by a few percent around p50, as those of a drive do.
func (f *feeder) run(rounds int, p50 time.Duration) []drift.Event {
	var events []drift.Event
	for i := range rounds {
		events = append(events, f.add(p50+p50*time.Duration(i*7%11-5)/300)...)
	}
	return events
}

func (f *feeder) status() drift.Status { return f.tracker.Status(f.now) }

// last returns when the last round was.
func (f *feeder) last() time.Time { return f.now.Add(-time.Minute) }

func small() drift.Settings {
	s := drift.Default()
	s.BaselineRounds = 20
	return s
}

func states(s drift.Status) []record.DriftState {
	list := make([]record.DriftState, len(s.Drift))
	for i, d := range s.Drift {
		list[i] = d.State
	}
	return list
}

func all(state record.DriftState) []record.DriftState {
	return []record.DriftState{state, state, state, state}
}

// middleOnly returns the states while tails are not judged yet.
func middleOnly(state record.DriftState) []record.DriftState {
	return []record.DriftState{state, record.Waiting, record.Waiting, state}
}

func TestWindowHoldsTheRecentRoundsOnly(t *testing.T) {
	f := newFeeder(small())
	f.add(50 * time.Microsecond)
	for range 5 {
		f.add(100 * time.Microsecond)
	}
	w := f.status().Window
	require.NotNil(t, w)
	assert.Equal(t, record.Window{
		Span: 5 * time.Minute, Rounds: 5,
		Latency: record.Histogram{
			{Latency: 100 * time.Microsecond, Count: 250},
			{Latency: 125 * time.Microsecond, Count: 225},
			{Latency: 200 * time.Microsecond, Count: 25},
		},
		IOPS: w.IOPS, Percentiles: w.Percentiles,
	}, *w)
	assert.InDelta(t, 100/(11.625e-3), w.IOPS, 0.01)

	assert.NotNil(t, f.tracker.Status(f.last().Add(5*time.Minute-1)).Window)
	assert.Nil(t, f.tracker.Status(f.last().Add(5*time.Minute)).Window, "a window whose last round has left it says nothing")
}

func TestLearningProgressAndFirstBaseline(t *testing.T) {
	f := newFeeder(small())
	assert.Equal(t, drift.Status{LearningGoal: 20, Drift: f.status().Drift}, f.status())
	events := f.run(19, 100*time.Microsecond)
	assert.Empty(t, events)
	s := f.status()
	assert.Equal(t, 19, s.LearningRounds)
	assert.Nil(t, s.Baseline)
	assert.Equal(t, all(record.Learning), states(s))

	events = f.add(100 * time.Microsecond)
	require.Len(t, events, 1)
	assert.True(t, events[0].Learned)
	assert.Equal(t, f.last(), events[0].Time)
	s = f.status()
	require.NotNil(t, s.Baseline)
	assert.Equal(t, firmware("A"), s.Baseline.Conditions)
	assert.Equal(t, f.last(), s.Baseline.Learned)
	assert.Equal(t, 20, s.Baseline.Rounds)
	assert.InDelta(t, 100e-6, s.Baseline.Values[record.LatencyP50], 1e-6)
	assert.InDelta(t, 125e-6, s.Baseline.Values[record.LatencyP95], 1e-6)
	assert.InDelta(t, 200e-6, s.Baseline.Values[record.LatencyP99], 2e-6)
	assert.InDelta(t, 8602, s.Baseline.Values[record.IOPS], 90)
	assert.Equal(t, middleOnly(record.Stable), states(s))
}

func TestRoundsThatDidNotMeasureTheDeviceCountForNothing(t *testing.T) {
	bad := func(change func(*record.Measurement)) func(time.Time) record.Measurement {
		return func(at time.Time) record.Measurement {
			m := measured(at, time.Millisecond, firmware("A"))
			change(&m)
			return m
		}
	}
	tests := map[string]struct {
		make  func(time.Time) record.Measurement
		shown bool
	}{
		"small pool": {bad(func(m *record.Measurement) {
			m.Warnings = []record.Warning{{Code: record.WarnPoolSmall, Text: "12 blocks"}}
		}), true},
		"nothing measured": {bad(func(m *record.Measurement) { m.Latency, m.Duration = nil, 0 }), false},
		"no duration":      {bad(func(m *record.Measurement) { m.Duration = 0 }), false},
	}
	for _, o := range record.Outcomes() {
		if o != record.OutcomeOK {
			tests[string(o)] = struct {
				make  func(time.Time) record.Measurement
				shown bool
			}{bad(func(m *record.Measurement) { m.Outcome = o }), false}
		}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFeeder(small())
			for range 40 {
				assert.Empty(t, f.tracker.Add(tt.make(f.now)))
				f.now = f.now.Add(time.Minute)
			}
			assert.Zero(t, f.status().LearningRounds, "not learned from")
			assert.Equal(t, tt.shown, f.status().Window != nil)

			f.run(30, 100*time.Microsecond)
			require.NotNil(t, f.status().Baseline)
			for range 60 {
				assert.Empty(t, f.tracker.Add(tt.make(f.now)), "not compared")
				f.now = f.now.Add(time.Minute)
			}
			assert.Equal(t, middleOnly(record.Unknown), states(f.status()), "nothing was compared for an hour")
		})
	}
}

func TestChangedConditionsBeginAnEpochAndKnownOnesComeBack(t *testing.T) {
	f := newFeeder(small())
	f.run(20, 100*time.Microsecond)
	first := *f.status().Baseline

	f.conditions = firmware("B")
	events := f.add(80 * time.Microsecond)
	require.Len(t, events, 1)
	assert.Equal(t, f.last(), events[0].Time)
	assert.Equal(t, []record.Change{{Condition: "firmware", From: "A", To: "B"}}, events[0].Changes)
	s := f.status()
	assert.Equal(t, 1, s.LearningRounds)
	assert.Nil(t, s.Baseline)
	assert.Equal(t, all(record.Learning), states(s))
	require.NotNil(t, s.Window)
	assert.Equal(t, 1, s.Window.Rounds, "rounds of another epoch do not belong to the window")

	f.run(19, 80*time.Microsecond)
	second := f.status().Baseline
	require.NotNil(t, second)
	assert.InDelta(t, 80e-6, second.Values[record.LatencyP50], 1e-6)

	f.conditions = firmware("A")
	events = f.add(100 * time.Microsecond)
	require.Len(t, events, 1)
	assert.Equal(t, []record.Change{{Condition: "firmware", From: "B", To: "A"}}, events[0].Changes)
	assert.Equal(t, first, *f.status().Baseline)
	assert.Equal(t, middleOnly(record.Stable), states(f.status()))

	all := f.tracker.State().Baselines()
	require.Len(t, all, 2)
	assert.Equal(t, []record.Conditions{firmware("B"), firmware("A")}, []record.Conditions{all[0].Conditions, all[1].Conditions},
		"the current one is last")
}

func TestConditionsThatBecomeKnownAreNoChange(t *testing.T) {
	f := newFeeder(small())
	f.run(20, 100*time.Microsecond)
	f.conditions.DriveCache = record.EachOf(record.On)
	assert.Empty(t, f.add(100*time.Microsecond))
	require.NotNil(t, f.status().Baseline, "the baseline stays")
	all := f.tracker.State().Baselines()
	require.Len(t, all, 1)
	assert.Equal(t, f.conditions, all[0].Conditions)
}

func TestEpochsAreBounded(t *testing.T) {
	f := newFeeder(small())
	for i := range 40 {
		f.conditions = firmware(string(rune('A' + i)))
		f.add(100 * time.Microsecond)
	}
	known := f.tracker.State().Baselines()
	require.Len(t, known, 16)
	assert.Equal(t, firmware(string(rune('A'+39))), known[15].Conditions)
	assert.Equal(t, firmware(string(rune('A'+24))), known[0].Conditions, "the oldest went first")
}

// reopened returns a tracker restored from the state of f's tracker, which went through JSON.
func reopened(t *testing.T, f *feeder, s drift.Settings) *drift.Tracker {
	t.Helper()
	data, err := json.Marshal(f.tracker.State())
	require.NoError(t, err)
	var state drift.State
	require.NoError(t, json.Unmarshal(data, &state))
	again := drift.NewTracker(s)
	require.NoError(t, again.Restore(state))
	return again
}

func TestStateSurvivesInEveryStage(t *testing.T) {
	for name, rounds := range map[string]int{"nothing yet": 0, "learning": 7, "learned": 20, "later": 300} {
		t.Run(name, func(t *testing.T) {
			f := newFeeder(small())
			f.run(rounds, 100*time.Microsecond)
			want := f.status()
			want.Window = nil // it fills again within minutes
			f.tracker = reopened(t, f, small())
			got := f.status()
			assert.Equal(t, want.Baseline, got.Baseline)
			assert.Equal(t, want.LearningRounds, got.LearningRounds)
			assert.Equal(t, states(want), states(got))
			assert.Equal(t, want.Drift[0].Since, got.Drift[0].Since)
			f.run(max(0, 20-rounds), 100*time.Microsecond)
			require.NotNil(t, f.status().Baseline)
			assert.GreaterOrEqual(t, f.status().Baseline.Rounds, 20)
		})
	}
}

func TestClockSetBack(t *testing.T) {
	f := newFeeder(small())
	f.run(60, 100*time.Microsecond)
	f.now = f.now.Add(-400 * 24 * time.Hour)
	assert.Empty(t, f.run(10, 100*time.Microsecond))
	w := f.status().Window
	require.NotNil(t, w)
	assert.Equal(t, 5, w.Rounds, "rounds of a future that never was have left the window")
	assert.Equal(t, middleOnly(record.Stable), states(f.status()))

	events := f.run(60, 300*time.Microsecond)
	require.NotEmpty(t, events, "the drive is still watched")
	assert.Equal(t, middleOnly(record.Regressed), states(f.status()))
}

// Without Round, times would compare by their monotonic readings, as if the clock had never been set. Those readings
// do not survive a restart.
func TestTimesAreThoseOfTheClock(t *testing.T) {
	tracker := drift.NewTracker(small())
	now := time.Now()
	tracker.Add(measured(now, 100*time.Microsecond, firmware("A")))
	assert.Equal(t, now.Round(0), tracker.State().Last)
	assert.Equal(t, now.Round(0), tracker.State().Epochs[0].Started)
}

func TestImportedBaselineIsComparedWithAtOnce(t *testing.T) {
	donor := newFeeder(small())
	donor.run(60, 100*time.Microsecond)
	b := donor.tracker.State().Baselines()[0]

	f := newFeeder(small())
	imported := f.now.Add(30 * 24 * time.Hour)
	state, err := drift.State{}.WithBaseline(b, imported)
	require.NoError(t, err)
	f.now = imported
	require.NoError(t, f.tracker.Restore(state))
	f.run(2, 300*time.Microsecond)
	for _, d := range f.status().Drift {
		require.NotNil(t, d.Unjudged, d.Statistic)
		assert.Equal(t, imported, d.Unjudged.Since, "%s: not since its donor learned", d.Statistic)
		assert.NotEqual(t, record.ReasonFewRounds, d.Unjudged.Reason, "%s: so far there are enough", d.Statistic)
	}
	f.run(58, 300*time.Microsecond)
	require.NotNil(t, f.status().Baseline)
	assert.Equal(t, b.Values, f.status().Baseline.Values)
	assert.Equal(t, middleOnly(record.Regressed), states(f.status()))

	t.Run("the current epoch stays current", func(t *testing.T) {
		other := b
		other.Conditions = firmware("B")
		state, err := donor.tracker.State().WithBaseline(other, imported)
		require.NoError(t, err)
		known := state.Baselines()
		require.Len(t, known, 2)
		assert.Equal(t, firmware("A"), known[1].Conditions)
	})
	t.Run("refused", func(t *testing.T) {
		_, err := drift.State{}.WithBaseline(record.Baseline{Conditions: firmware("A")}, imported)
		require.EqualError(t, err, "import a baseline: it was never learned")
		broken := b
		broken.Values = map[record.Statistic]float64{record.LatencyP50: -1}
		_, err = drift.State{}.WithBaseline(broken, imported)
		require.Error(t, err)
	})
}

func TestRestoreRefusesWhatNoTrackerWrote(t *testing.T) {
	for name, text := range map[string]string{
		"a state that is none":         `{"verdicts":{"iops":{"state":"fine","since":"2026-01-01T00:00:00Z"}}}`,
		"a verdict without an epoch":   `{"verdicts":{"iops":{"state":"stable","since":"2026-01-01T00:00:00Z"}}}`,
		"a verdict without a baseline": `{"epochs":[{}],"verdicts":{"iops":{"state":"regressed","since":"2026-01-01T00:00:00Z"}}}`,
		"a level of the future":        `{"epochs":[{"assumed":[0,9223372036854775807,0,0]}]}`,
		"a baseline without values":    `{"epochs":[{"learned":"2026-01-01T00:00:00Z","values":{"iops":1}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var s drift.State
			require.NoError(t, json.Unmarshal([]byte(text), &s))
			f := newFeeder(small())
			f.run(30, 100*time.Microsecond)
			before := f.status()
			require.Error(t, f.tracker.Restore(s))
			assert.Equal(t, before, f.status(), "nothing changed")
		})
	}
}

func FuzzRestore(f *testing.F) {
	for _, rounds := range []int{0, 5, 25, 200} {
		feed := newFeeder(small())
		feed.run(rounds, 100*time.Microsecond)
		feed.run(rounds/2, 300*time.Microsecond)
		data, err := json.Marshal(feed.tracker.State())
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(`{"epochs":[{}]}`))
	f.Add([]byte(`{"epochs":[{"samples":[[1,1,1,1],[1]]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s drift.State
		if json.Unmarshal(data, &s) != nil {
			return
		}
		feed := newFeeder(small())
		if feed.tracker.Restore(s) != nil {
			return
		}
		feed.run(40, 100*time.Microsecond)
		got := feed.status()
		assert.Len(t, got.Drift, 4)
		again, err := json.Marshal(feed.tracker.State())
		require.NoError(t, err)
		var back drift.State
		require.NoError(t, json.Unmarshal(again, &back))
		require.NoError(t, drift.NewTracker(small()).Restore(back), "what a tracker writes it takes back")
	})
}

func TestAPinnedBaselineKeepsItsLevel(t *testing.T) {
	f := newFeeder(drift.Default())
	f.run(250, 100*time.Microsecond) // provisional
	pinned, err := f.tracker.State().Pin()
	require.NoError(t, err)
	assert.True(t, pinned.Pinned(nil))
	assert.False(t, pinned.Pinned(&record.Conditions{Firmware: "Z"}))
	free := f.tracker.State()
	assert.False(t, free.Pinned(nil), "the state it came from is as before")
	before := f.status().Baseline.Values

	levels := map[bool]float64{}
	for _, pin := range []bool{true, false} {
		g := newFeeder(drift.Default())
		g.now = f.now
		state := free
		if pin {
			state = pinned
		}
		require.NoError(t, g.tracker.Restore(state))
		g.run(1500, 104*time.Microsecond) // too little to be a drift, but it moves what is learned
		status := g.status()
		require.Equal(t, record.Final, status.Baseline.Maturity)
		assert.Equal(t, pin, status.Baseline.Pinned)
		levels[pin] = status.Baseline.Values[record.LatencyP50]
		if pin {
			assert.Equal(t, before, status.Baseline.Values)
			assert.InDelta(t, 1.04, status.Drift[0].Ratio, 0.01, "it is compared with what was pinned")
		}
	}
	assert.Greater(t, levels[false], 1.02*levels[true])

	_, err = drift.State{}.Pin()
	require.ErrorIs(t, err, drift.ErrNotLearned)
}

func TestPinnedEpochsOutliveOthers(t *testing.T) {
	f := newFeeder(small())
	f.run(20, 80*time.Microsecond)
	state, err := f.tracker.State().Pin()
	require.NoError(t, err)
	require.NoError(t, f.tracker.Restore(state))
	for i := range 30 {
		f.conditions = firmware(string(rune('a' + i)))
		f.add(80 * time.Microsecond)
	}
	kept := f.tracker.State().Baselines()
	assert.Len(t, kept, 16)
	assert.Equal(t, firmware("A"), kept[0].Conditions)
	assert.True(t, kept[0].Pinned)
}

// A few rounds of the first minutes are as fast as the drive is without its limit. Such an outlier must not square
// the limit of the alarm.
func TestAMixedStartHidesNoFarSlowerDrive(t *testing.T) {
	f := newFeeder(drift.Settings{BaselineRounds: 24})
	f.run(13, 1100*time.Microsecond)
	f.run(11, 24*time.Millisecond)
	f.run(12*60, 125*time.Millisecond)
	assert.Equal(t, record.Regressed, f.status().Drift[0].State)
}

// Rounds that varied a lot while the baseline was early hide a drive that is four times slower. Nobody knows then that it is well.
func TestAnEarlyBaselineThatHidesALotIsNotGreen(t *testing.T) {
	f := newFeeder(drift.Settings{BaselineRounds: 24})
	f.run(18, 80*time.Microsecond)
	f.run(6, 300*time.Microsecond)
	f.run(10, 320*time.Microsecond)
	p50 := f.status().Drift[0]
	require.Equal(t, record.Waiting, p50.State)
	assert.InDelta(t, 4, p50.Ratio, 0.1, "what it shows is told")
	assert.Equal(t, record.ReasonLearning, p50.Unjudged.Reason)
	assert.False(t, f.tracker.Known(f.last()))

	f.run(10, time.Millisecond)
	assert.Equal(t, record.Regressed, f.status().Drift[0].State, "what is beyond the limit is found all the same")

	f = newFeeder(drift.Settings{BaselineRounds: 24})
	f.run(30, 80*time.Microsecond)
	assert.Equal(t, record.Stable, f.status().Drift[0].State)
}

// A recorded history or a damaged state may have figures beyond all that is measured. They reach no ratio and no JSON.
func TestImpossibleFiguresAreNoRounds(t *testing.T) {
	f := newFeeder(small())
	f.run(30, 100*time.Microsecond)
	before := f.status().Drift
	for _, x := range []float64{1e300, 1e16, math.Inf(1), math.NaN(), -1} {
		for range 10 {
			f.now = f.now.Add(time.Minute)
			f.tracker.AddRound(drift.Round{Time: f.now, Values: drift.Values{x, x, x, 1e-300}}, firmware("A"))
		}
	}
	assert.Equal(t, before, f.tracker.Status(f.last().Add(-50*time.Minute)).Drift)
	_, err := json.Marshal(f.tracker.Explain(f.last()))
	require.NoError(t, err)
}
