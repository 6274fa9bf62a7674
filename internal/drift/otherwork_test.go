package drift_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// worker is a drive at work: an I/O of others takes 10 µs plus the time of its bytes at 3 GB/s, and I/Os wait for
// each other.
type worker struct {
	probe, traffic *drift.Tracker
	minute         int
}

func newWorker() *worker {
	return &worker{probe: drift.NewTracker(drift.Default()), traffic: drift.NewTrafficTracker(drift.Default())}
}

// run lets others ask for a rate of I/Os a second, with a daily wave. size is in bytes, and reads is their share.
func (w *worker) run(d time.Duration, rate, size, reads, slower float64, c record.Conditions) {
	for range int(d / time.Minute) {
		w.minute++
		noise := 1 + 0.03*float64(w.minute*7%17-8)/8
		served := rate * (1 + 0.5*math.Sin(2*math.Pi*float64(w.minute)/1440))
		u := 1 - math.Exp(-served*slower*(10e-6+size/3e9))
		x := 80e-6 * slower * noise * (1 + 0.7*u) / (1 - 0.35*u*u)
		now := time.Unix(int64(w.minute)*60, 0)
		work := drift.Work{Known: true, Reads: served * reads, Writes: served * (1 - reads), ReadBytes: served * reads * size, WrittenBytes: served * (1 - reads) * size}
		w.probe.AddRound(drift.Round{Time: now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Utilisation: u, Work: work}, c)
		one := x + size/1.5e9
		w.traffic.AddRound(drift.Round{Time: now, Values: drift.Values{one, 0.4 * one, 2 * one}, Utilisation: u, Work: work}, c)
	}
}

func (w *worker) now() time.Time { return time.Unix(int64(w.minute)*60, 0) }

func TestAnotherMixOfWorkIsNoSlowerDrive(t *testing.T) {
	conditions := record.Conditions{Kernel: "6.1"}
	for name, other := range map[string]struct{ rate, size, reads float64 }{
		"larger":  {6000, 65536, 0.9},
		"smaller": {40000, 1024, 0.9},
		"writes":  {20000, 4096, 0.2},
	} {
		w := newWorker()
		w.run(2*day, 20000, 4096, 0.9, 1, conditions)
		w.run(2*day, other.rate, other.size, other.reads, 1, conditions)
		for _, x := range w.probe.Status(w.now()).Drift {
			assert.NotEqual(t, record.Regressed, x.State, "%s: %s %.2f", name, x.Statistic, x.Ratio)
		}
		w.run(6*time.Hour, other.rate, other.size, other.reads, 3, conditions)
		assert.Equal(t, record.Regressed, w.probe.Status(w.now()).Drift[0].State, "%s: it is slower all the same", name)
	}
}

// The level of the probes under far more load than was known is learned with the work that brings the load, as far as
// a queue explains it.
func TestOtherWorkThatBringsMoreLoadIsNoSlowerDrive(t *testing.T) {
	conditions := record.Conditions{Kernel: "6.1"}
	more := func(slower float64) []record.Drift {
		w := newWorker()
		w.run(2*day, 2000, 4096, 0.9, 1, conditions)
		w.run(2*day, 60000, 1024, 0.9, slower, conditions)
		return w.probe.Status(w.now()).Drift
	}
	for _, x := range more(1) {
		assert.NotEqual(t, record.Regressed, x.State, "%s %.2f", x.Statistic, x.Ratio)
	}
	assert.Equal(t, record.Regressed, more(4)[0].State, "no queue explains that")
}

func TestTrafficHasNoLevelForOtherWork(t *testing.T) {
	w := newWorker()
	w.run(2*day, 5000, 4096, 0.9, 1, record.Conditions{Kernel: "6.1"})
	w.run(2*day, 2000, 65536, 0.9, 1, record.Conditions{Kernel: "6.1"})
	w.run(2*day, 2000, 65536, 0.9, 1, record.Conditions{Kernel: "6.2"})
	drift := w.traffic.Status(w.now()).Drift
	for _, x := range drift {
		assert.NotEqual(t, record.Regressed, x.State, "%s %.2f", x.Statistic, x.Ratio)
	}
	assert.InDelta(t, 1, drift[0].Ratio, 0.05, "the level was learned anew")
}

