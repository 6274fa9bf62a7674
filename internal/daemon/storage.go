package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// storage is the state directory, whose drive may hang, together with its problems.
type storage struct {
	state.Dir
	log   *slog.Logger
	lock  *store.Lock
	turn  sync.Mutex // one use at a time
	guard guard.Guard

	mu sync.Mutex
	// problems holds the problems with the stored state, by target id or by another subject such as requestsOf.
	problems map[string]error
	took     time.Duration
}

func newStorage(d state.Dir, log *slog.Logger) *storage {
	return &storage{Dir: d, log: log, problems: map[string]error{}}
}

// holdStorage opens the state directory of the configuration and locks it against other daemons.
func holdStorage(c config.Config, log *slog.Logger) (*storage, error) {
	s, err := guard.Do(context.Background(), &guard.Guard{}, scanTimeout, func(context.Context) (*storage, error) {
		dir, lock, err := state.Hold(c.StateDir)
		switch {
		case errors.Is(err, state.ErrRunning):
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%w; it is set by state_dir or --state-dir", err)
		}
		// A lock directory that cannot be created is reported by every round. An unsafe one has to be fixed by a
		// person.
		if err := store.MakeDir(c.LockDir); errors.Is(err, store.ErrUntrusted) {
			return nil, errors.Join(fmt.Errorf("open the lock directory: %w; it is set by lock_dir", err), lock.Release())
		}
		s := newStorage(dir, log)
		s.lock = lock
		return s, nil
	})
	if guard.Hangs(err) {
		return nil, fmt.Errorf("open the state directory %s: its filesystem hangs: %w", c.StateDir, err)
	}
	return s, err
}

// letGo releases the lock of the state directory. While the directory hangs, only the end of the process releases it.
func (s *storage) letGo() error {
	err := s.do(context.Background(), lastSaveTimeout, func(state.Dir) error { return s.lock.Release() })
	if guard.Hangs(err) {
		s.log.Error("the state directory does not answer; what was learned last is not kept", "err", err)
		return nil
	}
	return err
}

// through calls use with the state directory. A directory that hangs does not make the caller hang. Errors:
// *guard.HungError and those of use.
func through[T any](ctx context.Context, s *storage, timeout time.Duration, use func(state.Dir) (T, error)) (T, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	return guard.Do(context.WithoutCancel(ctx), &s.guard, timeout, func(context.Context) (T, error) { return use(s.Dir) })
}

// do is like through, without a result.
func (s *storage) do(ctx context.Context, timeout time.Duration, use func(state.Dir) error) error {
	_, err := through(ctx, s, timeout, func(d state.Dir) (struct{}, error) { return struct{}{}, use(d) })
	return err
}

// save is like do, for changes of the directory. The time that it took appears in the collector status.
func (s *storage) save(ctx context.Context, timeout time.Duration, save func(state.Dir) error) error {
	start := time.Now()
	err := s.do(ctx, timeout, save)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = time.Since(start)
	return err
}

// report records a problem with stored state under an id, or its end if err is nil, and logs a change.
func (s *storage) report(id string, err error) {
	s.mu.Lock()
	before := s.problems[id]
	if err == nil {
		delete(s.problems, id)
	} else {
		s.problems[id] = err
	}
	s.mu.Unlock()
	switch {
	case err != nil && (before == nil || before.Error() != err.Error()):
		s.log.Error("the stored state has a problem", "id", id, "err", err)
	case err == nil && before != nil:
		s.log.Info("the stored state is fine again", "id", id)
	}
}

// requestsOf is the id under which problems with the requests are reported.
const requestsOf = "requests"

const (
	// keptGone is how many targets that are gone are remembered, each with some 50 KB.
	keptGone = 256
	// goneOf is the id under which problems with removing others are reported.
	goneOf = "gone"
)

// historyOf returns the id under which problems with the stored history of a target are reported.
func historyOf(id string) string { return "history of " + id }

// runsOf returns the id under which problems with the stored runs of a target are reported.
func runsOf(id string) string { return "runs of " + id }

// forget drops the problems of targets that are gone, because nothing else would report their end.
func (s *storage) forget(here map[string]wanted) {
	known := map[string]bool{requestsOf: true, nodeOf: true, recordingsOf: true, toldOf: true, goneOf: true}
	for id := range here {
		known[id], known[runsOf(id)], known[historyOf(id)] = true, true, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.problems, func(id string, _ error) bool { return !known[id] })
}

// dropGone drops what is stored of targets that have been gone for so long that keptGone others have gone since.
func (s *storage) dropGone(ctx context.Context, here map[string]wanted) {
	ids := slices.Collect(maps.Keys(here))
	dropped, err := through(ctx, s, saveTimeout, func(d state.Dir) ([]string, error) { return d.DropGone(ids, keptGone) })
	s.report(goneOf, err)
	if len(dropped) > 0 {
		s.log.Info("dropped what was stored of targets that have long been gone", "ids", dropped, "kept", keptGone)
	}
}

// status returns the collector status of the state directory, and a warning for each problem.
func (s *storage) status() (record.CollectorStatus, []record.Warning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := record.CollectorStatus{Collector: "state", Success: len(s.problems) == 0, Duration: s.took}
	var warnings []record.Warning
	for _, id := range slices.Sorted(maps.Keys(s.problems)) {
		text := s.problems[id].Error()
		status.Error = text
		warnings = append(warnings, record.Warning{Code: record.WarnState, Text: text})
	}
	return status, warnings
}
