package daemon

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// always returns quiet hours that never end.
func always() config.QuietHours {
	return config.QuietHours{{Calendar: config.Calendar{Schedule: "* * * * *", TimeZone: "UTC"}, Duration: time.Hour}}
}

func quietWatch(t *testing.T) *watch {
	t.Helper()
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	w := newWatch(spec{
		Target: measure.Target{ID: "file:/srv", Path: "/srv", File: true}, Probes: record.DefaultProbes(), Quiet: always(),
	}, sighting{}, newAccess(), &shared{judging: newJudging(drift.Default()), tell: func([]judge.Event) {}, log: slog.New(slog.DiscardHandler), state: newStorage(dir, slog.New(slog.DiscardHandler)), latencies: export.NewLatencies()})
	w.shared.judging.attach(w)
	return w
}

// No round is due in quiet hours. Afterwards each probe keeps its place, and no round counts as busy.
func TestQuietHoursPutOffRounds(t *testing.T) {
	w := quietWatch(t)
	until := time.Date(2126, 11, 23, 18, 0, 0, 0, time.UTC)
	w.rounds.keepQuiet(until)
	s := w.Status(time.Now())
	assert.Empty(t, s.Problem, "it is no fault of the target")
	places := map[time.Time]bool{}
	for _, p := range s.Probes {
		assert.True(t, p.Next.After(until), p.Next)
		assert.LessOrEqual(t, p.Next.Sub(until), p.Probe.Interval*3/2)
		places[p.Next] = true
		assert.Zero(t, p.Rounds[record.OutcomeBusy])
		assert.Contains(t, p.Next.String(), " m=", "or a clock that is set back by a day would put them off for a day more")
	}
	assert.Len(t, places, len(s.Probes))
}

// Requests that came during a run, which quiet hours have ended, would all be met at once when these are over.
func TestQuietHoursDropRequestsForRounds(t *testing.T) {
	w := quietWatch(t)
	for range askedAhead {
		w.rounds.asked <- ask{w.rounds.probes[0].probe.Name, time.Now()}
	}
	w.rounds.keepQuiet(time.Now().Add(time.Hour))
	assert.Empty(t, w.rounds.asked)
}

// A round may wait for those of slow drives while quiet hours begin.
func TestNoRoundBeginsInQuietHoursThatItHasWaitedInto(t *testing.T) {
	w := watchFile(t, nil).replaced(t, nil)
	require.NoError(t, w.open(t.Context()))
	defer w.opener.close()
	w.spec.Quiet = always()
	_, ok := w.round(t.Context(), w.rounds.probes[0])
	assert.False(t, ok)
	assert.Empty(t, w.shared.slots, "it gives its turn back")
	w.spec.Quiet = nil
	_, ok = w.round(t.Context(), w.rounds.probes[0])
	assert.True(t, ok)
}

func TestRunsByTheCalendarInQuietHours(t *testing.T) {
	w := quietWatch(t)
	c := &calendar{shared: w.shared}
	_, err := c.attempt(t.Context(), w, config.Run{Suite: "quick"})
	require.ErrorIs(t, err, errQuiet)
	assert.Equal(t, busyRetry, c.waitAfter(err), "it may begin after them, within its window")
	_, err = c.measure(t.Context(), w, config.Run{Suite: "quick"}, run.Suite{})
	require.ErrorIs(t, err, errQuiet, "they began while it waited for a permit")

	w.suites.begin("quick", time.Now()) // and the run found the device busy
	assert.True(t, w.suites.wait("quick", err))
	assert.Zero(t, w.suites.list()[0].Since, "a run that waits for hours is not in progress")

	began := time.Now().Add(-time.Minute)
	ctx, cancel := beforeQuiet(t.Context(), always(), began.Add(-time.Minute))
	defer cancel()
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), errQuietBegins)
	assert.Equal(t, record.RunShort, runOutcome(t.Context(), record.RunReport{}, errQuietBegins, false))
	assert.Zero(t, c.waitAfter(errQuietBegins), "it does not begin again")

	ctx, cancel = beforeQuiet(t.Context(), nil, time.Now())
	defer cancel()
	require.NoError(t, ctx.Err())
}

// Quiet hours interrupt the filling of a probe file, which continues after them.
func TestQuietHoursEndAFill(t *testing.T) {
	w := quietWatch(t)
	w.spec.Path = t.TempDir()
	w.opener.setProblem("filling the probe file: 1 of 1024 MiB")
	require.NoError(t, w.openBeforeQuiet(t.Context(), time.Now().Add(-2*time.Minute)))
	assert.Nil(t, w.opener.session)
	assert.Empty(t, w.Status(time.Now()).Problem)
	left, err := os.ReadDir(w.spec.Path)
	require.NoError(t, err)
	assert.Empty(t, left)
}