// A kernel makes the traffic be learned again, and half a day later the application asks for more and larger I/Os. A load
// curve through both kinds would be far too low under the loads between them.
func TestACurveIsLearnedFromOneKindOfWork(t *testing.T) {
	w := newWorker()
	w.run(2*day, 5000, 4096, 0.9, 1, record.Conditions{Kernel: "6.1"})
	after := record.Conditions{Kernel: "6.2"}
	w.run(12*time.Hour, 5000, 4096, 0.9, 1, after)
	for range 60 {
		w.run(time.Hour, 15000, 65536, 0.9, 1, after)
		for _, x := range w.traffic.Status(w.now()).Drift {
			assert.NotEqual(t, record.Regressed, x.State, "%s: %s %.2f", w.now(), x.Statistic, x.Ratio)
		}
	}
	require.True(t, w.traffic.Known(w.now()))
	w.run(time.Hour, 15000, 65536, 0.9, 2, after)
	assert.Equal(t, record.Regressed, w.traffic.StateOf(0))
}

// A machine is set up, and then put to use, both on the day on which its traffic is learned.
func TestACurveIsLearnedFromTheLastOfManyKindsOfWork(t *testing.T) {
	w := newWorker()
	w.run(2*day, 5000, 4096, 0.9, 1, record.Conditions{Kernel: "6.1"})
	after := record.Conditions{Kernel: "6.2"}
	w.run(3*time.Hour, 5000, 1024, 0.9, 1, after)
	w.run(12*time.Hour, 5000, 4096, 0.9, 1, after)
	for range 60 {
		w.run(time.Hour, 15000, 65536, 0.9, 1, after)
		for _, x := range w.traffic.Status(w.now()).Drift {
			require.NotEqual(t, record.Regressed, x.State, "%s: %s %.2f", w.now(), x.Statistic, x.Ratio)
		}
	}
}

// One block of other work hours before does not hide that the application has changed since.
func TestASingleOddBlockDoesNotMakeACurveOfTwoKindsOfWork(t *testing.T) {
	testenv.Long(t)
	for hours := range 9 {
		w := newWorker()
		w.run(2*day, 5000, 4096, 0.9, 1, record.Conditions{Kernel: "6.1"})
		after := record.Conditions{Kernel: "6.2"}
		w.run(3*time.Hour, 5000, 4096, 0.9, 1, after)
		w.run(10*time.Minute, 5000, 65536, 0.9, 1, after)
		w.run(time.Duration(hours+1)*time.Hour, 5000, 4096, 0.9, 1, after)
		for range 60 {
			w.run(time.Hour, 15000, 65536, 0.9, 1, after)
			for _, x := range w.traffic.Status(w.now()).Drift {
				require.NotEqual(t, record.Regressed, x.State, "after %d hours: %s: %s %.2f", hours, w.now(), x.Statistic, x.Ratio)
			}
		}
	}
}

// A nightly job has I/Os of another size. The baseline has both kinds of work then, after a day.
func TestANightlyJobOfOtherSizesIsLearned(t *testing.T) {
	w := newWorker()
	conditions := record.Conditions{Kernel: "6.1"}
	w.run(12*time.Hour, 5000, 4096, 0.9, 1, conditions)
	for range 2 {
		w.run(2*time.Hour, 3000, 65536, 0.9, 1, conditions)
		w.run(22*time.Hour, 5000, 4096, 0.9, 1, conditions)
	}
	assert.Equal(t, record.Final, w.traffic.Maturity())
}

