package daemon

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// shared is what all watches of a daemon use together.
type shared struct {
	fs        sysfs.FS // the host's
	node      string
	lockDir   string
	log       *slog.Logger
	state     state.Dir
	meter     *counters.Meter
	engine    *probe.Engine
	latencies *export.Latencies
	// slots has room for as many rounds as may run at once on the node.
	slots chan struct{}

	saves sync.Mutex // one use of the state directory at a time
	disk  guard.Guard

	mu sync.Mutex
	// stateProblems holds what is wrong with the stored state, by target.
	stateProblems map[string]error
	stateTook     time.Duration
}

// withStore uses the state directory without letting one that hangs hang the caller. Errors:
// *guard.HungError and those of use.
func withStore[T any](ctx context.Context, s *shared, timeout time.Duration, use func() (T, error)) (T, error) {
	s.saves.Lock()
	defer s.saves.Unlock()
	return guard.Do(context.WithoutCancel(ctx), &s.disk, timeout, func(context.Context) (T, error) { return use() })
}

// save stores something without letting a hung state directory hang the caller.
func (s *shared) save(ctx context.Context, timeout time.Duration, save func(state.Dir) error) error {
	start := time.Now()
	_, err := withStore(ctx, s, timeout, func() (struct{}, error) { return struct{}{}, save(s.state) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stateTook = time.Since(start)
	return err
}

// reportState keeps what is wrong with the stored state of a target, and logs it
// when it is news.
func (s *shared) reportState(id string, err error) {
	s.mu.Lock()
	before := s.stateProblems[id]
	if err == nil {
		delete(s.stateProblems, id)
	} else {
		s.stateProblems[id] = err
	}
	s.mu.Unlock()
	switch {
	case err != nil && (before == nil || before.Error() != err.Error()):
		s.log.Error("the stored state has a problem", "id", id, "err", err)
	case err == nil && before != nil:
		s.log.Info("the stored state is fine again", "id", id)
	}
}

// requestsOf is what a problem with the requests is reported under.
const requestsOf = "requests"

// runsOf is what a problem with the stored runs of a target is reported under.
func runsOf(id string) string { return "runs of " + id }

// forgetState drops what is wrong with the stored state of targets that are not here any
// more: nobody else would say that it is over.
func (s *shared) forgetState(here map[string]wanted) {
	known := map[string]bool{requestsOf: true}
	for id := range here {
		known[id], known[runsOf(id)] = true, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.stateProblems, func(id string, _ error) bool { return !known[id] })
}

// stateStatus is the collector status of the state directory, and a warning for
// each problem.
func (s *shared) stateStatus() (record.CollectorStatus, []record.Warning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := record.CollectorStatus{Collector: "state", Success: len(s.stateProblems) == 0, Duration: s.stateTook}
	var warnings []record.Warning
	for _, id := range slices.Sorted(maps.Keys(s.stateProblems)) {
		text := s.stateProblems[id].Error()
		status.Error = text
		warnings = append(warnings, record.Warning{Code: record.WarnState, Text: text})
	}
	return status, warnings
}
