package daemon

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
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
	var err error
	w.runs, err = storedRuns(w.shared.store, w.spec.ID)
	if err != nil {
		w.shared.reportState(runsOf(w.spec.ID), err)
	}
}

// storedRuns returns the last report of each suite on a target, compared with those
// before it. What could not be read is joined in the error.
func storedRuns(s *store.Store, id string) ([]*record.RunStatus, error) {
	names, err := s.Names(kindRuns)
	problems := []error{err}
	bySuite := map[string][]string{} // the latest first
	for _, name := range slices.Backward(slices.Sorted(slices.Values(names))) {
		suite, rest, _ := strings.Cut(name, " ")
		if strings.HasPrefix(rest, id+" ") {
			bySuite[suite] = append(bySuite[suite], name)
		}
	}
	var runs []*record.RunStatus
	for _, suite := range slices.Sorted(maps.Keys(bySuite)) {
		status := newRunStatus(suite)
		for _, name := range bySuite[suite] {
			var r record.RunReport
			found, err := s.Load(kindRuns, name, &r)
			problems = append(problems, err)
			if !found {
				continue
			}
			if status.Last == nil {
				status.Last = &r
				status.Figures, err = compared(s, id, r)
				problems = append(problems, err)
			}
			if r.Complete() {
				status.Complete = r.Finished
				break
			}
		}
		if status.Last != nil {
			runs = append(runs, status)
		}
	}
	return runs, errors.Join(problems...)
}

func newRunStatus(suite string) *record.RunStatus {
	s := &record.RunStatus{Suite: suite, Outcomes: map[record.RunOutcome]uint64{}}
	for _, o := range record.RunOutcomes() {
		s.Outcomes[o] = 0
	}
	return s
}

// runStatus returns the status of a suite, a new one if need be. w.mu is held,
// or nobody else knows w yet.
func (w *watch) runStatus(suite string) *record.RunStatus {
	for _, s := range w.runs {
		if s.Suite == suite {
			return s
		}
	}
	s := newRunStatus(suite)
	w.runs = append(w.runs, s)
	return s
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
	figures, unread := compared(w.shared.store, w.spec.ID, r)
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

// compared compares a run on a target with the stored ones before it.
func compared(s *store.Store, id string, r record.RunReport) ([]record.RunFigure, error) {
	names, err := reportNames(s, reportPrefix(r.Suite, id))
	problems := []error{err}
	var earlier []record.RunReport
	for _, name := range names {
		var one record.RunReport
		found, err := s.Load(kindRuns, name, &one)
		problems = append(problems, err)
		if found {
			earlier = append(earlier, one)
		}
	}
	return analysis.WithEarlier(r, earlier), errors.Join(problems...)
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
