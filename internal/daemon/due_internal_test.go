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

// ranOn returns the suites of a target on which quick was last complete on day n; never if n is 0.
func ranOn(n int) *suites {
	s := newSuites(nil, nil, nil)
	if n > 0 {
		s.of("quick").Complete = day(n)
	}
	return s
}

// restarted returns the suites after a restart of the daemon.
func (s *suites) restarted() *suites {
	again := newSuites(nil, s.plans(), nil)
	for _, status := range s.statuses {
		again.of(status.Suite).Complete = status.Complete
	}
	return again
}

// due returns when each suite is due.
func (s *suites) due() map[string]time.Time {
	all := map[string]time.Time{}
	for _, status := range s.statuses {
		all[status.Suite] = status.Next.UTC()
	}
	return all
}

// A watch that a reload puts in the place of another counts on.
func TestRunsAreCountedOn(t *testing.T) {
	before := ranOn(19)
	before.plan([]config.Run{daily("quick")}, day(20))
	before.end("quick", record.RunOK, record.RunReport{}, nil)
	before.end("quick", record.RunRefused, record.RunReport{}, nil)
	after := newSuites(nil, before.plans(), []record.RunStatus{record.NewRunStatus("burst")})
	after.countOn(before)
	after.end("quick", record.RunOK, record.RunReport{}, nil)
	quick := after.of("quick").Outcomes
	assert.EqualValues(t, 2, quick[record.RunOK])
	assert.EqualValues(t, 1, quick[record.RunRefused])
	assert.EqualValues(t, 1, before.of("quick").Outcomes[record.RunOK], "it has its own")
}

func TestSuitesAreDueAfterTheirLastRun(t *testing.T) {
	none := time.Time{}
	for name, c := range map[string]struct {
		ran  int
		runs []config.Run
		want map[string]time.Time // in a daemon that starts on the 20th, with a schedule from the 5th
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
			w := &watch{target: target{spec: spec{Target: measure.Target{ID: "eui.1", Path: "/dev/nvme0n1"}}}, suites: ranOn(c.ran)}
			w.plan(c.runs, day(5))
			w.suites = w.suites.restarted()
			w.plan(c.runs, day(20))
			assert.Equal(t, c.want, w.suites.due())
		})
	}
}

// A change of the schedule counts from when it was made, whether it took a restart, as in Kubernetes, or a reload.
func TestAChangeOfTheCalendarCountsFromThen(t *testing.T) {
	for name, next := range map[string]func(*suites) *suites{
		"reloaded":  func(s *suites) *suites { return s },
		"restarted": (*suites).restarted,
	} {
		t.Run(name, func(t *testing.T) {
			s := ranOn(2)
			s.plan([]config.Run{weekly("quick"), daily("burst")}, day(3))
			s = next(s)
			s.plan([]config.Run{weekly("quick"), daily("burst")}, day(15))
			assert.Equal(t, map[string]time.Time{"quick": at3(8), "burst": at3(4)}, s.due(), "looking at it changes nothing")
			s = next(s)
			s.plan([]config.Run{daily("quick"), daily("burst")}, day(20))
			assert.Equal(t, map[string]time.Time{"quick": at3(21), "burst": at3(4)}, s.due(), "no run is owed for days before it was planned")
			s = next(s)
			s.plan([]config.Run{daily("burst")}, day(20))
			assert.Equal(t, map[string]time.Time{"quick": {}, "burst": at3(4)}, s.due())
		})
	}
}

// A run that ended early or failed remains due, before and after a restart.
func TestARunIsOwedUntilOneIsComplete(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	const id = "eui.1"
	ends := func(s *suites, n int, warnings ...record.Warning) {
		r := record.RunReport{
			Suite: "quick", TargetID: id, Started: day(n).Add(-time.Minute), Finished: day(n),
			Steps: []record.Step{{Name: "random-read-qd1"}}, Warnings: warnings,
		}
		s.end("quick", record.RunOK, r, nil)
		require.NoError(t, dir.KeepRun(r, 20))
	}
	short := record.Warning{Code: record.WarnShort, Text: "Stopped in step 2 of 3: fio was killed."}

	restarted := func(planned map[string]state.Planned) *suites {
		last, err := dir.Runs(id)
		require.NoError(t, err)
		return newSuites(nil, planned, last)
	}
	s := restarted(nil)
	s.plan([]config.Run{daily("quick")}, day(5))
	ends(s, 6)
	ends(s, 7, record.Warning{Code: record.WarnCPUBound})
	ends(s, 8, short)
	ends(s, 9, short)
	assert.Equal(t, map[string]time.Time{"quick": at3(8)}, s.due())
	again := restarted(s.plans())
	again.plan([]config.Run{daily("quick")}, day(10))
	assert.Equal(t, map[string]time.Time{"quick": at3(8)}, again.due())
	assert.Equal(t, day(9), again.of("quick").Last.Finished, "the last one is shown, complete or not")

	for n := 10; n < 40; n++ { // until the report of the complete run has been dropped
		ends(again, n, short)
	}
	again = restarted(again.plans())
	again.plan([]config.Run{daily("quick")}, day(41))
	assert.Zero(t, again.of("quick").Complete)
	assert.Equal(t, map[string]time.Time{"quick": at3(8)}, again.due())
	ends(again, 42)
	assert.Equal(t, map[string]time.Time{"quick": at3(43)}, again.due())
}

// What was noted while the clock was ahead does not keep a run from being due until the clock has caught up.
func TestRunsAreDueAfterTheClockWasSetBack(t *testing.T) {
	plan := func(s *suites, n int) { s.plan([]config.Run{daily("quick")}, day(n)) }
	for name, ahead := range map[string]func(*suites){
		"planned then": func(s *suites) { plan(s, 400) },
		"complete then": func(s *suites) {
			plan(s, 1)
			s.of("quick").Complete, s.planned["quick"] = day(400), state.Planned{Times: "0 3 * * * UTC", Since: day(1), Complete: day(400)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := ranOn(0)
			ahead(s)
			plan(s, 5)
			assert.Equal(t, map[string]time.Time{"quick": at3(6)}, s.due())
			s = s.restarted()
			plan(s, 9)
			assert.Equal(t, map[string]time.Time{"quick": at3(6)}, s.due(), "no run since")
		})
	}
}
