package daemon

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

const (
	// firstSave is how soon after the start the state is saved for the first time.
	firstSave = 30 * time.Second
	// saveBytes limits how many written bytes a crash can leave uncounted.
	saveBytes = 16 << 20
	// saveTimeout is how long a use of the state directory may take. Its drive may hang.
	saveTimeout = 5 * time.Second
	// lastSaveTimeout is the same when a watch or the daemon stops. It is less than stopTimeout. A busy drive may
	// take a second or two; beyond lastSaveTimeout it counts as hung.
	lastSaveTimeout = 4 * time.Second
)

// savePoint is when the state was last saved, and how many bytes were written since then.
type savePoint struct {
	at      time.Time
	written int64
}

// restore restores the stored state of the target. State that is not valid is set aside and learned anew. State that
// cannot be read is kept: see unread.
func (w *watch) restore(now time.Time) {
	w.saved.at = now.Add(firstSave - state.SavedEvery)
	kept, found, err := w.shared.state.Target(w.spec.ID)
	if err != nil {
		w.shared.state.report(w.spec.ID, err)
		for _, p := range w.rounds.probes {
			p.budget = admit.UsedUp(now) // nobody knows what was written today
		}
	}
	w.unread.Store(unreadable(err))
	if found {
		if err := w.take(kept); err != nil {
			w.shared.state.report(w.spec.ID, w.shared.state.SetTargetAside(w.spec.ID, err))
			kept.Planned = nil
		}
	}
	last, err := w.shared.state.LastRuns(w.spec.ID)
	if err != nil {
		w.shared.state.report(runsOf(w.spec.ID), err)
	}
	w.suites = newSuites(&w.target, kept.Planned, last)
	if suite, since, ok := w.access.rest.run(); ok {
		w.suites.begin(suite, since)
	}
}

// take restores a stored state. If any part of it is not valid, only what protects the target is used.
func (w *watch) take(kept state.Target) error {
	for _, p := range w.rounds.probes {
		p.budget = kept.Budgets[p.probe.Name]
	}
	w.opener.place, w.opener.most = place{kept.MountPoint, kept.Directory, kept.Foreign}, kept.Most
	w.left = state.Target{Defined: kept.Defined, Budgets: kept.Budgets}
	var problems []error
	known := map[string]drift.State{}
	maps.Copy(known, kept.Idle)
	maps.Copy(known, kept.Probes)
	for _, p := range w.rounds.probes {
		name := p.probe.Name
		s, ok := known[name]
		delete(known, name)
		if was, told := kept.Defined[name]; ok && told && !was.SameIO(p.probe) {
			w.log.Warn("the probe does other I/O than before; learning its baseline again", "probe", name)
		} else if ok {
			problems = append(problems, p.tracker.Restore(s))
		}
	}
	w.keptTraffic = kept.Traffic
	if kept.Traffic != nil && w.traffic != nil {
		problems = append(problems, w.traffic.Restore(*kept.Traffic))
	}
	if kept.Pool != nil && !w.spec.File {
		pool, err := probe.NewPool(w.spec.SizeBytes, rand.Uint64())
		if err == nil {
			err = pool.Restore(*kept.Pool)
		}
		switch {
		case errors.Is(err, probe.ErrPoolMismatch):
			w.log.Warn("the size of the device changed; searching for written blocks again", "err", err)
		case err != nil:
			problems = append(problems, err)
		default:
			w.opener.pool = pool
		}
	}
	if err := errors.Join(problems...); err != nil {
		w.opener.pool = nil
		for _, p := range w.rounds.probes {
			p.tracker = newTracker(w.spec.Drift, p.probe)
		}
		if w.traffic != nil {
			w.traffic = judge.NewTrafficTracker(w.spec.Drift)
		}
		return err
	}
	w.left.Idle = known
	w.device, w.conditions = kept.Device, kept.Conditions
	if kept.Changed != nil {
		w.changed = kept.Changed
	}
	return nil
}

