package daemon

import (
	"reflect"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// plan notes when the calendar has each suite due on the target: the first time after
// the suite was last run, so that a time at which nothing ran stays, in the past, until
// something did. What has never run, and what is planned anew while the daemon runs, is
// due from now on.
func (w *watch) plan(runs []config.Run, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	meant := []config.Run{}
	for _, r := range runs {
		if r.Matches(w.spec.ID, w.status.Device.Name, w.spec.Path) {
			meant = append(meant, r)
		}
	}
	before := w.calendar
	w.calendar = meant
	for _, r := range slices.Concat(before, meant) {
		planned := ofSuite(meant, r.Suite)
		if before != nil && reflect.DeepEqual(planned, ofSuite(before, r.Suite)) {
			continue
		}
		s := w.runStatus(r.Suite)
		since := now
		if before == nil && s.Last != nil {
			since = s.Last.Finished
		}
		s.Next = firstDue(planned, since)
	}
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
