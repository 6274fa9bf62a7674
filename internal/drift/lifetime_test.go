package drift_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// kernels lets the drive get slower by a factor with each of some kernels, each of which stays for two days.
func (h *history) kernels(names string, slower, by float64) (level float64) {
	h.t.Helper()
	for _, name := range names {
		slower *= by
		h.run(2*day, slower, record.Conditions{Kernel: string(name)})
	}
	return slower
}

func (h *history) lifetime() record.Lifetime {
	return h.track.Status(h.now()).Lifetime[record.LatencyP50]
}

// untold are the statistics that changes made slower by small steps.
func (h *history) untold() map[record.Statistic]record.Lifetime {
	s := h.track.Status(h.now())
	told := slices.Clone(s.Earlier)
	if s.Effect != nil {
		told = append(told, *s.Effect)
	}
	return record.SlowedUntold(s.Lifetime, told)
}

// The baseline follows a change that costs less than 1.2 times, and nothing tells it. Several of them must not hide what a drive
// was once.
func TestSmallStepsAreMeasuredAgainstALifetimeReference(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Kernel: "0"})
	assert.Zero(t, h.lifetime(), "nothing changed yet")
	first := h.track.Status(h.now()).Baseline.Learned

	level := h.kernels("a", 1, 1.12)
	one := h.lifetime()
	assert.InDelta(t, 1.12, one.Ratio.Ratio, 0.02)
	assert.Empty(t, h.untold())
	level = h.kernels("bc", level, 1.12)
	require.Equal(t, record.Stable, h.p50().State, "the baseline followed")
	assert.Empty(t, h.track.Status(h.now()).Earlier, "no change cost 1.2 times")
	l := h.lifetime()
	assert.InDelta(t, 1.405, l.Ratio.Ratio, 0.03)
	assert.InEpsilon(t, math.Sqrt(3)*math.Log(one.Upper/one.Lower), math.Log(l.Upper/l.Lower), 0.3, "three changes are as uncertain as that")
	assert.Less(t, one.Lower, one.Ratio.Ratio)
	assert.WithinDuration(t, first, l.Since, 5*time.Minute)
	assert.Contains(t, h.untold(), record.LatencyP50)
	before := fmt.Sprint(h.lifetime())
	h.restart()
	assert.Equal(t, before, fmt.Sprint(h.lifetime()))

	// What takes it back ends it.
	h.run(2*time.Hour, level/1.35, record.Conditions{Kernel: "d"})
	assert.NotContains(t, h.track.Status(h.now()).Lifetime, record.LatencyP99, "an hour says too little about a tail")
	h.run(2*day, level/1.35, record.Conditions{Kernel: "d"})
	assert.InDelta(t, 1.04, h.lifetime().Ratio.Ratio, 0.03)
	assert.Empty(t, h.untold())
}

func TestASingleLargeStepIsToldOnce(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Kernel: "0"})
	level := h.kernels("a", 1, 1.3)
	assert.InDelta(t, 1.3, h.lifetime().Ratio.Ratio, 0.03)
	assert.Empty(t, h.untold(), "the change is told by itself")
	level = h.kernels("b", level, 1.12)
	assert.Empty(t, h.untold(), "1.12 times more")
	level = h.kernels("c", level, 1.12)
	assert.InDelta(t, 1.63, h.untold()[record.LatencyP50].Ratio.Ratio, 0.05, "1.25 times more than is told")

	// Accepting the large step takes it off, and leaves the others.
	state, err := h.track.State().AcceptChange(h.now(), "kernel", "it is to be so")
	require.NoError(t, err)
	require.NoError(t, h.track.Restore(state))
	assert.InDelta(t, 1.25, h.untold()[record.LatencyP50].Ratio.Ratio, 0.04)

	state, err = h.track.State().Accept(h.now(), "so be it")
	require.NoError(t, err)
	require.NoError(t, h.track.Restore(state))
	assert.Empty(t, h.untold())
	assert.InDelta(t, 1.25, state.Epochs[len(state.Epochs)-1].Notes[1].Ratios[record.LatencyP50], 0.04)
	assert.WithinDuration(t, h.now(), h.lifetime().Since, 5*time.Minute)
	h.kernels("d", level, 1.12)
	assert.InDelta(t, 1.12, h.lifetime().Ratio.Ratio, 0.02, "counted from what was accepted")
}

// The reference is the first baseline, unless a later one was faster for a week.
func TestAFasterBaselineBecomesTheReferenceAfterAWeek(t *testing.T) {
	for _, stays := range []time.Duration{3 * time.Hour, 2 * day, 9 * day} {
		t.Run(stays.String(), func(t *testing.T) {
			h := newHistory(t)
			h.run(10*day, 1, record.Conditions{Kernel: "0"})
			h.run(stays, 1/1.15, record.Conditions{Kernel: "fast"})
			assert.InDelta(t, 1/1.15, h.lifetime().Ratio.Ratio, 0.02)
			h.kernels("ab", 1/1.15, 1.12)
			want := 1.12 * 1.12
			if stays < 7*day {
				want /= 1.15
			}
			assert.InDelta(t, want, h.lifetime().Ratio.Ratio, 0.03)
			assert.Equal(t, stays > 7*day, len(h.untold()) > 0)
		})
	}
}