// Work that changes while its drive is slow is learned, too. That does not end the regression: the drive is about as
// slow under the new work.
func TestOtherWorkOfASlowDriveIsLearned(t *testing.T) {
	w := newWorker()
	conditions := record.Conditions{Kernel: "6.1"}
	w.run(2*day, 5000, 4096, 0.9, 1, conditions)
	w.run(6*time.Hour, 5000, 4096, 0.9, 1.5, conditions)
	require.Equal(t, record.Regressed, w.traffic.StateOf(0))
	w.run(2*day, 2000, 65536, 0.9, 1.5, conditions)
	read := w.traffic.Status(w.now()).Drift[0]
	assert.Equal(t, record.Regressed, read.State)
	assert.InDelta(t, 1.5, read.Ratio, 0.15, "and it is known")
	w.run(6*time.Hour, 2000, 65536, 0.9, 1, conditions)
	assert.Less(t, w.traffic.Status(w.now()).Drift[0].Ratio, 1.2, "and so is what it is like when that is over")
}

func TestOtherWorkThatStaysIsLearned(t *testing.T) {
	w := newWorker()
	conditions := record.Conditions{Kernel: "6.1"}
	w.run(2*day, 5000, 4096, 0.9, 1, conditions)
	w.run(12*time.Hour, 2000, 65536, 0.9, 1, conditions)
	assert.False(t, w.traffic.Known(w.now()), "what such work takes is not known yet")
	w.run(2*day, 2000, 65536, 0.9, 1, conditions)
	assert.True(t, w.traffic.Known(w.now()))
	assert.InDelta(t, 1, w.traffic.Status(w.now()).Drift[0].Ratio, 0.05)
	w.run(time.Hour, 2000, 65536, 0.9, 2, conditions)
	assert.Equal(t, record.Regressed, w.traffic.Status(w.now()).Drift[0].State)
}

func TestAFaultThatAChangeMendedIsNoEffectOfIt(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{Kernel: "6.1"})
	h.run(3*time.Hour, 1.5, record.Conditions{Kernel: "6.1"})
	require.Equal(t, record.Regressed, h.p50().State)
	h.run(3*day, 0.98, record.Conditions{Kernel: "6.2"})
	assert.Equal(t, record.Stable, h.p50().State)
	assert.InDelta(t, 0.98, h.p50().Ratio, 0.03, "the baseline is that of before the fault")
}

// A drive ages by 1 % a month, with a new kernel every month and days without the daemon between.
func TestSlowAgeingOfYears(t *testing.T) {
	testenv.Long(t)
	h := newHistory(t)
	kernel := func(month int) record.Conditions { return record.Conditions{Kernel: "6." + string(rune('A'+month))} }
	h.run(day+12*time.Hour, 1, kernel(0))
	found := 0
	for month := range 36 {
		h.run(day+6*time.Hour, math.Pow(1.01, float64(month+1)), kernel(month+1))
		h.minute += 28 * 24 * 60
		if found == 0 && h.p50().State == record.Regressed {
			found = month + 1
		}
	}
	assert.InDelta(t, 9, found, 2, "months until +8 %")
	assert.Equal(t, record.Regressed, h.p50().State)
	h.run(3*time.Hour, math.Pow(1.01, 36), kernel(36))
	assert.InDelta(t, math.Pow(1.01, 36), h.p50().Ratio, 0.05)
}

// On the first day, little is known of what the work of others takes. A drive that becomes slow is busier with the
// same work, and that must not explain the slowdown away.
func TestABusyFirstDayHidesNoSlowerDrive(t *testing.T) {
	testenv.Long(t)
	conditions := record.Conditions{Kernel: "6.1"}
	for _, since := range []time.Duration{3 * time.Hour, 5 * time.Hour} {
		for _, rate := range []float64{5000, 20000, 60000} {
			for _, slower := range []float64{2, 5, 20} {
				w := newWorker()
				w.run(since, rate, 4096, 0.9, 1, conditions)
				w.run(time.Hour, rate, 4096, 0.9, slower, conditions)
				if slower > 2 {
					assert.Equal(t, record.Regressed, w.probe.StateOf(0), "%.0f a second, %.0f times slower after %v, for an hour", rate, slower, since)
				}
				w.run(2*day, rate, 4096, 0.9, slower, conditions)
				assert.Equal(t, record.Regressed, w.probe.StateOf(0), "%.0f a second, %.0f times slower after %v, for two days", rate, slower, since)
				assert.Greater(t, w.probe.Drift()[0].Ratio, 1.5, "%.0f a second, %.0f times slower after %v, for two days", rate, slower, since)
			}
		}
	}
}

