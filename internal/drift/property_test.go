package drift_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
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

// event is an Event in a form that can be compared.
type event struct {
	At, Since time.Duration
	Statistic record.Statistic
	To        record.DriftState
	Cause     record.Cause
	Ratio     string
	Changes   []record.Change
}

func follow(rounds []drifttest.Round, t *drift.Tracker) []event {
	var out []event
	for _, r := range rounds {
		for _, e := range t.AddRound(r.Round, r.Conditions) {
			var since time.Duration
			if !e.Since.IsZero() {
				since = e.Since.Sub(drifttest.Start())
			}
			out = append(out, event{
				At: e.Time.Sub(drifttest.Start()), Since: since, Statistic: e.Statistic, To: e.To, Cause: e.Cause,
				Ratio: fmt.Sprintf("%.4f %.4f %.4f", e.Ratio, e.Lower, e.Upper), Changes: append(e.Changes, e.Attribution...),
			})
		}
	}
	return out
}

// regressions returns the times at which something regressed.
func regressions(events []event) []time.Duration {
	var out []time.Duration
	for _, e := range events {
		if e.To == record.Regressed {
			out = append(out, e.At)
		}
	}
	return out
}

func stream(kind, noise string, seed uint64, days float64) ([]drifttest.Round, drifttest.Label) {
	s := drifttest.Stream{Kind: kind, Noise: noise, Seed: seed, Days: days}
	return slices.Collect(s.Rounds()), s.Label()
}

// For each kind, this is how soon it must be found on a drive whose noise is not extreme.
func TestWhatHappensIsFoundInTime(t *testing.T) {
	testenv.Long(t)
	tests := []struct {
		kind, noise string
		days        float64
		within      time.Duration
	}{
		{"step10", "quiet", 4, 90 * time.Minute},
		{"step20", "diurnal", 4, 60 * time.Minute},
		{"step50", "bursty", 4, 30 * time.Minute},
		{"double", "gappy", 4, 15 * time.Minute},
		{"tail", "quiet", 4, 45 * time.Minute},
		{"intermittent", "quiet", 4, 2 * time.Hour},
		{"transient", "quiet", 4, 10 * time.Minute},
		{"creep", "quiet", 24, 9 * 24 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.kind+" "+tt.noise, func(t *testing.T) {
			rounds, label := stream(tt.kind, tt.noise, 11, tt.days)
			events := follow(rounds, drift.NewTracker(drift.Default()))
			found := regressions(events)
			require.NotEmpty(t, found)
			assert.GreaterOrEqual(t, found[0], label.Onset, "not before it happened")
			assert.LessOrEqual(t, found[0]-label.Onset, tt.within)
			if tt.kind == "transient" {
				last := events[len(events)-1]
				assert.Equal(t, record.Stable, last.To)
				assert.Less(t, last.At-label.End, time.Hour, "over within an hour after")
			}
		})
	}
}

// What stays slow is reported once per statistic and stays so until it is over. A tail must not come and go, although
// a step of 20 % nearly drowns in its noise.
func TestWhatLastsIsFoundOnce(t *testing.T) {
	testenv.Long(t)
	for _, kind := range []string{"step10", "step20", "step50", "tail", "intermittent"} {
		for _, noise := range []string{"quiet", "diurnal", "bursty"} {
			t.Run(kind+" "+noise, func(t *testing.T) {
				rounds, _ := stream(kind, noise, 31, 10)
				times := map[record.Statistic]int{}
				for _, e := range follow(rounds, drift.NewTracker(drift.Default())) {
					if e.To == record.Regressed {
						times[e.Statistic]++
					}
				}
				assert.NotEmpty(t, times)
				for statistic, n := range times {
					assert.Equal(t, 1, n, statistic)
				}
			})
		}
	}
}

// What drifted together ends together: once the shift is over, the noisiest statistic does not wait for evidence of
// its own.
func TestWhatDriftedTogetherEndsTogether(t *testing.T) {
	rounds, label := stream("transient", "wide", 31, 4)
	over := map[record.Statistic]time.Duration{}
	for _, e := range follow(rounds, drift.NewTracker(drift.Default())) {
		if e.To == record.Stable && e.At > label.End {
			over[e.Statistic] = e.At - label.End
		}
	}
	require.Len(t, over, len(record.Statistics()))
	for statistic, after := range over {
		assert.Less(t, after, time.Hour, statistic)
	}
}

