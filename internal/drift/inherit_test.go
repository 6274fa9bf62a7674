package drift_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// history feeds a tracker a round a minute. slower is how many times slower than 80 µs the drive is at a time, with a
// little noise.
type history struct {
	t      *testing.T
	track  *drift.Tracker
	minute int
	tail   float64 // how many times longer the slowest I/Os take, if above 1
}

func newHistory(t *testing.T) *history {
	t.Helper()
	return &history{t: t, track: drift.NewTracker(drift.Default())}
}

func (h *history) run(d time.Duration, slower float64, c record.Conditions) (events []drift.Event) {
	h.t.Helper()
	for range int(d / time.Minute) {
		h.minute++
		// A noise of 3 % that repeats after 17 rounds, and so differs from block to block.
		x := 80e-6 * slower * (1 + 0.03*float64(h.minute*7%17-8)/8)
		events = append(events, h.track.AddRound(drift.Round{
			Time: time.Unix(int64(h.minute)*60, 0), Values: drift.Values{x, 1.3 * x, 1.8 * x * max(1, h.tail), 1 / x}, Utilisation: 0,
		}, c)...)
	}
	return events
}

func (h *history) p50() record.Drift {
	return h.track.Status(time.Unix(int64(h.minute)*60, 0)).Drift[0]
}

const day = 24 * time.Hour

func TestAChangeOfConditionsEndsNoRegression(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Kernel: "6.1"})
	h.run(3*time.Hour, 1.4, record.Conditions{Kernel: "6.1"})
	require.Equal(t, record.Regressed, h.p50().State)
	since := h.p50().Since

	h.run(day, 1.4, record.Conditions{Kernel: "6.2"})
	assert.Equal(t, record.Regressed, h.p50().State, "the kernel explains nothing")
	assert.Equal(t, since, h.p50().Since)
	assert.InDelta(t, 1.4, h.p50().Ratio, 0.03)
	h.run(3*time.Hour, 1, record.Conditions{Kernel: "6.2"})
	assert.Equal(t, record.Stable, h.p50().State)
}

func TestTheEffectOfAChangeIsAgainstTheLevelJustBefore(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Firmware: "A"})
	h.run(3*time.Hour, 1.4, record.Conditions{Firmware: "A"})
	var effect *record.Effect
	for _, e := range h.run(2*time.Hour, 1.4*1.25, record.Conditions{Firmware: "B"}) {
		if e.Effect != nil {
			effect = e.Effect
		}
	}
	require.NotNil(t, effect)
	assert.InDelta(t, 1.25, effect.Ratios[record.LatencyP50].Ratio, 0.02, "not 1.75 times")
	assert.Equal(t, []record.Change{{Condition: "firmware", From: "A", To: "B"}}, effect.Changes)
	assert.Equal(t, record.Regressed, h.p50().State, "it was slow before")
	assert.InDelta(t, 1.4, h.p50().Ratio, 0.03)
}

func TestAgeingDoesNotHideInManyKernels(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Kernel: "6.0"})
	for month := range 12 {
		// 1 % in each, which is no effect by itself.
		h.run(day, 1+0.01*float64(month+1), record.Conditions{Kernel: string(rune('a' + month))})
	}
	assert.Equal(t, record.Regressed, h.p50().State)
	assert.InDelta(t, 1.11, h.p50().Ratio, 0.03)
}

func TestConditionsThatFlipForMomentsRepeatNothing(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Governor: "performance"})
	h.run(3*time.Hour, 1.4, record.Conditions{Governor: "performance"})
	since := h.p50().Since
	for range 6 {
		for _, e := range append(h.run(4*time.Minute, 1.4, record.Conditions{Governor: "powersave"}), h.run(20*time.Minute, 1.4, record.Conditions{Governor: "performance"})...) {
			assert.Empty(t, e.To, "no state changes")
			assert.Nil(t, e.Effect)
		}
	}
	assert.Equal(t, since, h.p50().Since)
	assert.Equal(t, record.Regressed, h.p50().State)
}

