package drift_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// night runs a day whose last two hours are slower by a ratio, and counts the regressions in them.
func (h *history) night(slower float64) (told int) {
	h.t.Helper()
	h.run(22*time.Hour, 1, record.Conditions{})
	for _, e := range h.run(2*time.Hour, slower, record.Conditions{}) {
		if e.To == record.Regressed {
			told++
		}
	}
	return told
}

func TestWhatRecursDailyIsToldOnce(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	assert.Positive(t, h.night(1.6), "it is news")
	for range 4 {
		assert.Zero(t, h.night(1.6), "it was there the night before")
	}
	assert.Positive(t, h.night(3), "but not like this")
}

// A drive that is far slower every night is news every night.
func TestWhatIsFarSlowerIsToldEachNight(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	for range 3 {
		assert.Positive(t, h.night(20))
	}
}

func TestWhatTheFirstNightHadIsExpected(t *testing.T) {
	h := newHistory(t)
	h.night(1.6)
	for range 3 {
		assert.Zero(t, h.night(1.6))
	}
	// At another time of day it is news.
	h.run(10*time.Hour, 1, record.Conditions{})
	h.run(2*time.Hour, 1.6, record.Conditions{})
	assert.Equal(t, record.Regressed, h.p50().State)
}

// On many drives the slowest I/Os take far longer for half an hour now and then. That is no nightly job, which makes all I/Os
// slower. It must neither be news whenever it comes at another time of day, nor be expected at that of the first day.
func TestATailThatIsSlowNowAndThenIsNoNightlyJob(t *testing.T) {
	h := newHistory(t)
	spell := func() []drift.Event {
		h.tail = 4
		defer func() { h.tail = 1 }()
		return h.run(40*time.Minute, 1, record.Conditions{})
	}
	for range 4 {
		h.run(5*time.Hour+20*time.Minute, 1, record.Conditions{})
		spell()
	}
	for range 8 {
		h.run(7*time.Hour, 1, record.Conditions{})
		for _, e := range spell() {
			assert.NotEqual(t, record.Regressed, e.To, "%+v", e)
		}
	}
	h.run(2*time.Hour, 1, record.Conditions{})
	h.tail = 8
	h.run(2*time.Hour, 1, record.Conditions{})
	assert.Equal(t, record.Regressed, h.track.StateOf(2), "it is slower than ever, and stays so")
}

// A drive that becomes slower is also slower by day. What recurs every night neither ends that nor hides it.
func TestADriftLastsThroughTheNight(t *testing.T) {
	for name, begins := range map[string]func(h *history, c record.Conditions){
		"before the night": func(h *history, c record.Conditions) {
			h.run(16*time.Hour, 1, c)
			h.run(6*time.Hour, 1.3, c)
			h.run(2*time.Hour, 1.3*1.6, c)
		},
		"in the night": func(h *history, c record.Conditions) {
			h.run(22*time.Hour, 1, c)
			h.run(time.Hour, 1.6, c)
			h.run(time.Hour, 1.3*1.6, c)
		},
	} {
		for _, kernel := range []string{"6.1", "6.2"} {
			h, c := newHistory(t), record.Conditions{Kernel: "6.1"}
			for range 2 {
				h.run(22*time.Hour, 1, c)
				h.run(2*time.Hour, 1.6, c)
			}
			c.Kernel = kernel
			begins(h, c)
			for range 2 {
				h.run(22*time.Hour, 1.3, c)
				assert.Equal(t, record.Regressed, h.p50().State, "%s, %s", name, kernel)
				assert.InDelta(t, 1.3, h.p50().Ratio, 0.05, "%s, %s", name, kernel)
				h.run(2*time.Hour, 1.3*1.6, c)
				assert.InDelta(t, 1.3, h.p50().Ratio, 0.05, "%s, %s: the night is known", name, kernel)
			}
		}
	}
}

// A backup may skip a night.
func TestWhatSkipsANightIsStillExpected(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	assert.Positive(t, h.night(1.6))
	h.night(1)
	assert.Zero(t, h.night(1.6))
}

// What comes on top of an expectation is expected together with it the next time.
func TestWhatIsWorseThanExpectedIsExpectedWhole(t *testing.T) {
	h := newHistory(t)
	long := func(slower float64) (told int) {
		h.run(16*time.Hour, 1, record.Conditions{})
		for _, e := range h.run(8*time.Hour, slower, record.Conditions{}) {
			if e.To == record.Regressed {
				told++
			}
		}
		return told
	}
	long(1)
	assert.Positive(t, long(1.4))
	assert.Positive(t, long(2))
	assert.Zero(t, long(2))
}