// Levels that stay, or wander over hours, are the hardest noise. 40 streams of 10 days are 1.1 device-years, in which
// two alarms are accepted.
func TestSlowNoiseHardlyAlarms(t *testing.T) {
	testenv.Long(t)
	count := 0
	for seed := range uint64(20) {
		for _, noise := range []string{"wandering", "correlated"} {
			rounds, _ := stream("none", noise, 200+seed, 10)
			if len(regressions(follow(rounds, drift.NewTracker(drift.Default())))) > 0 {
				count++
			}
		}
	}
	assert.LessOrEqual(t, count, 2)
}

// None of this is a regression. 12 streams of 10 days are 0.33 device-years, in which the budget of 0.5 a year allows
// for a sixth of an alarm.
func TestNoAlarmWithoutACause(t *testing.T) {
	testenv.Long(t)
	for _, kind := range []string{"none", "load", "firmware", "improve"} {
		for _, noise := range []string{"quiet", "diurnal", "bursty"} {
			t.Run(kind+" "+noise, func(t *testing.T) {
				rounds, _ := stream(kind, noise, 21, 10)
				assert.Empty(t, regressions(follow(rounds, drift.NewTracker(drift.Default()))))
			})
		}
	}
}

// A statistic that has drifted does not keep the others from being learned under more load.
func TestMoreLoadIsLearnedBesideADrift(t *testing.T) {
	for name, ratio := range map[string]float64{"improved": 0.5, "regressed": 2} {
		t.Run(name, func(t *testing.T) {
			rounds, _ := stream("load", "quiet", 4, 6)
			for i := range rounds {
				if rounds[i].Time.Sub(drifttest.Start()) > 30*time.Hour {
					rounds[i].Values[2] *= ratio
				}
			}
			tracker := drift.NewTracker(drift.Default())
			for _, e := range follow(rounds, tracker) {
				assert.Contains(t, []record.Statistic{"", record.LatencyP99}, e.Statistic, "%+v", e)
			}
			assert.Equal(t, record.DriftState(name), tracker.StateOf(2))
			assert.Greater(t, tracker.Explain(time.Time{}).MaxLoad, 0.4)
		})
	}
}

func TestMoreLoadForGoodIsLearned(t *testing.T) {
	rounds, label := stream("load", "quiet", 4, 6)
	tracker := drift.NewTracker(drift.Default())
	assert.Empty(t, regressions(follow(rounds, tracker)))
	e := tracker.Explain(time.Time{})
	assert.Greater(t, e.MaxLoad, 0.4)
	assert.InDelta(t, 280, e.UnjudgedBlocks, 12, "a day of blocks was not judged")
	last, ok := tracker.LastBlock()
	require.True(t, ok)
	assert.Greater(t, last.Time.Sub(drifttest.Start()), label.Duration-15*time.Minute, "and the last block was")

	// From then on, a slower drive is found under that load, too.
	more, _ := stream("load", "quiet", 4, 6)
	for i := range more {
		more[i].Time = more[i].Time.Add(label.Duration)
		more[i].Utilisation = 0.45
		for k := range 3 {
			more[i].Values[k] = rounds[len(rounds)-1-i%1000].Values[k] * 1.3
		}
		more[i].Values[3] = rounds[len(rounds)-1-i%1000].Values[3] / 1.3
	}
	assert.NotEmpty(t, regressions(follow(more[:300], tracker)))
}

func TestFasterIsImproved(t *testing.T) {
	rounds, label := stream("improve", "quiet", 4, 4)
	events := follow(rounds, drift.NewTracker(drift.Default()))
	i := slices.IndexFunc(events, func(e event) bool { return e.To == record.Improved })
	require.GreaterOrEqual(t, i, 0)
	assert.GreaterOrEqual(t, events[i].At, label.Onset)
	assert.InDelta(t, label.Onset, events[i].Since, float64(10*time.Minute), "the onset within two blocks")
}

func TestFirmwareIsNamedWithItsEffect(t *testing.T) {
	rounds, label := stream("firmware", "quiet", 4, 4)
	tracker := drift.NewTracker(drift.Default())
	var effect *record.Effect
	for _, r := range rounds {
		for _, e := range tracker.AddRound(r.Round, r.Conditions) {
			if e.Effect != nil {
				effect = e.Effect
			}
		}
	}
	require.NotNil(t, effect)
	assert.Equal(t, []record.Change{{Condition: "firmware", From: "A", To: "B"}}, effect.Changes)
	assert.Equal(t, label.Onset, effect.Time.Sub(drifttest.Start()))
	p50 := effect.Ratios[record.LatencyP50]
	assert.InDelta(t, 1.25, p50.Ratio, 0.02)
	assert.Less(t, p50.Lower, 1.25)
	assert.Greater(t, p50.Upper, 1.25)
	assert.Equal(t, effect, tracker.Status(time.Time{}).Effect)
}

