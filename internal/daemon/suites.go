package daemon

import (
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// suites holds the status of the runs of suites on one target, and compares them with earlier ones. The calendar and discovery
// change it.
type suites struct {
	*target
	// uncompared has a value when a run has ended that could not be compared.
	uncompared chan struct{}

	mu       sync.Mutex
	statuses []*record.RunStatus
	calendar []config.Run // the runs meant for this target
	planned  map[string]state.Planned
}

// newSuites returns suites that continue the stored state.
func newSuites(t *target, planned map[string]state.Planned, last []record.RunStatus) *suites {
	s := &suites{target: t, uncompared: make(chan struct{}, 1), planned: planned}
	if planned == nil {
		s.planned = map[string]state.Planned{}
	}
	for i := range last {
		s.statuses = append(s.statuses, &last[i])
	}
	return s
}

// of returns the status of a suite, and adds a new one if need be. The caller holds s.mu.
func (s *suites) of(suite string) *record.RunStatus {
	for _, status := range s.statuses {
		if status.Suite == suite {
			return status
		}
	}
	status := record.NewRunStatus(suite)
	s.statuses = append(s.statuses, &status)
	return &status
}

func (s *suites) begin(suite string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.of(suite)
	status.Since, status.Waits = now, ""
}

// wait records why a run that is due does not begin, and reports whether that is new. A run that waits for the device
// counts as in progress. One that waits for other nodes or for the end of quiet hours does not.
func (s *suites) wait(suite string, why error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.of(suite)
	news := status.Waits != why.Error()
	status.Waits = why.Error()
	if errors.Is(why, errNotPermitted) || errors.Is(why, errQuiet) {
		status.Since = time.Time{}
	}
	return news
}

// end records the result of a run. compared completes it.
func (s *suites) end(suite string, outcome record.RunOutcome, r record.RunReport, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.of(suite)
	status.Since, status.Waits = time.Time{}, ""
	status.Outcomes[outcome]++
	status.Problem = ""
	if err != nil {
		status.Problem = err.Error()
	}
	if len(r.Steps) > 0 {
		status.Last, status.Comparison = &r, nil
	}
	if len(r.Steps) > 0 && r.Complete() {
		status.Complete, status.Next = r.Finished, firstDue(ofSuite(s.calendar, suite), r.Finished)
		if p, ok := s.planned[suite]; ok {
			p.Complete = r.Finished.Round(0)
			s.planned[suite] = p
		}
	}
}

// compared takes what CompareLast has added to a status from list, unless another run has ended since.
func (s *suites) compared(c record.RunStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.of(c.Suite)
	if status.Last == nil || !status.Last.Started.Equal(c.Last.Started) {
		return
	}
	status.Comparison = c.Comparison
	if status.Complete.IsZero() && !c.Complete.IsZero() {
		status.Complete = c.Complete
		s.planNext(status, wallClock())
	}
}

// countOn continues the counters of those before, and takes over what is known of their last runs: the state directory may
// not have their reports yet.
func (s *suites) countOn(before *suites) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range before.list() {
		status := s.of(r.Suite)
		status.Outcomes, status.Problem = r.Outcomes, r.Problem
		if r.Last != nil {
			status.Last, status.Comparison, status.Complete = r.Last, r.Comparison, r.Complete
		}
	}
}

// list returns copies.
func (s *suites) list() []record.RunStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]record.RunStatus, len(s.statuses))
	for i, status := range s.statuses {
		list[i] = *status
		list[i].Outcomes = maps.Clone(status.Outcomes)
	}
	return list
}

// plans returns the state of the schedule of each suite, to be saved.
func (s *suites) plans() map[string]state.Planned {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.planned)
}