// A link that is retrained again and again, or a governor that a job sets, must not hide that the drive became slower: both sets are
// well known, and evidence under one counts under the other.
func TestConditionsThatFlipBetweenKnownSetsHideNothing(t *testing.T) {
	a, b := record.Conditions{Governor: "performance"}, record.Conditions{Governor: "powersave"}
	for name, effect := range map[string]float64{"no effect": 1, "an effect": 1.3} {
		for _, each := range []time.Duration{time.Minute, 4 * time.Minute, 15 * time.Minute, 50 * time.Minute} {
			t.Run(name+" each "+each.String(), func(t *testing.T) {
				h := newHistory(t)
				h.run(day+12*time.Hour, 1, a)
				h.run(day+12*time.Hour, effect, b)
				flip := func(d time.Duration, slower float64) (alarms int) {
					for range int(d / (2 * each)) {
						for _, e := range append(h.run(each, slower, a), h.run(each, slower*effect, b)...) {
							if e.To == record.Regressed && e.Statistic == record.LatencyP50 {
								alarms++
							}
						}
					}
					return alarms
				}
				assert.Zero(t, flip(day, 1), "nothing happened")
				assert.Equal(t, 1, flip(6*time.Hour, 1.3), "found once, and not repeated")
				assert.Equal(t, record.Regressed, h.p50().State)
				assert.Zero(t, flip(6*time.Hour, 1))
				assert.Equal(t, record.Stable, h.p50().State, "it recovered")
			})
		}
	}
}

// What is slower under a new set of conditions may be their effect. It is no evidence against the drive under a set that is known.
func TestAnEffectThatIsNotKnownYetIsNotCarriedOver(t *testing.T) {
	a, b := record.Conditions{Kernel: "6.1", Governor: "performance"}, record.Conditions{Kernel: "6.1", Governor: "powersave"}
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, a)
	h.run(day+12*time.Hour, 1, b)
	h.run(2*time.Hour, 1, a)
	for _, e := range append(h.run(44*time.Minute, 1.3, record.Conditions{Kernel: "6.2", Governor: "performance"}), h.run(9*time.Minute, 1, b)...) {
		assert.NotEqual(t, record.Regressed, e.To)
	}
	d := h.p50()
	assert.Equal(t, record.Stable, d.State, "nothing is suspected of it")
	assert.InDelta(t, 1, d.Ratio, 0.03)
}

func TestAnInheritedBaselineSurvivesARestart(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Kernel: "6.1"})
	h.run(44*time.Minute, 1.3, record.Conditions{Kernel: "6.2"})
	restored := drift.NewTracker(drift.Default())
	require.NoError(t, restored.Restore(h.track.State()))
	h.track = restored
	effects := 0
	for _, e := range h.run(2*time.Hour, 1, record.Conditions{Kernel: "6.2"}) {
		if e.Effect != nil {
			effects++
		}
	}
	assert.Equal(t, 1, effects)
	h.run(2*time.Hour, 1.3, record.Conditions{Kernel: "6.2"})
	assert.Equal(t, record.Regressed, h.p50().State)
}

// After a change, a day with gaps is enough to learn from, as on the first day.
func TestADayWithGapsIsEnoughAfterAChange(t *testing.T) {
	h := newHistory(t)
	halfDays := func(days int, c record.Conditions) {
		for range days {
			h.run(14*time.Hour, 1, c)
			h.minute += 10 * 60
		}
	}
	halfDays(3, record.Conditions{Kernel: "6.1"})
	first := h.track.Learned()
	halfDays(2, record.Conditions{Kernel: "6.2"})
	assert.True(t, h.track.Learned().After(first))
}

func TestAcceptRightAfterAChangeHolds(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Kernel: "6.1"})
	h.run(3*time.Hour, 1.3, record.Conditions{Kernel: "6.1"})
	h.run(44*time.Minute, 1.3, record.Conditions{Kernel: "6.2"})
	accepted, err := h.track.State().Accept(time.Unix(int64(h.minute)*60, 0), "as it is")
	require.NoError(t, err)
	require.NoError(t, h.track.Restore(accepted))
	h.run(3*time.Hour, 1.3, record.Conditions{Kernel: "6.2"})
	assert.Equal(t, record.Stable, h.p50().State)
}