func TestRegressionNamesTheChangeItCameWith(t *testing.T) {
	// Firmware A is known, B is used for a while, and when A returns the drive is slow.
	rounds, _ := stream("none", "quiet", 8, 3)
	returned := drifttest.Start().Add(60 * time.Hour)
	for i, r := range rounds {
		switch at := r.Time.Sub(drifttest.Start()); {
		case at >= 60*time.Hour:
			for k := range 3 {
				rounds[i].Values[k] *= 1.3
			}
			rounds[i].Values[3] /= 1.3
		case at >= 55*time.Hour:
			rounds[i].Conditions.Firmware = "B"
		}
	}
	tracker := drift.NewTracker(drift.Default())
	require.NotEmpty(t, regressions(follow(rounds, tracker)))
	p50 := tracker.Status(tracker.LastRound()).Drift[0]
	assert.Equal(t, record.Regressed, p50.State)
	assert.WithinDuration(t, returned, p50.Since, 10*time.Minute)
	assert.Equal(t, []record.Change{{Condition: "firmware", From: "B", To: "A"}}, p50.Attribution)
}

func TestAnHourOldDaemonNoticesADriveTwiceAsSlow(t *testing.T) {
	// Rounds every 30 s, as the default probe has them: the early baseline is there after an hour.
	s := drifttest.Stream{Kind: "none", Noise: "quiet", Seed: 5, Days: 0.1, Interval: 30 * time.Second}
	rounds := slices.Collect(s.Rounds())
	const slowFrom = 65 * time.Minute
	for i, r := range rounds {
		if r.Time.Sub(drifttest.Start()) >= slowFrom {
			for k := range 3 {
				rounds[i].Values[k] *= 2
			}
			rounds[i].Values[3] /= 2
		}
	}
	found := regressions(follow(rounds, drift.NewTracker(drift.Default())))
	require.NotEmpty(t, found)
	assert.LessOrEqual(t, found[0]-slowFrom, 8*time.Minute)
}

func TestScaleMakesNoDifference(t *testing.T) {
	rounds, _ := stream("step20", "diurnal", 3, 3)
	want := follow(rounds, drift.NewTracker(drift.Default()))
	for i := range rounds {
		for k := range 3 {
			rounds[i].Values[k] *= 1024 // a power of two: not even rounding differs
		}
		rounds[i].Values[3] /= 1024
	}
	assert.Equal(t, want, follow(rounds, drift.NewTracker(drift.Default())))
}

func TestOrderWithinABlockMakesNoDifference(t *testing.T) {
	rounds, _ := stream("step20", "bursty", 3, 3)
	// The first rounds may make the reference in any order, except that the last of them lie in a block of their own.
	want := follow(rounds, drift.NewTracker(drift.Default()))
	rng := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < len(rounds); from += 5 {
		block := rounds[from:min(from+5, len(rounds))]
		rng.Shuffle(len(block), func(i, j int) {
			block[i].Values, block[j].Values = block[j].Values, block[i].Values
			block[i].Utilisation, block[j].Utilisation = block[j].Utilisation, block[i].Utilisation
		})
	}
	got := follow(rounds, drift.NewTracker(drift.Default()))
	for _, list := range [][]event{want, got} {
		for i := range list {
			list[i].Ratio = "" // it includes the block under way
		}
	}
	assert.Equal(t, want, got)
}