// Noise may hide for hours that something is over. It is not expected for that time.
func TestWhatSeemedToLastIsExpectedForAsLongAsItWas(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	assert.Positive(t, h.night(1.6))
	h.run(11*time.Hour, 1.2, record.Conditions{})
	h.run(11*time.Hour, 1, record.Conditions{})
	assert.Empty(t, h.run(2*time.Hour, 1.6, record.Conditions{}))
}

func TestWhatDoesNotComeAgainIsForgotten(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	h.night(1.6)
	for range 4 {
		h.night(1)
	}
	assert.Positive(t, h.night(1.6), "it is news again")
}

func TestWhatIsExpectedIsNoMoreThanWhatCame(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	h.night(1.6)
	assert.Positive(t, h.night(2), "it is worse than the night before")
}

// A State is written to disk while rounds go on, so it must not change.
func TestAStateStaysAsItIs(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	h.night(1.6)
	h.run(3*time.Hour, 1.4, record.Conditions{})
	s := h.track.State()
	before, err := json.Marshal(s)
	require.NoError(t, err)
	h.run(3*time.Hour, 1, record.Conditions{})
	h.run(3*time.Hour, 1.3, record.Conditions{Kernel: "6.2"})
	after, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}

// collecting returns how many times slower a drive is in a minute that collects garbage for ten minutes of each
// half hour.
func collecting(minute int) float64 {
	if minute%30 < 10 {
		return 1.42
	}
	return 1
}

// round returns a round of a drive that is so many times slower than 80 µs.
func round(minute int, slower, utilisation float64) drift.Round {
	x := 80e-6 * slower
	return drift.Round{Time: time.Unix(int64(minute)*60, 0), Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Utilisation: utilisation}
}

// A nightly job at the time of the highest load is no effect of load: under as much load by day, the drive is as fast
// as ever, and what is slower then is a drift.
func TestANightlyJobIsNoLoadCurve(t *testing.T) {
	track, minute := drift.NewTracker(drift.Default()), 0
	run := func(hours int, job, slower float64, load func(hour int) float64) {
		for range hours * 60 {
			hour := minute / 60 % 24
			s := slower * (1 + 0.02*float64(minute*7%17-8)/8)
			if hour < 4 {
				s *= job
			}
			track.AddRound(round(minute, s, load(hour)), record.Conditions{Kernel: "6.1"})
			minute++
		}
	}
	run(4*24, 1.6, 1, func(hour int) float64 { return 0.3 - 0.2*float64(hour)/24 })
	always := func(int) float64 { return 0.3 }
	run(12, 1.6, 1, always)
	p50 := track.Drift()[0]
	assert.InDelta(t, 1, p50.Ratio, 0.15)
	run(6, 1.6, 1.4, always)
	p50 = track.Drift()[0]
	assert.Equal(t, record.Regressed, p50.State)
	assert.InDelta(t, 1.4, p50.Ratio, 0.15)
}

// Half its speed is not what a drive ever does that collects garbage, however often it does.
func TestADriveThatCollectsGarbageIsFoundAtOnceAtHalfItsSpeed(t *testing.T) {
	track, minute := drift.NewTracker(drift.Default()), 0
	run := func(minutes int, slower float64) {
		for range minutes {
			track.AddRound(round(minute, slower*collecting(minute)*(1+0.02*float64(minute*7%17-8)/8), 0), record.Conditions{})
			minute++
		}
	}
	run(48*60+15, 1)
	assert.Equal(t, record.Stable, track.Drift()[0].State)
	run(10, 2)
	assert.Equal(t, record.Regressed, track.Drift()[0].State)
}

// A stretch of high load on the first day is an effect of load: as much load at another time of day is no drift.
func TestABusyStretchIsNoNightlyJob(t *testing.T) {
	track, minute := drift.NewTracker(drift.Default()), 0
	run := func(hours, from, to int) {
		for range hours * 60 {
			u := 0.02 + 0.01*float64(minute%5)
			if hour := minute / 60 % 24; hour >= from && hour < to {
				u = 0.5 + 0.02*float64(minute%3)
			}
			track.AddRound(round(minute, (1+0.02*float64(minute*7%17-8)/8)/(1-u), u), record.Conditions{})
			minute++
		}
	}
	run(3*24, 20, 24)
	run(11, 8, 12)
	assert.Equal(t, record.Stable, track.Drift()[0].State, "%+v", track.Drift()[0])
}

// A drive that is slower for an hour of a busy first day is well again after it: the busy hours before stay in the
// baseline.
func TestASlowHourOfABusyFirstDayEnds(t *testing.T) {
	track, minute := drift.NewTracker(drift.Default()), 0
	run := func(hours int, slower, load float64) {
		for range hours * 60 {
			u := load + 0.02*float64(minute%3)
			track.AddRound(round(minute, slower*(1+0.02*float64(minute*7%17-8)/8)/(1-u), u), record.Conditions{})
			minute++
		}
	}
	run(3, 1, 0.02)
	run(3, 1, 0.5)
	run(1, 2, 0.5)
	require.Equal(t, record.Regressed, track.Drift()[0].State)
	run(24, 1, 0.5)
	assert.Equal(t, record.Stable, track.Drift()[0].State, "%+v", track.Drift()[0])
}

