package daemon

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// watch watches one target. It brings its parts together: the opener, the rounds and the suites. What discovery saw last and what is
// stored of the target is its own. Its lock is taken before those of its parts.
type watch struct {
	target
	cancel context.CancelFunc
	done   chan struct{}
	// halted tells discovery that the watch has ended and is only shown until another replaces it.
	halted bool

	opener *opener
	rounds *rounds
	suites *suites
	// history has the figures for the plots of the status page. historySaved is when they were last saved, in
	// nanoseconds since 1970.
	history      history.History
	historySaved atomic.Int64

	saved savePoint // owned by the goroutine of Run

	mu   sync.Mutex
	seen sighting // the last sighting
	// device and conditions are those of seen, completed with remembered conditions. For a target that has not
	// answered yet, they are the stored ones.
	device     record.Device
	conditions record.Conditions
	changed    map[string]time.Time // when each condition was last seen to change
	// after is the watch that continues the counters of this one; nil while this one counts.
	after *watch
	// traffic compares the traffic of others with its past; nil for targets without a device number.
	traffic     *drift.Tracker
	keptTraffic *drift.State // the stored state of traffic
	// left is what is stored of the probes that the configuration leaves out: Idle, Defined and Budgets.
	left state.Target
	// unread is true while stored state exists that could not be read when the watch began. Nothing is saved over it, and
	// discovery starts the watch again once it can be read.
	unread atomic.Bool
	// news is true when a judgement is worth saving.
	news atomic.Bool
}

func newWatch(s spec, seen sighting, way *access, shared *shared) *watch {
	w := &watch{
		target: target{spec: s, shared: shared, access: way, log: shared.log.With("device", seen.device.Name, "id", s.ID)},
		done:   make(chan struct{}), changed: map[string]time.Time{},
	}
	now := time.Now()
	w.opener, w.rounds = &opener{target: &w.target}, newRounds(&w.target, now)
	if s.Number != "" {
		w.traffic = judge.NewTrafficTracker(s.Drift)
	}
	w.restore(now)
	w.restoreHistory(now)
	w.see(seen, now)
	return w
}

// countOn continues the counters of the watch that w replaces: neither a reload nor a request of the command line
// looks like a restart to those who read the metrics or the plots.
func (w *watch) countOn(before *watch) {
	before.mu.Lock()
	defer before.mu.Unlock()
	before.after = w
	w.rounds.countOn(before.rounds)
	w.suites.countOn(before.suites)
	if !before.unread.Load() { // otherwise it began anew
		_ = w.history.Restore(before.history.State(time.Now())) // what is stored may be older, and stays if that makes no sense
	}
}

// Run probes the target until ctx ends.
func (w *watch) Run(ctx context.Context) {
	defer close(w.done)
	w.log.Info("watching", "path", w.spec.Path)
	defer w.stop()
	go w.suites.keepCompared(ctx)
	if w.spec.Unresolved { // discovery replaces this watch when the target answers
		<-ctx.Done()
		return
	}
	for ctx.Err() == nil {
		if until := w.spec.Quiet.Until(wallClock()); !until.IsZero() {
			w.rounds.keepQuiet(until)
			began := time.Now()
			schedule.Pause(ctx, min(time.Until(until), calendarLook))
			w.paused(began)
			continue
		}
		if w.opener.session == nil && w.opener.waitsForRefill(ctx) {
			continue
		}
		if w.opener.session == nil {
			if err := w.openBeforeQuiet(ctx, wallClock()); err != nil && ctx.Err() == nil {
				w.opener.tellUnopened(err.Error(), w.opener.reopenIn())
				w.countHung(ctx)
				schedule.Pause(ctx, w.opener.reopenIn())
			}
			continue
		}
		p := w.rounds.next()
		if p == nil {
			<-ctx.Done()
			return
		}
		if wait := time.Until(p.next); wait > 0 {
			w.rounds.await(ctx, min(wait, calendarLook)) // quiet hours may begin meanwhile
			continue
		}
		if rested := w.access.rest.until(); rested != nil {
			w.restUntil(ctx, rested)
			continue
		}
		started := time.Now()
		if m, ok := w.round(ctx, p); ok {
			w.took(ctx, p, m)
		}
		w.rounds.plan(p, started, time.Now())
	}
}