func TestAPinnedLevelHoldsAtTheLoadThatItWasLearnedUnder(t *testing.T) {
	conditions := record.Conditions{Kernel: "6.1"}
	w := newWorker()
	w.run(2*day, 1000, 4096, 1, 1, conditions)
	pinned, err := w.probe.State().Pin()
	require.NoError(t, err)
	require.NoError(t, w.probe.Restore(pinned))
	values := w.probe.Status(w.now()).Baseline.Values

	w.run(3*day, 12_000, 65536, 0.5, 1, conditions)
	assert.Equal(t, record.Stable, w.probe.Status(w.now()).Drift[0].State)
	w.run(day, 1000, 4096, 1, 1, conditions)
	d := w.probe.Status(w.now()).Drift[0]
	assert.Equal(t, record.Stable, d.State)
	assert.InDelta(t, 1, d.Ratio, 0.05)
	assert.Equal(t, values, w.probe.Status(w.now()).Baseline.Values)
}

// A slow drive recovers just when others begin to ask for far more I/Os of the same size. That they are hardly slower than before
// shows that it is not as slow as it was: at once, and in what is learned of this work.
func TestMoreIOsOfTheSameSizeEndASlowDrive(t *testing.T) {
	conditions := record.Conditions{Kernel: "6.1"}
	after := func(more time.Duration, slower float64) record.Drift {
		w := newWorker()
		w.run(2*day, 1000, 4096, 0.9, 1, conditions)
		w.run(6*time.Hour, 1000, 4096, 0.9, 5, conditions)
		require.Equal(t, record.Regressed, w.traffic.StateOf(0))
		w.run(more, 10_000, 4096, 0.9, slower, conditions)
		return w.traffic.Status(w.now()).Drift[0]
	}
	assert.NotEqual(t, record.Regressed, after(2*time.Hour, 1).State)
	assert.Equal(t, record.Stable, after(2*day, 1).State)
	assert.Equal(t, record.Regressed, after(2*time.Hour, 5).State)
	still := after(2*day, 5)
	assert.Equal(t, record.Regressed, still.State)
	assert.InDelta(t, 5, still.Ratio, 0.5)
}

// A slow drive recovers hours after others began to do other work, which is being learned. That the same work suddenly takes far
// less, with more I/Os, shows that the drive is not slow any more: what is learned of this work is not far faster than ever.
func TestASlowDriveThatRecoversWhileOtherWorkIsLearned(t *testing.T) {
	conditions := record.Conditions{Kernel: "6.1"}
	after := func(slower, more float64) []record.Drift {
		w := newWorker()
		w.run(2*day, 1000, 8192, 0.75, 1, conditions)
		w.run(18*time.Hour, 1000, 8192, 0.75, 8, conditions)
		require.Equal(t, record.Regressed, w.traffic.StateOf(0))
		w.run(9*time.Hour, 1000, 2048, 0.75, 8, conditions)
		w.run(2*day, more, 2048, 0.75, slower, conditions)
		return w.traffic.Status(w.now()).Drift
	}
	for _, recovered := range after(1, 6000) {
		assert.Equal(t, record.Stable, recovered.State, recovered.Statistic)
		assert.InDelta(t, 1, recovered.Ratio, 0.3, recovered.Statistic)
	}
	for _, still := range after(8, 1000) {
		assert.Equal(t, record.Regressed, still.State, still.Statistic)
		assert.InDelta(t, 8, still.Ratio, 1, still.Statistic)
	}
}