// stored returns what would be stored.
func (h *history) stored() string {
	h.t.Helper()
	data, err := json.Marshal(h.track.State())
	require.NoError(h.t, err)
	return string(data)
}

// restart continues with a tracker that is restored from what was stored.
func (h *history) restart() {
	h.t.Helper()
	var state drift.State
	require.NoError(h.t, json.Unmarshal([]byte(h.stored()), &state))
	h.track = drift.NewTracker(drift.Default())
	require.NoError(h.t, h.track.Restore(state))
}

// What recurs is expected again in the same way if the daemon was restarted during the night.
func TestARestartAtNightChangesNoExpectation(t *testing.T) {
	once, again := newHistory(t), newHistory(t)
	for _, h := range []*history{once, again} {
		h.night(1)
		h.night(1.6)
		h.run(21*time.Hour, 1, record.Conditions{})
		h.run(2*time.Hour, 2.4, record.Conditions{}) // without the job of the night before
		require.Equal(t, record.Regressed, h.p50().State)
		if h == again {
			h.restart()
		}
		h.run(time.Hour, 2.4, record.Conditions{})
		h.run(2*time.Hour, 1, record.Conditions{})
		require.Equal(t, record.Stable, h.p50().State)
	}
	assert.Equal(t, once.stored(), again.stored())
}

// week runs a week whose last night is slower by a ratio, and counts the regressions in that.
func (h *history) week(slower float64) (told int) {
	h.t.Helper()
	for range 6 {
		h.night(1)
	}
	return h.night(slower)
}

func TestWhatRecursWeeklyIsToldOnce(t *testing.T) {
	testenv.Long(t)
	h := newHistory(t)
	h.week(1)
	assert.Positive(t, h.week(1.6), "it is news")
	for range 3 {
		assert.Zero(t, h.week(1.6), "it was there the week before")
	}
	assert.Positive(t, h.week(3), "but not like this")
	h.week(1)
	assert.Zero(t, h.week(1.6), "a backup may skip a week")
	for range 10 {
		h.week(1)
	}
	assert.Positive(t, h.week(1.6), "after weeks without it, it is news again")
}

// What makes a drive slower for hours of each day, whenever it likes, recurs at no time of the week. The state would grow by it.
func TestWhatComesAtAnyTimeIsNotExpectedWeekly(t *testing.T) {
	h := newHistory(t)
	h.run(day, 1, record.Conditions{})
	for d := range 14 {
		before := time.Duration(d*7%20) * time.Hour
		h.run(before, 1, record.Conditions{})
		h.run(3*time.Hour, 1.6, record.Conditions{})
		h.run(21*time.Hour-before, 1, record.Conditions{})
		assert.LessOrEqual(t, len(h.track.State().Epochs[0].Baseline.Of[0].Weekly), 144, "half a day")
	}
	assert.Less(t, len(h.stored()), 25<<10)
}

// A job may take longer from week to week. It is still the same job.
func TestAJobThatTakesLongerEachTimeIsToldOnce(t *testing.T) {
	h := newHistory(t)
	night := func(job time.Duration) (told int) {
		h.run(20*time.Hour, 1, record.Conditions{})
		for _, e := range append(h.run(job, 1.6, record.Conditions{}), h.run(4*time.Hour-job, 1, record.Conditions{})...) {
			if e.To == record.Regressed {
				told++
			}
		}
		return told
	}
	night(0)
	assert.Positive(t, night(time.Hour))
	for job := 80 * time.Minute; job <= 3*time.Hour; job += 20 * time.Minute {
		assert.Zero(t, night(job), job)
	}
	// But a drive that becomes slow during the job, and stays so, is found after it.
	h.run(20*time.Hour, 1, record.Conditions{})
	h.run(4*time.Hour, 1.6, record.Conditions{})
	assert.Equal(t, record.Regressed, h.p50().State)
}

// A slowdown that takes longer each day is no job any more when it takes half of the day.
func TestASlowdownThatGrowsIsFound(t *testing.T) {
	testenv.Long(t)
	h := newHistory(t)
	h.run(day, 1, record.Conditions{})
	found := time.Duration(0)
	for long := time.Hour; long < day; long += 25 * time.Minute {
		for _, e := range h.run(long, 2, record.Conditions{}) {
			if e.To == record.Regressed && long > 4*time.Hour && found == 0 {
				found = long
			}
		}
		h.run(day-long, 1, record.Conditions{})
	}
	assert.Positive(t, found)
	assert.LessOrEqual(t, found, 13*time.Hour)
}