// The state of an older version has no reference. What is told of the time before says nothing about the changes since.
func TestWhatWasToldBeforeTheReferenceIsNotPartOfIt(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Kernel: "0"})
	level := h.kernels("a", 1, 1.5)
	data, err := json.Marshal(h.track.State())
	require.NoError(t, err)
	var s drift.State
	require.NoError(t, json.Unmarshal(regexp.MustCompile(`"lifetime":\[[^]]*\],`).ReplaceAll(data, nil), &s))
	require.NoError(t, h.track.Restore(s))
	require.Zero(t, h.lifetime())
	h.kernels("bcd", level, 1.12)
	assert.InDelta(t, 1.4, h.untold()[record.LatencyP50].Ratio.Ratio, 0.04)
	s, err = h.track.State().AcceptChange(h.now(), "kernel", "so be it")
	require.NoError(t, err)
	require.NoError(t, h.track.Restore(s))
	assert.InDelta(t, 1.4, h.untold()[record.LatencyP50].Ratio.Ratio, 0.04, "the change before it was accepted, and nothing else")
}

// A day corrects what an hour said of a drive whose level varies, and so does it what was counted.
func TestWhatADayCorrectsIsCounted(t *testing.T) {
	corrected := 0
	for seed := range uint64(12) {
		h, levels := newHistory(t), rand.New(rand.NewPCG(seed, 1))
		effect := func() float64 { return h.track.Status(h.now()).Effect.Ratios[record.LatencyP50].Ratio }
		h.unsteady(levels, 3*day, 1, record.Conditions{Firmware: "A"})
		h.unsteady(levels, 12*time.Hour, 1.25, record.Conditions{Firmware: "B"})
		said, counted := effect(), h.lifetime().Ratio.Ratio
		h.unsteady(levels, 13*time.Hour, 1.25, record.Conditions{Firmware: "B"})
		if effect() != said {
			corrected++
		}
		assert.InEpsilon(t, effect()/said, h.lifetime().Ratio.Ratio/counted, 0.002, "seed %d", seed)
	}
	assert.Positive(t, corrected)
}

// Traffic of other work has a level of its own, which no change of conditions has moved.
func TestALevelThatIsLearnedAnewHasNoReference(t *testing.T) {
	w := newWorker()
	w.run(2*day, 5000, 4096, 0.9, 1, record.Conditions{Kernel: "6.1"})
	after := record.Conditions{Kernel: "6.2"}
	w.run(2*day, 5000, 4096, 0.9, 1.15, after)
	assert.InDelta(t, 1.15, w.traffic.Status(w.now()).Lifetime[record.OthersReadLatency].Ratio.Ratio, 0.05)
	w.run(2*day, 2000, 65536, 0.9, 1.15, after)
	assert.Zero(t, w.traffic.Status(w.now()).Lifetime[record.OthersReadLatency])
}

func TestAnImpossibleLifetimeReferenceIsRefused(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Kernel: "0"})
	h.kernels("a", 1, 1.12)
	data, err := json.Marshal(h.track.State())
	require.NoError(t, err)
	for _, impossible := range []string{`"since":-1,"slower":1`, `"since":5,"slower":99999999`, `"since":5,"within":-3`} {
		var s drift.State
		edited := regexp.MustCompile(`("lifetime":\[\{)[^}]*\}`).ReplaceAll(data, []byte("${1}"+impossible+"}"))
		require.NotEqual(t, data, edited)
		require.NoError(t, json.Unmarshal(edited, &s))
		require.ErrorContains(t, h.track.Restore(s), "lifetime", impossible)
	}
}

// Noise that looks like an effect now and then does not add up.
func TestChangesThatDoNothingDoNotAddUp(t *testing.T) {
	testenv.Long(t)
	for _, noise := range drifttest.Noises() {
		t.Run(noise, func(t *testing.T) {
			h := history{t: t, track: drift.NewTracker(drift.Default())}
			for r := range (drifttest.Stream{Kind: "none", Noise: noise, Seed: 7505, Days: 40}).Rounds() {
				h.track.AddRound(r.Round, record.Conditions{Kernel: fmt.Sprint(int(r.Time.Sub(drifttest.Start()) / (2 * day)))})
				if h.minute = int(r.Time.Unix() / 60); h.minute%60 == 0 {
					assert.Empty(t, h.untold())
				}
			}
			assert.NotZero(t, h.lifetime().Since, "there were changes")
		})
	}
}
