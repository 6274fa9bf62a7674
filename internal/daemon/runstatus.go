package daemon

import (
	"errors"
	"maps"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// rest makes the probes of a watch rest, or go on. A round that is under way ends
// by itself: a run waits for its lock.
func (w *watch) rest(resting bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if resting {
		w.resting = make(chan struct{})
		return
	}
	close(w.resting)
	w.resting = nil
}

// rested returns a channel that is closed when the probes may go on, nil when
// they may now.
func (w *watch) rested() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.resting
}

// restoreRuns puts back the last report of each suite.
func (w *watch) restoreRuns() {
	runs, err := w.shared.state.Runs(w.spec.ID)
	if err != nil {
		w.shared.reportState(runsOf(w.spec.ID), err)
	}
	for i := range runs {
		w.runs = append(w.runs, &runs[i])
	}
}

// runStatus returns the status of a suite, a new one if need be. w.mu is held,
// or nobody else knows w yet.
func (w *watch) runStatus(suite string) *record.RunStatus {
	for _, s := range w.runs {
		if s.Suite == suite {
			return s
		}
	}
	s := record.NewRunStatus(suite)
	w.runs = append(w.runs, &s)
	return &s
}

func (w *watch) runBegins(suite string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.runStatus(suite)
	s.Since, s.Waits = now, ""
}

// runWaits notes why a run that is due does not begin, and reports whether that is
// news. One that waits for the device is in progress, one that waits for other nodes
// is not.
func (w *watch) runWaits(suite string, why error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.runStatus(suite)
	news := s.Waits != why.Error()
	s.Waits = why.Error()
	if errors.Is(why, errNotPermitted) {
		s.Since = time.Time{}
	}
	return news
}

func (w *watch) runEnds(suite string, outcome record.RunOutcome, r record.RunReport, err error) {
	figures, unread := w.shared.state.Compared(r)
	if unread != nil {
		w.log.Error("compare with earlier runs", "suite", suite, "err", unread)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.runStatus(suite)
	s.Since, s.Waits = time.Time{}, ""
	s.Outcomes[outcome]++
	s.Problem = ""
	if err != nil {
		s.Problem = err.Error()
	}
	if len(r.Steps) > 0 {
		s.Last, s.Figures = &r, figures
	}
	if len(r.Steps) > 0 && r.Complete() {
		s.Complete, s.Next = r.Finished, firstDue(ofSuite(w.calendar, suite), r.Finished)
		if p, ok := w.planned[suite]; ok {
			p.Complete = r.Finished.Round(0)
			w.planned[suite] = p
		}
	}
}

// runStatuses returns copies. w.mu is held.
func (w *watch) runStatuses() []record.RunStatus {
	list := make([]record.RunStatus, len(w.runs))
	for i, s := range w.runs {
		list[i] = *s
		list[i].Outcomes = maps.Clone(s.Outcomes)
	}
	return list
}