// openBeforeQuiet is like open, but stops when quiet hours begin, because filling a probe file takes minutes.
// Stopping for quiet hours is not an error.
func (w *watch) openBeforeQuiet(ctx context.Context, now time.Time) error {
	ctx, cancel := beforeQuiet(ctx, w.spec.Quiet, now)
	defer cancel()
	err := w.open(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errQuietBegins) {
		w.opener.setProblem("")
		return nil
	}
	return err
}

// open opens the target, and settles what depends on what it is.
func (w *watch) open(ctx context.Context) error {
	moved, err := w.opener.open(ctx, w.tookLate)
	if err != nil {
		return err
	}
	if moved {
		w.save(ctx, saveTimeout) // filesystems tend to be missing after a restart
	}
	if w.opener.session.ReadOnly {
		w.rounds.onlyRead()
	}
	return nil
}

// restUntil waits for the end of a run, but not longer than calendarLook.
func (w *watch) restUntil(ctx context.Context, rested <-chan struct{}) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, calendarLook)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-rested:
	}
	if session := w.opener.session; session != nil {
		session.HadRun()
	}
	w.paused(began)
}

// paused tells the trackers that no rounds were planned since the given time, so that what they knew before does not
// become stale.
func (w *watch) paused(since time.Time) {
	w.shared.judging.look(func() { w.shared.judging.node.Pause(w.spec.ID, since, time.Now()) })
}

// see takes what discovery found out about the target.
func (w *watch) see(s sighting, now time.Time) {
	w.mu.Lock()
	w.seen = s
	before := w.conditions
	if w.spec.Unresolved { // only the stored state is known
		w.mu.Unlock()
		return
	}
	s.conditions = s.conditions.Remember(before)
	w.device, w.conditions = s.device, s.conditions
	// A condition that becomes known is not a change.
	changes := slices.DeleteFunc(before.Changes(s.conditions), func(c record.Change) bool { return c.From == "" })
	for _, c := range changes {
		w.changed[c.Condition] = now
	}
	w.mu.Unlock()
	for _, c := range changes {
		w.log.Warn("a condition changed", "condition", c.Condition, "from", c.From, "to", c.To)
	}
}

// plan passes the runs that are meant for the target to its suites.
func (w *watch) plan(runs []config.Run, now time.Time) {
	w.suites.plan(slices.DeleteFunc(slices.Clone(runs), func(r config.Run) bool { return !w.isMeant(r) }), now)
}

// isMeant reports whether a scheduled run is meant for the target.
func (w *watch) isMeant(r config.Run) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return r.Matches(w.spec.ID, w.device.Name, w.spec.Path)
}

// deviceNow returns the device as last seen.
func (w *watch) deviceNow() record.Device {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.device
}

// conditionsNow returns the conditions as last seen.
func (w *watch) conditionsNow() record.Conditions {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conditions
}

// Status returns the status of the target at the time now. It shares no memory that changes.
func (w *watch) Status(now time.Time) record.TargetStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := record.TargetStatus{
		ID: w.spec.ID, Path: w.spec.Path, File: w.spec.File, Device: w.device, Conditions: w.conditions,
		Changed: maps.Clone(w.changed), Runs: w.suites.list(), Returns: w.seen.returns,
	}
	if !w.spec.Unresolved {
		s.Warnings, s.Collectors = w.seen.warnings, []record.CollectorStatus{w.seen.collector}
	}
	w.opener.fill(&s)
	s.Probes = w.rounds.status(s.Problem, now)
	return s
}