// kept returns the state to save. Only the goroutine of the watch may call it, as its rounds change what keptAtAnyTime leaves out.
func (w *watch) kept() state.Target {
	s := w.keptAtAnyTime()
	s.Most = w.opener.mostWork()
	for _, p := range w.rounds.probes {
		if p.probe.Direction == record.Write {
			s.Budgets[p.probe.Name] = p.budget
		}
	}
	if pool := w.opener.pool; pool != nil {
		s.Pool = new(pool.State())
	}
	return s
}

// keptAtAnyTime returns the state without what rounds change while they run: budgets, pool, most work. Any goroutine may call it.
func (w *watch) keptAtAnyTime() state.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.opener.lastPlace()
	s := state.Target{
		ID: w.spec.ID, Path: w.spec.Path, File: w.spec.File, Device: w.device, Probes: map[string]drift.State{}, Idle: w.left.Idle,
		Defined: map[string]record.Probe{}, Budgets: map[string]admit.Budget{},
		MountPoint: at.mountPoint, Directory: at.directory, Foreign: at.foreign, Planned: w.suites.plans(), Conditions: w.conditions, Changed: maps.Clone(w.changed),
	}
	maps.Copy(s.Defined, w.left.Defined)
	maps.Copy(s.Budgets, w.left.Budgets)
	w.rounds.mu.Lock()
	defer w.rounds.mu.Unlock()
	w.shared.judging.mu.Lock()
	defer w.shared.judging.mu.Unlock()
	s.Traffic = w.keptTraffic // unchanged for a target that has not answered yet
	if w.traffic != nil {
		s.Traffic = new(w.traffic.State())
	}
	for _, p := range w.rounds.probes {
		s.Probes[p.probe.Name], s.Defined[p.probe.Name] = p.tracker.State(), p.probe
	}
	return s
}

// saveWhenDue saves the state when there is news worth saving, and otherwise periodically.
func (w *watch) saveWhenDue(ctx context.Context, now bool) {
	now = w.news.Swap(false) || now
	if now || time.Since(w.saved.at) >= state.SavedEvery || w.saved.written >= saveBytes {
		w.save(ctx, saveTimeout)
	}
}

func (w *watch) save(ctx context.Context, timeout time.Duration) {
	w.saved = savePoint{at: time.Now()}
	if w.unread.Load() {
		return
	}
	err := w.shared.state.saveTarget(ctx, timeout, w.kept())
	w.shared.state.report(w.spec.ID, err)
	if err != nil {
		w.saved.at = w.saved.at.Add(firstSave - state.SavedEvery) // retry soon
	}
}

// unreadable reports whether stored state exists, as far as is known, but could not be read. What was learned without
// it must not replace it. Damaged state is different: it has been set aside.
func unreadable(err error) bool {
	damaged := new(store.DamagedError)
	return err != nil && !errors.As(err, &damaged)
}

// canBeRead reports whether stored state that was unread when the watch began can be read now, so that the watch should
// begin again. If there is none any more, the watch goes on and saves what it has learned.
func (w *watch) canBeRead(ctx context.Context) bool {
	if !w.unread.Load() {
		return false
	}
	found, err := through(ctx, w.shared.state, saveTimeout, func(d state.Dir) (bool, error) {
		_, target, err := d.Target(w.spec.ID)
		if unreadable(err) {
			return false, err
		}
		_, plots, err := d.History(w.spec.ID)
		return target || plots, err
	})
	switch {
	case unreadable(err):
		return false // as is known since the watch began
	case err != nil:
		w.shared.state.report(w.spec.ID, err)
	}
	w.unread.Store(found)
	return found
}

// stop saves the state for the last time and closes the target.
func (w *watch) stop() {
	w.save(context.Background(), lastSaveTimeout)
	w.saveHistory(context.Background(), lastSaveTimeout)
	w.opener.close()
	w.log.Info("no longer watching")
}
