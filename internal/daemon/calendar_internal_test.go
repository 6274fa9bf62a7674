package daemon

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/fleet/fleettest"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A time with a monotonic reading is compared by that reading, and would never seem to be before one from before the
// clock was set back.
func TestTheCalendarGoesByTheWallClock(t *testing.T) {
	now := wallClock()
	assert.Equal(t, now.Round(0), now)
}

// A run on a target that hangs must wait without starting, because it would delay all later runs.
func TestARunOnATargetThatHangsWaits(t *testing.T) {
	c, w := &calendar{}, &watch{target: target{access: newAccess()}}
	require.True(t, w.access.hangs(&guard.HungError{Since: time.Now()}))
	_, err := c.attempt(t.Context(), w, config.Run{Suite: "quick"})
	require.ErrorIs(t, err, errHangs)
	assert.Equal(t, busyRetry, c.waitAfter(err))
}

// toRun returns a calendar for watches, with runs that end in an error at once: their suite does not exist.
func toRun(t *testing.T, runs *[]config.Run, watches map[string]*watch) *calendar {
	t.Helper()
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	for id, w := range watches {
		w.spec.ID, w.access, w.suites, w.log = id, newAccess(), newSuites(&w.target, nil, nil), log
	}
	return &calendar{
		shared: &shared{state: newStorage(dir, log), log: log},
		runs:   func() []config.Run { return *runs }, watches: func() map[string]*watch { return watches },
	}
}

func outcome(t *testing.T, w *watch, want record.RunOutcome) {
	t.Helper()
	list := w.suites.list()
	require.Len(t, list, 1)
	for _, o := range record.RunOutcomes() {
		assert.EqualValues(t, map[bool]int{true: 1}[o == want], list[0].Outcomes[o], o)
	}
}

// A target that cannot be measured now does not keep the others from being measured within the window.
func TestATargetThatHangsDoesNotDelayTheRunsOfOthers(t *testing.T) {
	runs := []config.Run{{Suite: "none"}}
	watches := map[string]*watch{"a": {}, "b": {}, "c": {}}
	c := toRun(t, &runs, watches)
	for _, id := range []string{"a", "b"} {
		require.True(t, watches[id].access.hangs(&guard.HungError{Since: time.Now()}))
	}
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		go func() { defer close(ended); c.execute(t.Context(), runs[0], time.Now().Add(time.Hour)) }()
		synctest.Wait()
		outcome(t, watches["c"], record.RunError)
		assert.Contains(t, watches["a"].suites.list()[0].Waits, "does not answer")
		watches["b"].access.answers()
		<-time.After(2 * busyRetry) // of the time of the bubble
		outcome(t, watches["b"], record.RunError)
		<-ended
		outcome(t, watches["a"], record.RunRefused)
		assert.Contains(t, watches["a"].suites.list()[0].Problem, "the window of the run has closed: the target does not answer")
	})
}

// Settings that a killed run has left changed cannot be restored while the state directory hangs.
func TestTheCalendarEndsWhileTheStateDirectoryHangs(t *testing.T) {
	c := toRun(t, new([]config.Run{}), nil)
	testenv.HungFilesystem(t, c.state.Dir.Dir())
	ctx, end := context.WithTimeout(t.Context(), time.Millisecond)
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- c.follow(ctx) }()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		assert.Fail(t, "it hangs")
	}
}

// A run that a new configuration no longer has does not begin on the targets that are left, and ends on the one where it
// is in progress.
func TestARunThatIsRemoved(t *testing.T) {
	runs := []config.Run{{Suite: "none", MaxCPUPressure: 1}}
	r := runs[0]
	watches := map[string]*watch{"a": {}, "b": {}}
	c := toRun(t, &runs, watches)
	c.watches = func() map[string]*watch {
		if len(watches["a"].suites.list()) > 0 { // the run on a has begun
			runs = nil
		}
		return watches
	}
	c.execute(t.Context(), r, time.Now().Add(time.Hour))
	outcome(t, watches["a"], record.RunError)
	assert.Empty(t, watches["b"].suites.list())
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		c.oversee(ctx, watches["a"], r, end)
		assert.Equal(t, errUnscheduled, context.Cause(ctx))
	})
	assert.Equal(t, record.RunShort, runOutcome(t.Context(), record.RunReport{}, errUnscheduled, false))
	assert.Zero(t, c.waitAfter(errUnscheduled))
}