// I/Os of other work that become faster by themselves, as they turn from random to sequential, end no regression.
func TestFasterIOsOfTheSameSizeDoNotEndASlowDrive(t *testing.T) {
	tracker, minute := drift.NewTrafficTracker(drift.Default()), 0
	run := func(d time.Duration, rate, size, slower float64) {
		for range int(d / time.Minute) {
			minute++
			x := (80e-6 + size/1.5e9) * slower * (1 + 0.03*float64(minute*7%17-8)/8)
			tracker.AddRound(drift.Round{
				Time: time.Unix(int64(minute)*60, 0), Values: drift.Values{x}, Utilisation: 1 - math.Exp(-rate*(10e-6+size/3e9)),
				Work: drift.Work{Known: true, Reads: rate, ReadBytes: rate * size},
			}, record.Conditions{Kernel: "6.1"})
		}
	}
	run(2*day, 1000, 8192, 1)
	run(14*time.Hour, 1000, 8192, 2)
	run(6*time.Hour, 500, 65536, 2)
	run(3*day, 2000, 65536, 2*0.6)
	assert.Equal(t, record.Regressed, tracker.StateOf(0))
}

// What is gathered of other work before a regression is found may be as slow: that the drive is no slower than then is no recovery.
func TestADriveThatGotSlowUnderOtherWorkStaysSlow(t *testing.T) {
	conditions := record.Conditions{Kernel: "6.1"}
	for _, slower := range []float64{1.5, 3} {
		w := newWorker()
		w.run(2*day, 1000, 8192, 0.75, 1, conditions)
		w.run(8*time.Hour, 1000, 2048, 0.75, slower, conditions)
		w.run(time.Hour, 1000, 8192, 0.75, slower, conditions)
		require.Equal(t, record.Regressed, w.traffic.StateOf(0), slower)
		w.run(3*day, 4000, 2048, 0.75, slower, conditions)
		for i := range 2 {
			assert.Equal(t, record.Regressed, w.traffic.StateOf(i), "%v, %s", slower, w.traffic.Statistics()[i])
		}
	}
}

// An hour of backup on the first day, at loads that the drive has at no other time, is an effect of load. As noise it would hide
// for a day that the drive is slower.
func TestANightlyJobOfTheFirstDayIsNoNoise(t *testing.T) {
	conditions := record.Conditions{Kernel: "6.1"}
	night := func(w *worker, job time.Duration) {
		w.run(3*time.Hour, 2000, 16384, 0.9, 1, conditions)
		w.run(job, 4000, 524288, 0.9, 1, conditions)
		w.run(day-3*time.Hour-job, 2000, 16384, 0.9, 1, conditions)
	}
	w := newWorker()
	night(w, time.Hour)
	night(w, time.Hour)
	w.run(6*time.Hour, 2000, 16384, 0.9, 1.5, conditions)
	assert.Equal(t, record.Regressed, w.probe.StateOf(0))
	assert.Equal(t, record.Regressed, w.traffic.StateOf(0))

	w = newWorker()
	for range 3 {
		night(w, time.Hour)
	}
	night(w, 3*time.Hour)
	for _, tracker := range []*drift.Tracker{w.probe, w.traffic} {
		for _, x := range tracker.Status(w.now()).Drift {
			assert.NotEqual(t, record.Regressed, x.State, "%s %.2f: the weekly backup takes longer", x.Statistic, x.Ratio)
		}
	}
}

// On a weekend with hardly any I/O, the mean latency of some I/Os varies far more than that of many.
func TestFewIOsAreNotSlowRounds(t *testing.T) {
	few := func(rate, slow float64) *worker {
		w := newWorker()
		for range 2 * 24 * 60 {
			w.run(time.Minute, 200, 4096, 0.7, 1, record.Conditions{})
		}
		for minute := range 24 * 60 {
			slower := 1.0
			if minute%7 == 0 {
				slower = slow
			}
			w.run(time.Minute, rate, 4096, 0.7, slower, record.Conditions{})
		}
		return w
	}
	assert.Equal(t, record.Regressed, few(200, 2).traffic.StateOf(0))
	assert.Equal(t, record.Stable, few(5, 2).traffic.StateOf(0))
}