// The baseline follows a change to a slower level, so no verdict stays. The effect is told until it is accepted.
func TestTheEffectOfAChangeCanBeAccepted(t *testing.T) {
	h := newHistory(t)
	accept := func() (drift.State, error) { return h.track.State().Accept(h.now(), "powersave is wanted") }
	effect := func() *record.Effect { return h.track.Status(h.now()).Effect }
	h.run(day+12*time.Hour, 1, record.Conditions{Governor: "performance"})
	h.run(3*time.Hour, 1.3, record.Conditions{Governor: "powersave"})
	require.Equal(t, record.Stable, h.p50().State)
	assert.Equal(t, []record.Statistic{record.LatencyP50, record.IOPS}, effect().Slowed())

	state, err := accept()
	require.NoError(t, err)
	notes := state.Epochs[len(state.Epochs)-1].Notes
	require.Len(t, notes, 1)
	assert.InDelta(t, 1.3, notes[0].Ratios[record.LatencyP50], 0.03)
	require.NoError(t, h.track.Restore(state))
	assert.Empty(t, effect().Slowed())
	assert.InDelta(t, 1.3, effect().Ratios[record.LatencyP50].Ratio, 0.03, "the figure stays")
	_, err = accept()
	require.ErrorIs(t, err, drift.ErrNothingToAccept, "it is accepted already")

	h.run(3*time.Hour, 1.3, record.Conditions{Governor: "powersave", Kernel: "6.8"})
	assert.Empty(t, effect().Slowed(), "this change did nothing")
	h.run(3*time.Hour, 1.6, record.Conditions{Governor: "powersave", Kernel: "6.9"})
	assert.NotEmpty(t, effect().Slowed())
	h.run(3*time.Hour, 2.2, record.Conditions{Governor: "powersave", Kernel: "6.9"})
	state, err = accept()
	require.NoError(t, err)
	require.NoError(t, h.track.Restore(state))
	assert.Empty(t, effect().Slowed(), "the present level was accepted, whatever led to it")
}

// told returns the effects that are told of the drive: by how much each slowed p50, and by which condition.
func (h *history) told() map[string]float64 {
	all := map[string]float64{}
	s := h.track.Status(h.now())
	if s.Effect != nil {
		s.Earlier = append(slices.Clone(s.Earlier), *s.Effect)
	}
	for _, e := range s.Earlier {
		if len(e.Slowed()) > 0 {
			all[e.Changes[0].To] += e.Ratios[record.LatencyP50].Ratio
		}
	}
	return all
}

// A change that cost nothing hides no earlier one, and what a later one gains makes up for what others cost.
func TestEachChangeThatSlowedADriveIsTold(t *testing.T) {
	h := newHistory(t)
	c := record.Conditions{Kernel: "6.1", Firmware: "A", Scheduler: "none"}
	h.run(day+12*time.Hour, 1, c)
	for _, step := range []struct {
		change func()
		slower float64
		want   map[string]float64
	}{
		{func() { c.Kernel = "6.8" }, 1.3, map[string]float64{"6.8": 1.3}},
		{func() { c.Governor = "powersave" }, 1.3, map[string]float64{"6.8": 1.3}},
		{func() { c.Scheduler = "bfq" }, 1.3 * 1.4, map[string]float64{"6.8": 1.3, "bfq": 1.4}},
		{func() { c.Firmware = "B" }, 1.3 * 1.4 * 1.5, map[string]float64{"6.8": 1.3, "bfq": 1.4, "B": 1.5}},
		{func() { c.Kernel = "6.1" }, 1.4 * 1.5, map[string]float64{"bfq": 1.4, "B": 1.5}},
		{func() { c.Governor = "ondemand" }, 1.4, map[string]float64{"bfq": 1.4}}, // it does what undoing the newest would do
		{func() { c.Governor = "schedutil" }, 1.4 * 1.3, map[string]float64{"bfq": 1.4, "schedutil": 1.3}},
		{func() { c.Firmware = "C" }, 1.25, map[string]float64{"bfq": 1.25}},
	} {
		step.change()
		h.run(30*time.Minute, step.slower, c)
		restored := drift.NewTracker(drift.Default())
		require.NoError(t, restored.Restore(h.track.State()), "a restart makes no difference")
		h.track = restored
		h.run(day+6*time.Hour, step.slower, c)
		told := h.told()
		assert.Len(t, told, len(step.want), "%v", told)
		for change, ratio := range step.want {
			assert.InDelta(t, ratio, told[change], 0.03, change)
		}
	}

	accepted, err := h.track.State().AcceptChange(h.now(), "scheduler", "bfq is wanted")
	require.NoError(t, err)
	_, err = accepted.AcceptChange(h.now(), "scheduler", "again")
	require.ErrorIs(t, err, drift.ErrNothingToAccept)
	require.NoError(t, h.track.Restore(accepted))
	assert.Empty(t, h.told())
}