// A run whose limits change goes on under the new ones, also for a watch that a reload has replaced.
func TestARunWhoseLimitsChange(t *testing.T) {
	runs := []config.Run{{Suite: "none", MaxCPUPressure: 1, Keep: 20}}
	r := runs[0]
	c := toRun(t, &runs, map[string]*watch{"a": quietWatch(t)})
	runs[0].Keep, runs[0].MaxCPUPressure = 30, 0.5
	now, ok := c.scheduled(r)
	require.True(t, ok)
	assert.Equal(t, runs[0], now)
	runs[0].MaxOthers = 0.1 // it was given to the run at its beginning
	_, ok = c.scheduled(r)
	assert.False(t, ok)

	w := quietWatch(t)
	began := time.Now().Add(-time.Hour)
	over := w.access.rest.begin("none", began)
	replaced := newWatch(w.spec, sighting{}, w.access, w.shared)
	require.Len(t, replaced.suites.list(), 1)
	assert.Equal(t, began, replaced.suites.list()[0].Since)
	over()
	assert.Empty(t, newWatch(w.spec, sighting{}, w.access, w.shared).suites.list())
}

// Quiet hours of a new configuration end a run in progress.
func TestQuietHoursThatAreAddedDuringARun(t *testing.T) {
	runs := []config.Run{{Suite: "none", MaxCPUPressure: 1}}
	c := toRun(t, &runs, map[string]*watch{"a": quietWatch(t)})
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		c.oversee(ctx, &watch{target: target{spec: spec{Target: measure.Target{ID: "a"}}}}, runs[0], end)
		assert.Equal(t, errQuietBegins, context.Cause(ctx))
	})
}

// A run that is added after its time of today begins tomorrow.
func TestARunThatIsAddedAfterItsTimeWaitsForTheNext(t *testing.T) {
	runs := []config.Run{}
	c := toRun(t, &runs, nil)
	executed := 0
	c.watches = func() map[string]*watch { executed++; return nil }
	synctest.Test(t, func(t *testing.T) {
		from := wallClock() // midnight
		until := func(hours time.Duration) {
			for end := from.Add(hours * time.Hour); from.Before(end); {
				from = c.step(t.Context(), from)
			}
		}
		until(10)
		runs = []config.Run{{Suite: "none", Calendar: config.Calendar{Schedule: "0 9 * * *", TimeZone: "UTC"}, Window: 4 * time.Hour}}
		until(22)
		assert.Zero(t, executed)
		until(2)
		assert.Equal(t, 1, executed)
	})
}

// A run that is due while another one is in progress is skipped, and its status says so.
func TestARunThatIsDueDuringAnother(t *testing.T) {
	at := func(suite, schedule string) config.Run {
		return config.Run{Suite: suite, Calendar: config.Calendar{Schedule: schedule, TimeZone: "UTC"}, Window: 2 * time.Hour}
	}
	runs := []config.Run{at("long", "0 3 * * *"), at("during", "0 4 * * *"), at("after", "0 6 * * *")}
	w := &watch{}
	c := toRun(t, &runs, map[string]*watch{"a": w})
	require.True(t, w.access.hangs(&guard.HungError{Since: time.Now()})) // so the run waits until its window closes
	synctest.Test(t, func(t *testing.T) {
		from := wallClock() // midnight
		for end := from.Add(5*time.Hour + 10*time.Minute); from.Before(end); {
			from = c.step(t.Context(), from)
		}
		list := w.suites.list()
		require.Len(t, list, 2)
		assert.Contains(t, list[0].Problem, "the window of the run has closed")
		assert.Equal(t, "during", list[1].Suite)
		assert.Equal(t, errOverlap.Error(), list[1].Problem)
		assert.EqualValues(t, 1, list[1].Outcomes[record.RunRefused])
		assert.EqualValues(t, 1, list[0].Outcomes[record.RunRefused], "once")
	})
}

// A task that hangs in the kernel does not keep the daemon from ending.
func TestATaskThatDoesNotEndIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		release := make(chan struct{})
		defer close(release)
		stop()
		err := within(ctx, endTimeout, func() error { <-release; return nil })
		require.ErrorContains(t, err, "a task has not ended within 20s")
		require.ErrorIs(t, within(ctx, endTimeout, func() error { return assert.AnError }), assert.AnError)
	})
}

// Thousands of nodes do not ask the API server for a permit at the moment at which a run becomes due on all of them.
func TestNodesOfAFleetAskOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := []config.Run{{Suite: "none"}}
		asked := map[time.Duration]bool{}
		for range 20 {
			w := &watch{}
			c := toRun(t, &runs, map[string]*watch{"a": w})
			c.fleet = &permits{semaphore: fleet.New(fleettest.NewShelf(), fleet.Options{Permits: 1, Duration: time.Hour})}
			due := time.Now()
			c.execute(t.Context(), runs[0], due.Add(time.Minute))
			outcome(t, w, record.RunError) // it came to the suite, so its window was not over
			asked[time.Since(due)] = true
		}
		assert.Greater(t, len(asked), 10)
	})
}