// A drive that fails while its users' other work is being learned must not make a failing drive the normal one.
func TestADriveThatFailsWhileOtherWorkIsLearnedIsFound(t *testing.T) {
	for _, after := range []time.Duration{4 * time.Hour, 8 * time.Hour, 18 * time.Hour} {
		t.Run(after.String(), func(t *testing.T) {
			w, c := newWorker(), record.Conditions{Kernel: "6.1"}
			w.run(2*day, 5000, 4096, 0.9, 1, c)
			if after == 8*time.Hour {
				c.Kernel = "6.2"
			}
			w.run(after, 2000, 65536, 0.9, 1, c)
			require.NotEqual(t, record.Regressed, w.traffic.StateOf(0))
			w.run(150*time.Minute, 2000, 65536, 0.9, 10, c)
			found := w.traffic.Status(w.now()).Drift[0]
			require.Equal(t, record.Regressed, found.State)
			assert.InDelta(t, 9, found.Ratio, 2, "seven times, and a queue")
			w.run(2*day, 2000, 65536, 0.9, 10, c)
			assert.Equal(t, record.Regressed, w.traffic.StateOf(0), "it lasts")
			assert.InDelta(t, 9, w.traffic.Status(w.now()).Drift[0].Ratio, 2)
			w.run(6*time.Hour, 2000, 65536, 0.9, 1, c)
			assert.Equal(t, record.Stable, w.traffic.StateOf(0))
		})
	}
}

// What other work does by itself is no failure: it is learned, and nothing is told meanwhile.
func TestWhatOtherWorkTakesIsNoFailingDrive(t *testing.T) {
	const usual = 65536
	for name, then := range map[string]func(run func(d time.Duration, rate, size, slower float64)){
		"more":           func(run func(time.Duration, float64, float64, float64)) { run(20*time.Hour, 40000, usual, 1) },
		"larger":         func(run func(time.Duration, float64, float64, float64)) { run(20*time.Hour, 2000, 1.4*usual, 1) },
		"far larger":     func(run func(time.Duration, float64, float64, float64)) { run(20*time.Hour, 2000, 8*usual, 1) },
		"a little slow":  func(run func(time.Duration, float64, float64, float64)) { run(14*time.Hour, 2000, usual, 1.6) },
		"soon after all": func(run func(time.Duration, float64, float64, float64)) { run(20*time.Hour, 2000, usual, 3) },
		"asleep":         func(run func(time.Duration, float64, float64, float64)) { run(14*time.Hour, 20, usual, 3) },
		"spells": func(run func(time.Duration, float64, float64, float64)) {
			for range 5 {
				run(100*time.Minute, 2000, usual, 3)
				run(80*time.Minute, 2000, usual, 1)
			}
		},
		"fast for an hour a day": func(run func(time.Duration, float64, float64, float64)) {
			for range 4 {
				run(3*time.Hour, 2000, usual, 3)
				run(time.Hour, 2000, usual, 1)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := newWorker(), record.Conditions{Kernel: "6.1"}
			run := func(d time.Duration, rate, size, slower float64) {
				for ; d > 0; d -= 10 * time.Minute {
					w.run(min(d, 10*time.Minute), rate, size, 0.9, slower, c)
					require.NotEqual(t, record.Regressed, w.traffic.StateOf(0))
					require.NotEqual(t, record.Regressed, w.traffic.StateOf(1))
				}
			}
			run(2*day, 5000, 4096, 1)
			switch name {
			case "soon after all":
				run(150*time.Minute, 2000, usual, 1) // an hour until it is other work that stays, and less than two are gathered
			case "fast for an hour a day":
				run(7*time.Hour, 2000, usual, 3)
			default:
				run(7*time.Hour, 2000, usual, 1)
			}
			then(run)
		})
	}
}

// Other work is learned if it stays, and not if it comes for less than an hour at a time.
func TestOtherWorkThatComesAndGoesIsNotLearned(t *testing.T) {
	for each, learned := range map[time.Duration]bool{50 * time.Minute: false, 70 * time.Minute: true} {
		w, c := newWorker(), record.Conditions{Kernel: "6.1"}
		w.run(2*day, 5000, 4096, 0.9, 1, c)
		before := w.traffic.Status(w.now()).Baseline.Learned
		for range 48 {
			w.run(each, 2000, 65536, 0.9, 1, c)
			w.run(10*time.Minute, 5000, 4096, 0.9, 1, c)
		}
		assert.Equal(t, learned, w.traffic.Status(w.now()).Baseline.Learned.After(before), "%s", each)
	}
}