// Each change is accepted by itself, or all are together, and none is told again when its conditions return.
func TestAcceptedChangesStayAccepted(t *testing.T) {
	h := newHistory(t)
	a, b := record.Conditions{Kernel: "6.1", Scheduler: "none"}, record.Conditions{Kernel: "6.8", Scheduler: "none"}
	both := record.Conditions{Kernel: "6.8", Scheduler: "bfq"}
	h.run(day+12*time.Hour, 1, a)
	h.run(day+12*time.Hour, 1.3, b)
	h.run(day+12*time.Hour, 1.3*1.4, both)
	one, err := h.track.State().AcceptChange(h.now(), "kernel", "the new kernel is slower")
	require.NoError(t, err)
	notes := one.Epochs[len(one.Epochs)-1].Notes
	assert.InDelta(t, 1.3, notes[0].Ratios[record.LatencyP50], 0.03)
	_, err = one.AcceptChange(h.now(), "firmware", "x")
	require.ErrorIs(t, err, drift.ErrNothingToAccept)
	require.ErrorContains(t, err, "no change of firmware is known to have made it slower")

	all, err := h.track.State().Accept(h.now(), "all of it")
	require.NoError(t, err)
	notes = all.Epochs[len(all.Epochs)-1].Notes
	assert.InDelta(t, 1.3*1.4, notes[0].Ratios[record.LatencyP50], 0.05)

	require.NoError(t, h.track.Restore(one))
	assert.Contains(t, h.told(), "bfq")
	assert.Len(t, h.told(), 1)
	h.run(3*time.Hour, 1.3, b)
	assert.Empty(t, h.told(), "its kernel was accepted")
	h.run(3*time.Hour, 1.3*1.4, both)
	assert.Contains(t, h.told(), "bfq")
	assert.Len(t, h.told(), 1)
}

func TestTrafficOfManyKindsIsStored(t *testing.T) {
	track := drift.NewTrafficTracker(drift.Default())
	for i := range 130 { // no kind of I/O is in half of the samples
		var v drift.Values
		v[i%3] = 100e-6
		track.AddRound(drift.Round{Time: time.Unix(int64(i)*60, 0), Values: v}, record.Conditions{})
	}
	require.NoError(t, drift.NewTrafficTracker(drift.Default()).Restore(track.State()))
}

// A slower drive has the same spells as before. They are no drift of their own.
func TestASpellOfASlowDriveIsNoOtherDrift(t *testing.T) {
	h, c := newHistory(t), record.Conditions{Kernel: "6.1"}
	h.run(20*time.Hour, 1, c)
	h.run(10*time.Minute, 1.6, c)
	h.run(20*time.Hour, 1, c)
	h.run(12*time.Hour, 1.3, c)
	since := h.p50().Since
	require.Equal(t, record.Regressed, h.p50().State)
	h.run(10*time.Minute, 1.3*1.6, c)
	h.run(10*time.Minute, 1.3, c)
	assert.Equal(t, since, h.p50().Since)
	assert.InDelta(t, 1.3, h.p50().Ratio, 0.05)
}

// Each eighth round of a drive has become slow. Then all of them are.
func TestSlowRoundsDoNotHideASlowerLevel(t *testing.T) {
	h, c := newHistory(t), record.Conditions{Kernel: "6.1"}
	h.run(day+12*time.Hour, 1, c)
	stalling := func(d time.Duration, slower float64) {
		for range int(d / (8 * time.Minute)) {
			h.run(7*time.Minute, slower, c)
			h.run(time.Minute, 5*slower, c)
		}
	}
	stalling(6*time.Hour, 1)
	require.Equal(t, record.BySlowRounds, h.p50().Cause)
	stalling(40*time.Minute, 2)
	assert.Equal(t, record.ByLevel, h.p50().Cause)
	assert.InDelta(t, 2, h.p50().Ratio, 0.1)
	stalling(6*time.Hour, 1)
	assert.Equal(t, record.BySlowRounds, h.p50().Cause, "they are as common as before")
}

