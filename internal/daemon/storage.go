package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
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
	// comparing is held while a run is compared with those before.
	comparing sync.Mutex

	mu sync.Mutex
	// problems holds the problems with the stored state, by target id or by another subject such as requestsOf.
	problems map[string]error
	// unsaved holds the states of targets that could not be saved, by id, until they are.
	unsaved map[string]state.Target
	// gone lists the targets that are gone and of which something is unsaved or owed, in the order in which they left.
	gone []string
	took time.Duration

	owing sync.Mutex // held while changes that are owed are made, too, so that they keep their order
	// owed holds the changes that failed and that nothing else would repeat for weeks, by the id of their problem.
	owed map[string][]func(state.Dir) error
}

func newStorage(d state.Dir, log *slog.Logger) *storage {
	return &storage{Dir: d, log: log, problems: map[string]error{}, unsaved: map[string]state.Target{}, owed: map[string][]func(state.Dir) error{}}
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
	if err != nil {
		return nil, err
	}
	s.keep(context.Background(), leftoversOf, 1, func(d state.Dir) error { return d.RemoveLeftovers(time.Now().Add(-leftAfter)) })
	return s, nil
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

// keep changes the directory and reports under an id how that went. If it fails, as when the disk is full, pay tries
// again: the newest changes under the id, most of them. It is 1 where each change replaces those before.
func (s *storage) keep(ctx context.Context, id string, most int, change func(state.Dir) error) {
	s.owing.Lock()
	defer s.owing.Unlock()
	s.owed[id] = append(s.owed[id], change)
	if n := len(s.owed[id]) - most; n > 0 {
		s.log.Warn("a newer change takes the place of one that could not be stored", "id", id)
		s.owed[id] = slices.Delete(s.owed[id], 0, n)
	}
	s.payOne(ctx, id)
}

// pay makes up for the changes that failed, and saves the states of targets that are gone, which nobody else would.
func (s *storage) pay(ctx context.Context) {
	s.owing.Lock()
	defer s.owing.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.owed)) {
		s.payOne(ctx, id)
	}
	for _, id := range s.goneUnsaved() {
		s.report(id, s.flush(ctx, id))
	}
}

// goneUnsaved returns the targets that are gone and whose states are not saved yet.
func (s *storage) goneUnsaved() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.gone)
}

// payOne makes the changes that are owed under an id, in their order, up to the first that fails. It needs s.owing.
func (s *storage) payOne(ctx context.Context, id string) {
	for i, change := range s.owed[id] {
		if err := s.save(ctx, saveTimeout, change); err != nil {
			s.owed[id] = slices.Delete(s.owed[id], 0, i)
			s.report(id, err)
			return
		}
	}
	delete(s.owed, id)
	s.report(id, nil)
}

// Target is that of the directory, or the state that could not be saved since. A watch that replaces another while the
// disk is full then knows what the other has learned.
func (s *storage) Target(id string) (t state.Target, found bool, err error) {
	s.mu.Lock()
	t, found = s.unsaved[id]
	s.mu.Unlock()
	if found {
		return t, true, nil
	}
	return s.Dir.Target(id)
}

// saveTarget saves the state of a target, or keeps it in memory if that fails.
func (s *storage) saveTarget(ctx context.Context, timeout time.Duration, t state.Target) error {
	err := s.save(ctx, timeout, func(d state.Dir) error { return d.SaveTarget(t) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if unreadable(err) {
		s.unsaved[t.ID] = t
	} else {
		delete(s.unsaved, t.ID)
	}
	return err
}

// flush saves the state of a target that could not be saved before, if there is one. Until then, the stored state of the
// target is not the current one.
func (s *storage) flush(ctx context.Context, id string) error {
	s.mu.Lock()
	t, found := s.unsaved[id]
	s.mu.Unlock()
	if !found {
		return nil
	}
	return s.saveTarget(ctx, saveTimeout, t)
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
	// leftoversOf is the id under which problems with removing unfinished files of an earlier daemon are reported.
	leftoversOf = "leftovers"
	// leftAfter is how old an unfinished file is that nobody is writing any more. Runs and the restorer of settings write to
	// the directory too. Where the clock was wrong, a file may be from the future: it stays.
	leftAfter = time.Hour
)

// historyOf returns the id under which problems with the stored history of a target are reported.
func historyOf(id string) string { return "history of " + id }

// mostReports is how many reports of runs on a target are kept in memory while they cannot be stored.
const mostReports = 32

// mostGone is of how many targets that are gone something is kept in memory while it cannot be stored.
const mostGone = 64

// runsOf returns the id under which problems with the stored runs of a target are reported.
func runsOf(id string) string { return "runs of " + id }

// forget drops the problems of targets that are gone, because nothing else would report their end. What was learned of
// them, and reports of their runs, that could not be stored are kept for pay. What was learned is also for their return.
func (s *storage) forget(here map[string]wanted) {
	known := map[string]bool{requestsOf: true, nodeOf: true, recordingsOf: true, toldOf: true, goneOf: true, leftoversOf: true}
	for id := range here {
		known[id], known[runsOf(id)], known[historyOf(id)] = true, true, true
	}
	s.owing.Lock()
	defer s.owing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteGone(known)
	for _, id := range s.gone {
		known[id], known[runsOf(id)] = true, true
	}
	maps.DeleteFunc(s.owed, func(id string, _ []func(state.Dir) error) bool { return !known[id] })
	maps.DeleteFunc(s.problems, func(id string, _ error) bool { return !known[id] })
}

// noteGone brings s.gone up to date, and drops what is kept of the targets that left first if there are too many. It needs
// s.owing and s.mu.
func (s *storage) noteGone(known map[string]bool) {
	kept := map[string]bool{}
	for id := range s.unsaved {
		kept[id] = !known[id]
	}
	for subject := range s.owed {
		if id, ofRuns := strings.CutPrefix(subject, runsOf("")); ofRuns {
			kept[id] = !known[id]
		}
	}
	s.gone = slices.DeleteFunc(s.gone, func(id string) bool { return !kept[id] })
	for _, id := range slices.Sorted(maps.Keys(kept)) {
		if kept[id] && !slices.Contains(s.gone, id) {
			s.gone = append(s.gone, id)
		}
	}
	if n := len(s.gone) - mostGone; n > 0 {
		s.log.Warn("what was learned last of targets that are gone could not be stored and is dropped", "ids", s.gone[:n])
		for _, id := range s.gone[:n] {
			delete(s.unsaved, id)
		}
		s.gone = slices.Delete(s.gone, 0, n)
	}
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