func TestRestartAtAnyMomentMakesNoDifference(t *testing.T) {
	testenv.Long(t)
	for _, kind := range []string{"step20", "double", "firmware", "intermittent", "transient"} {
		t.Run(kind, func(t *testing.T) {
			rounds, _ := stream(kind, "bursty", 6, 3)
			want := follow(rounds, drift.NewTracker(drift.Default()))
			tracker, got := drift.NewTracker(drift.Default()), []event(nil)
			rng := rand.New(rand.NewPCG(3, 4))
			for from := 0; from < len(rounds); {
				to := min(len(rounds), from+1+rng.IntN(60))
				got = append(got, follow(rounds[from:to], tracker)...)
				from = to
				data, err := json.Marshal(tracker.State())
				require.NoError(t, err)
				var state drift.State
				require.NoError(t, json.Unmarshal(data, &state))
				tracker = drift.NewTracker(drift.Default())
				require.NoError(t, tracker.Restore(state))
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestStateStaysSmall(t *testing.T) {
	rounds, _ := stream("none", "quiet", 2, 2)
	tracker := drift.NewTracker(drift.Default())
	largest := 0
	for i, r := range rounds {
		tracker.AddRound(r.Round, r.Conditions)
		if i%60 == 0 {
			data, err := json.Marshal(tracker.State())
			require.NoError(t, err)
			largest = max(largest, len(data))
		}
	}
	data, err := json.Marshal(tracker.State())
	require.NoError(t, err)
	t.Logf("state: %d bytes at most while learning, %d after", largest, len(data))
	assert.Less(t, largest, 40_000)
	assert.Less(t, len(data), 20_000)
}

func TestAcceptMakesTheLevelOfNowNormal(t *testing.T) {
	rounds, label := stream("step50", "quiet", 9, 4)
	tracker := drift.NewTracker(drift.Default())
	_, err := tracker.State().Accept(time.Unix(0, 0), "too early")
	require.ErrorIs(t, err, drift.ErrNothingToAccept)
	require.ErrorContains(t, err, "still being learned")

	at := slices.IndexFunc(rounds, func(r drifttest.Round) bool {
		return r.Time.Sub(drifttest.Start()) >= label.Onset+4*time.Hour
	})
	follow(rounds[:at], tracker)
	was := *tracker.Status(time.Time{}).Baseline
	require.Equal(t, record.Regressed, tracker.Status(time.Time{}).Drift[0].State)
	state, err := tracker.State().Accept(rounds[at].Time, "another host, slower link")
	require.NoError(t, err)
	require.NoError(t, tracker.Restore(state))
	assert.InDelta(t, 1.5, tracker.Status(time.Time{}).Baseline.Values[record.LatencyP50]/was.Values[record.LatencyP50], 0.02)
	assert.InDelta(t, 1/1.5, tracker.Status(time.Time{}).Baseline.Values[record.IOPS]/was.Values[record.IOPS], 0.02)

	for _, e := range follow(rounds[at:], tracker) {
		assert.NotContains(t, []record.DriftState{record.Regressed, record.Improved}, e.To)
	}
	notes := tracker.Explain(time.Time{}).Notes
	require.Len(t, notes, 1)
	assert.Equal(t, "another host, slower link", notes[0].Text)
}

func TestExplainShowsWhatDecided(t *testing.T) {
	rounds, _ := stream("step20", "diurnal", 3, 3)
	tracker := drift.NewTracker(drift.Default())
	assert.Empty(t, tracker.Explain(time.Time{}).Maturity)
	follow(rounds, tracker)
	e := tracker.Explain(time.Time{})
	assert.Equal(t, record.Final, e.Maturity)
	assert.Equal(t, 288, e.Blocks)
	assert.Len(t, e.Recent, 36)
	p50 := e.Statistics[0]
	assert.Equal(t, record.Regressed, p50.State)
	assert.Less(t, p50.NoiseLower, 1.0)
	assert.Greater(t, p50.NoiseUpper, 1.0)
	assert.GreaterOrEqual(t, p50.Autocorrelation, 1.0)
	require.NotEmpty(t, p50.Load)
	assert.Greater(t, p50.Load[len(p50.Load)-1].Ratio, 1.1, "load makes this drive slower")
	require.Len(t, p50.Evidence, 7)
	assert.Equal(t, "slower", p50.Evidence[0].For)
	assert.Greater(t, p50.Evidence[0].Value, p50.Evidence[0].Threshold)
	_, err := json.Marshal(e)
	require.NoError(t, err)
}

// On the first day some statistics are not judged yet. What is accepted then also holds for them: a day later they
// are no news.
func TestWhatIsAcceptedOnTheFirstDayHoldsForWhatIsJudgedLater(t *testing.T) {
	rounds, _ := stream("none", "quiet", 9, 4)
	const times = 5
	slow := slices.IndexFunc(rounds, func(r drifttest.Round) bool { return r.Time.Sub(drifttest.Start()) >= 4*time.Hour })
	for i := range rounds[slow:] {
		v := &rounds[slow+i].Values
		v[0], v[1], v[2], v[3] = v[0]*times, v[1]*times, v[2]*times, v[3]/times
	}
	at := slices.IndexFunc(rounds, func(r drifttest.Round) bool { return r.Time.Sub(drifttest.Start()) >= 5*time.Hour })
	tracker := drift.NewTracker(drift.Default())
	follow(rounds[:at], tracker)
	states := map[record.Statistic]record.DriftState{}
	for _, d := range tracker.Status(rounds[at].Time).Drift {
		states[d.Statistic] = d.State
	}
	require.Equal(t, record.Regressed, states[record.LatencyP50])
	require.Equal(t, record.Waiting, states[record.LatencyP99], "it takes a day to learn")

	state, err := tracker.State().Accept(rounds[at].Time, "throttled on purpose")
	require.NoError(t, err)
	require.NoError(t, tracker.Restore(state))
	for _, e := range follow(rounds[at:], tracker) {
		assert.NotContains(t, []record.DriftState{record.Regressed, record.Improved}, e.To, "%+v", e)
	}
}