// The worst spell of a month does not hide that there are others, and what was seen a month ago may come again.
func TestSpellsAreKeptForAMonthAtLeast(t *testing.T) {
	testenv.Long(t)
	h, c := newHistory(t), record.Conditions{Kernel: "6.1"}
	h.run(day+12*time.Hour, 1, c)
	spell := func(slower float64) {
		h.run(10*time.Minute, slower, c)
		h.run(6*time.Hour, 1, c)
	}
	spell(1.9)
	worst := h.track.Beyond(0)
	assert.InDelta(t, 1.2*1.9, worst.Ratio(), 0.05)
	h.run(29*day, 1, c)
	spell(1.85)
	assert.Equal(t, worst, h.track.Beyond(0))
	restored := drift.NewTracker(drift.Default())
	require.NoError(t, restored.Restore(h.track.State()))
	assert.Equal(t, worst, restored.Beyond(0))
	h.run(31*day, 1, c)
	assert.InDelta(t, 1.2*1.85, h.track.Beyond(0).Ratio(), 0.05)
	h.run(61*day, 1, c)
	assert.Less(t, h.track.Beyond(0).Ratio(), 1.4)
}

// unsteady feeds a drive whose level stays for half an hour at a time, up to a fifth from its mean. slower is as in run.
func (h *history) unsteady(levels *rand.Rand, d time.Duration, slower float64, c record.Conditions) (events []drift.Event) {
	h.t.Helper()
	for range int(d / (30 * time.Minute)) {
		events = append(events, h.run(30*time.Minute, slower*math.Exp(0.12*levels.NormFloat64()), c)...)
	}
	return events
}

// A new firmware makes drives 1.25 times slower whose level varies so much that an hour shows little of it.
func TestTheEffectOfAChangeThatIsInDoubtIsNoRegression(t *testing.T) {
	regressed, told := 0, 0
	const drives = 12
	for seed := range uint64(drives) {
		h, levels := newHistory(t), rand.New(rand.NewPCG(seed, 1))
		h.unsteady(levels, 3*day, 1, record.Conditions{Firmware: "A"})
		require.Equal(t, record.Stable, h.p50().State, "seed %d", seed)
		for _, e := range h.unsteady(levels, 4*day, 1.25, record.Conditions{Firmware: "B"}) {
			if e.To == record.Regressed && e.Statistic == record.LatencyP50 {
				regressed++
				break
			}
		}
		if effect := h.track.Status(time.Unix(int64(h.minute)*60, 0)).Effect; effect.Ratios[record.LatencyP50].Ratio > 1.15 {
			told++
		}
	}
	assert.LessOrEqual(t, regressed, drives/3, "of %d", drives)
	assert.GreaterOrEqual(t, told, drives-2, "of %d", drives)
}

func TestWhatAChangeCannotHaveDoneIsARegression(t *testing.T) {
	h, levels := newHistory(t), rand.New(rand.NewPCG(1, 1))
	h.unsteady(levels, 3*day, 1, record.Conditions{Firmware: "A"})
	h.unsteady(levels, 5*time.Hour, 1, record.Conditions{Firmware: "B"})
	h.unsteady(levels, 5*time.Hour, 1.9, record.Conditions{Firmware: "B"})
	assert.Equal(t, record.Regressed, h.p50().State)
}

func TestADriftAfterTheFirstDayIsNoEffectOfTheChange(t *testing.T) {
	h, levels := newHistory(t), rand.New(rand.NewPCG(1, 1))
	h.unsteady(levels, 3*day, 1, record.Conditions{Firmware: "A"})
	h.unsteady(levels, 2*day, 1, record.Conditions{Firmware: "B"})
	h.unsteady(levels, 3*day, 1.25, record.Conditions{Firmware: "B"})
	assert.Equal(t, record.Regressed, h.p50().State)
}

func TestADoubtSurvivesARestart(t *testing.T) {
	levels := rand.New(rand.NewPCG(5, 1))
	h := newHistory(t)
	h.unsteady(levels, 3*day, 1, record.Conditions{Firmware: "A"})
	h.unsteady(levels, 3*time.Hour, 1.25, record.Conditions{Firmware: "B"})
	restored := drift.NewTracker(drift.Default())
	require.NoError(t, restored.Restore(h.track.State()))
	again := &history{t: t, track: restored, minute: h.minute}
	after := rand.New(rand.NewPCG(6, 1))
	want := h.unsteady(after, day, 1.25, record.Conditions{Firmware: "B"})
	after = rand.New(rand.NewPCG(6, 1))
	got := again.unsteady(after, day, 1.25, record.Conditions{Firmware: "B"})
	assert.Equal(t, want, got)
}
