package daemon

import (
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// plan notes when the calendar has each suite due on the target: the first time after
// the suite was last complete or planned anew, so that a time at which it was not stays,
// in the past, until one is.
func (w *watch) plan(runs []config.Run, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calendar = []config.Run{}
	for _, r := range runs {
		if r.Matches(w.spec.ID, w.status.Device.Name, w.spec.Path) {
			w.calendar = append(w.calendar, r)
		}
	}
	for suite := range w.planned {
		if len(ofSuite(w.calendar, suite)) == 0 {
			w.runStatus(suite).Next = time.Time{}
			delete(w.planned, suite)
		}
	}
	for _, r := range w.calendar {
		those := ofSuite(w.calendar, r.Suite)
		if times := timesOf(those); w.planned[r.Suite].Times != times {
			w.planned[r.Suite] = state.Planned{Times: times, Since: now.Round(0)}
		}
		s, since := w.runStatus(r.Suite), w.planned[r.Suite].Since
		for _, complete := range []time.Time{s.Complete, w.planned[r.Suite].Complete} {
			if complete.After(since) {
				since = complete
			}
		}
		s.Next = firstDue(those, since)
	}
}

// timesOf is a text that is another one when the runs are due at other times.
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

// firstDue returns the first time after since at which one of the runs is due, zero
// when there is none.
func firstDue(runs []config.Run, since time.Time) time.Time {
	var first time.Time
	for _, r := range runs {
		next, err := r.Next(since.Round(0))
		if err != nil || next.IsZero() { // the configuration was checked: there is no such day
			continue
		}
		if first.IsZero() || next.Before(first) {
			first = next
		}
	}
	return first
}
