package daemon

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// plan records when each suite is due on the target: the first scheduled time after the suite was last complete, or
// since its schedule changed. A time at which the suite did not complete therefore remains, in the past, until a run
// completes.
func (s *suites) plan(calendar []config.Run, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calendar = calendar
	unplanned := func(suite string) bool { return len(ofSuite(calendar, suite)) == 0 }
	maps.DeleteFunc(s.planned, func(suite string, _ state.Planned) bool { return unplanned(suite) })
	for _, status := range s.statuses {
		if unplanned(status.Suite) {
			status.Next = time.Time{}
		}
	}
	for _, r := range calendar {
		p := s.planned[r.Suite]
		if times := timesOf(ofSuite(calendar, r.Suite)); p.Times != times {
			p = state.Planned{Times: times, Since: now.Round(0)}
		}
		// The clock may have been set back: what it said before must not keep the run from being due until it says so again.
		p.Since, p.Complete = record.NotAfter(p.Since, now), record.NotAfter(p.Complete, now)
		s.planned[r.Suite] = p
		s.planNext(s.of(r.Suite), now)
	}
}

// planNext records when a suite is due by the calendar. The caller holds s.mu.
func (s *suites) planNext(status *record.RunStatus, now time.Time) {
	p := s.planned[status.Suite]
	since := p.Since
	for _, complete := range []time.Time{status.Complete, p.Complete} {
		if complete.After(since) && !complete.After(now) {
			since = complete
		}
	}
	status.Next = firstDue(ofSuite(s.calendar, status.Suite), since)
}

// timesOf returns a text that differs whenever the times at which the runs are due differ.
func timesOf(runs []config.Run) string {
	var times []string
	for _, r := range runs {
		times = append(times, r.Schedule+" "+r.TimeZone)
	}
	slices.Sort(times)
	return strings.Join(times, ", ")
}

func ofSuite(runs []config.Run, suite string) []config.Run {
	var those []config.Run
	for _, r := range runs {
		if r.Suite == suite {
			those = append(those, r)
		}
	}
	return those
}

// firstDue returns the first time after since at which one of the runs is due, or zero when there is none.
func firstDue(runs []config.Run, since time.Time) time.Time {
	var first time.Time
	for _, r := range runs {
		next, err := r.Next(since.Round(0))
		if err != nil || next.IsZero() { // the configuration is valid, so there is no such day
			continue
		}
		if first.IsZero() || next.Before(first) {
			first = next
		}
	}
	return first
}
