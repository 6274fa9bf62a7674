package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

func day(n int) time.Time { return time.Date(2026, 11, n, 12, 0, 0, 0, time.UTC) }

func at3(n int) time.Time { return time.Date(2026, 11, n, 3, 0, 0, 0, time.UTC) }

func daily(suite string, targets ...string) config.Run {
	return config.Run{Suite: suite, Calendar: config.Calendar{Schedule: "0 3 * * *", TimeZone: "UTC"}, Targets: targets}
}

func weekly(suite string) config.Run {
	return config.Run{Suite: suite, Calendar: config.Calendar{Schedule: "0 3 * * 0", TimeZone: "UTC"}} // 22 November 2026 is a Sunday
}

// ranOn is a watch of which quick was last complete on that day.
func ranOn(n int) *watch {
	w := &watch{spec: spec{Target: measure.Target{ID: "eui.1", Path: "/dev/nvme0n1"}}, planned: map[string]state.Planned{}}
	if n > 0 {
		w.runStatus("quick").Complete = day(n)
	}
	return w
}

// restarted is what becomes of a watch when the daemon starts again.
func (w *watch) restarted() *watch {
	again := ranOn(0)
	again.planned = w.kept().Planned
	for _, s := range w.runs {
		again.runStatus(s.Suite).Complete = s.Complete
	}
	return again
}

// due tells when each suite is.
func (w *watch) due() map[string]time.Time {
	all := map[string]time.Time{}
	for _, s := range w.runs {
		all[s.Suite] = s.Next.UTC()
	}
	return all
}

func TestSuitesAreDueAfterTheirLastRun(t *testing.T) {
	none := time.Time{}
	for name, c := range map[string]struct {
		ran  int
		runs []config.Run
		want map[string]time.Time // in a daemon that starts on the 20th, planned so since the 5th
	}{
		"never run":              {0, []config.Run{daily("quick")}, map[string]time.Time{"quick": at3(6)}},
		"run yesterday":          {19, []config.Run{daily("quick")}, map[string]time.Time{"quick": at3(20)}},
		"runs were missed":       {10, []config.Run{daily("quick")}, map[string]time.Time{"quick": at3(11)}},
		"run before it was":      {2, []config.Run{daily("quick")}, map[string]time.Time{"quick": at3(6)}},
		"two calendars":          {19, []config.Run{weekly("quick"), daily("quick")}, map[string]time.Time{"quick": at3(20)}},
		"two suites":             {19, []config.Run{daily("quick"), weekly("burst")}, map[string]time.Time{"quick": at3(20), "burst": at3(8)}},
		"other targets":          {0, []config.Run{daily("quick", "sd*")}, map[string]time.Time{}},
		"no longer planned":      {19, nil, map[string]time.Time{"quick": none}},
		"on a day that is never": {19, []config.Run{{Suite: "quick", Calendar: config.Calendar{Schedule: "0 3 31 2 *", TimeZone: "UTC"}}}, map[string]time.Time{"quick": none}},
	} {
		t.Run(name, func(t *testing.T) {
			w := ranOn(c.ran)
			w.plan(c.runs, day(5))
			w = w.restarted()
			w.plan(c.runs, day(20))
			assert.Equal(t, c.want, w.due())
		})
	}
}

// A change counts from when it was made, whether the daemon was restarted for it, as in Kubernetes, or not.
func TestAChangeOfTheCalendarCountsFromThen(t *testing.T) {
	for name, next := range map[string]func(*watch) *watch{
		"reloaded":  func(w *watch) *watch { return w },
		"restarted": (*watch).restarted,
	} {
		t.Run(name, func(t *testing.T) {
			w := ranOn(2)
			w.plan([]config.Run{weekly("quick"), daily("burst")}, day(3))
			w = next(w)
			w.plan([]config.Run{weekly("quick"), daily("burst")}, day(15))
			assert.Equal(t, map[string]time.Time{"quick": at3(8), "burst": at3(4)}, w.due(), "looking at it changes nothing")
			w = next(w)
			w.plan([]config.Run{daily("quick"), daily("burst")}, day(20))
			assert.Equal(t, map[string]time.Time{"quick": at3(21), "burst": at3(4)}, w.due(), "no run is owed for days before it was planned")
			w = next(w)
			w.plan([]config.Run{daily("burst")}, day(20))
			assert.Equal(t, map[string]time.Time{"quick": {}, "burst": at3(4)}, w.due())
		})
	}
}

// A run that was cut short or failed is owed still, before a restart and after it.
func TestARunIsOwedUntilOneIsComplete(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	ends := func(w *watch, n int, warnings ...record.Warning) {
		r := record.RunReport{
			Suite: "quick", TargetID: w.spec.ID, Started: day(n).Add(-time.Minute), Finished: day(n),
			Steps: []record.Step{{Name: "random-read-qd1"}}, Warnings: warnings,
		}
		w.runEnds("quick", record.RunOK, r, nil)
		require.NoError(t, dir.KeepRun(r, 20))
	}
	short := record.Warning{Code: record.WarnShort, Text: "Stopped in step 2 of 3: fio was killed."}

	w := ranOn(0)
	w.shared = &shared{state: dir}
	w.plan([]config.Run{daily("quick")}, day(5))
	ends(w, 6)
	ends(w, 7, record.Warning{Code: record.WarnCPUBound})
	ends(w, 8, short)
	ends(w, 9, short)
	assert.Equal(t, map[string]time.Time{"quick": at3(8)}, w.due())
	again := &watch{spec: w.spec, shared: w.shared, planned: w.planned}
	again.restoreRuns()
	again.plan([]config.Run{daily("quick")}, day(10))
	assert.Equal(t, map[string]time.Time{"quick": at3(8)}, again.due())
	assert.Equal(t, day(9), again.runStatus("quick").Last.Finished, "the last one is shown, complete or not")

	for n := 10; n < 40; n++ { // until no report of a complete run is kept
		ends(again, n, short)
	}
	again = &watch{spec: w.spec, shared: w.shared, planned: again.kept().Planned}
	again.restoreRuns()
	again.plan([]config.Run{daily("quick")}, day(41))
	assert.Zero(t, again.runStatus("quick").Complete)
	assert.Equal(t, map[string]time.Time{"quick": at3(8)}, again.due())
	ends(again, 42)
	assert.Equal(t, map[string]time.Time{"quick": at3(43)}, again.due())
}
