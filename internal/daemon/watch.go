package daemon

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// spec is what a watch watches and how. A watch whose spec changes is replaced.
// The target's number and size are in it, so that a device that comes back as
// another node or with another size is opened again.
type spec struct {
	measure.Target
	// LockID is the id of the device that is touched: for files, the one below.
	LockID string
	// Unresolved says that the target has not answered yet, so that it is not known where
	// it is. It is shown, and not opened.
	Unresolved bool
	Probes     []record.Probe
	Admission  config.Admission
	Drift      drift.Settings
	Quiet      config.QuietHours
}

// watch keeps one target under watch.
type watch struct {
	spec   spec
	shared *shared
	log    *slog.Logger
	cancel context.CancelFunc
	done   chan struct{}
	// halted says to discovery that the watch is shown until another takes its place.
	halted bool

	access *access
	suites *suites
	asked  chan ask // rounds that are wanted out of turn
	// history has the figures for the plots of the status page. historySaved is when they were last saved, in nanoseconds since 1970.
	history      history.History
	historySaved atomic.Int64

	// These belong to the goroutine of Run.
	session *measure.Session // nil while the target is not open
	pool    *probe.Pool      // nil on files
	saved   savePoint
	// mountPoint is where the filesystem of a file was when it was last opened.
	mountPoint string
	most       admit.Capacity // while the target is not open

	mu   sync.Mutex
	seen sighting // the last
	// device and conditions are those of seen, with what is remembered; what is stored of a target that has not
	// answered yet.
	device     record.Device
	conditions record.Conditions
	changed    map[string]time.Time // when each condition was last seen to change
	blocked    string               // why the target cannot be probed now; empty when it can
	readOnly   bool                 // somebody else's file
	small      record.Warning       // that the probe file is smaller than asked for; zero when it is not
	probes     []*probeState
	// poolBlocks and writtenRatio are those of pool.
	poolBlocks   int
	writtenRatio *float64
	// traffic compares what others did to the device with its past; nil where nobody counts it.
	traffic     *drift.Tracker
	keptTraffic *drift.State // what was stored of it
	// news says that something was judged that is worth keeping.
	news atomic.Bool
}

// probeState is one probe of a watch.
type probeState struct {
	probe  record.Probe
	rhythm schedule.Rhythm
	next   time.Time
	// outOfTurn says that the next round was asked for to confirm a suspicion.
	outOfTurn bool
	// went is when a round last went in; at first when the watch began.
	went    time.Time
	tracker *drift.Tracker
	budget  admit.Budget
	status  record.ProbeStatus
	trouble record.Outcome // the last that the device is to blame for; empty when that is over
}

// reopenAfter is the pause before a target that could not be opened is tried again.
const reopenAfter = 15 * time.Second

const (
	// firstRetry is the pause before a first round that was disturbed is tried again;
	// it doubles each time, up to maxDoublings times.
	firstRetry   = 2 * time.Second
	maxDoublings = 10
)

func newWatch(s spec, seen sighting, way *access, shared *shared) *watch {
	w := &watch{
		spec: s, shared: shared, access: way, done: make(chan struct{}), asked: make(chan ask, askedAhead),
		log:     shared.log.With("device", seen.device.Name, "id", s.ID),
		changed: map[string]time.Time{},
	}
	now := time.Now()
	for _, p := range s.Probes {
		if !p.RunsOn(s.File) || p.Direction == record.Write && s.Admission.WriteBytesPerDay == 0 {
			continue // a budget of nothing stops them: they are not there, rather than busy for ever
		}
		rhythm := schedule.NewRhythm(shared.node, s.ID, p.Name, p.Interval)
		state := &probeState{
			probe: p, rhythm: rhythm, next: rhythm.First(now), went: now, tracker: newTracker(s.Drift, p),
			status: record.ProbeStatus{Probe: p, Rounds: map[record.Outcome]uint64{}, Errors: map[string]uint64{}},
		}
		for _, o := range record.Outcomes() {
			state.status.Rounds[o] = 0
		}
		w.probes = append(w.probes, state)
	}
	way.handOver(w.probes)
	if s.Number != "" {
		w.traffic = judge.NewTrafficTracker(s.Drift)
	}
	w.restore(now)
	w.restoreHistory(now)
	w.see(seen, now)
	return w
}

// newTracker returns a tracker of a probe that knows nothing yet.
func newTracker(s drift.Settings, p record.Probe) *drift.Tracker {
	t := drift.NewTracker(s)
	t.Every(p.Interval)
	return t
}

// Run probes the target until ctx ends.
func (w *watch) Run(ctx context.Context) {
	defer close(w.done)
	w.log.Info("watching", "path", w.spec.Path)
	defer w.stop()
	if w.spec.Unresolved { // discovery replaces this watch when the target answers
		<-ctx.Done()
		return
	}
	for ctx.Err() == nil {
		if until := w.spec.Quiet.Until(wallClock()); !until.IsZero() {
			w.keepQuiet(until)
			began := time.Now()
			schedule.Pause(ctx, min(time.Until(until), calendarLook))
			w.paused(began)
			continue
		}
		if w.session == nil {
			if err := w.openBeforeQuiet(ctx, wallClock()); err != nil && ctx.Err() == nil {
				w.log.Warn("cannot open the target", "err", err, "retry_in", reopenAfter)
				w.setProblem(err.Error())
				schedule.Pause(ctx, reopenAfter)
			}
			continue
		}
		p := w.nextProbe()
		if p == nil { // no configured probe runs on this kind of target
			<-ctx.Done()
			return
		}
		if wait := time.Until(p.next); wait > 0 {
			w.await(ctx, min(wait, calendarLook)) // quiet hours may begin meanwhile
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
		w.mu.Lock()
		p.next = p.after(started, time.Now())
		w.mu.Unlock()
	}
}

// restUntil waits for the end of a run, and no longer than calendarLook.
func (w *watch) restUntil(ctx context.Context, rested <-chan struct{}) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, calendarLook)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-rested:
	}
	w.paused(began)
}

// paused says that no rounds were planned since a time: what was known before it does not get stale by that.
func (w *watch) paused(since time.Time) {
	w.shared.judging.look(func() {
		for _, p := range w.probes {
			p.tracker.Pause(since, time.Now())
		}
	})
}

// keepQuiet puts off the rounds that would be due in quiet hours.
func (w *watch) keepQuiet(until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.probes {
		if p.next.Before(until) {
			p.next, p.outOfTurn = p.rhythm.Next(until), false
		}
	}
}

// after returns when the probe is due again after a round. On a busy host the first rounds are
// often disturbed: until one is good, they are tried again soon, so that a new
// daemon has something to show; but less and less soon, as a host that stays busy
// is not to be kept busier by that.
func (p *probeState) after(started, now time.Time) time.Time {
	next := p.rhythm.Apart(started, p.rhythm.Next(now))
	if last := p.status.Last; p.status.LastSuccess.IsZero() && last != nil && last.Outcome == record.OutcomeDisturbed {
		tried := min(p.status.Rounds[record.OutcomeDisturbed]-1, maxDoublings)
		if soon := now.Add(firstRetry << tried); soon.Before(next) {
			return soon
		}
	}
	return next
}

func (w *watch) nextProbe() *probeState {
	var first *probeState
	for _, p := range w.probes {
		if first == nil || p.next.Before(first.next) {
			first = p
		}
	}
	return first
}

// see takes what discovery has seen of the target.
func (w *watch) see(s sighting, now time.Time) {
	w.mu.Lock()
	w.seen = s
	before := w.conditions
	if w.spec.Unresolved { // what is stored of it is all that is known
		w.mu.Unlock()
		return
	}
	s.conditions = s.conditions.Remember(before)
	w.device, w.conditions = s.device, s.conditions
	// What was not known before did not change.
	changes := slices.DeleteFunc(before.Changes(s.conditions), func(c record.Change) bool { return c.From == "" })
	for _, c := range changes {
		w.changed[c.Condition] = now
	}
	w.mu.Unlock()
	for _, c := range changes {
		w.log.Warn("a condition changed", "condition", c.Condition, "from", c.From, "to", c.To)
	}
}

// plan takes the calendar.
func (w *watch) plan(runs []config.Run, now time.Time) {
	w.suites.plan(slices.DeleteFunc(slices.Clone(runs), func(r config.Run) bool { return !w.isMeant(r) }), now)
}

// isMeant reports whether a run of the calendar is meant for the target.
func (w *watch) isMeant(r config.Run) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return r.Matches(w.spec.ID, w.device.Name, w.spec.Path)
}

func (w *watch) setProblem(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blocked = text
}

// problemNow says why the target cannot be probed now; empty when it can.
func (w *watch) problemNow() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.problem()
}

// problem is problemNow for who holds w.mu. That the target hangs says more than what could not
// be done meanwhile.
func (w *watch) problem() string {
	hangs := w.access.problem()
	if hangs == "" && w.spec.Unresolved {
		return "it has not been looked at yet"
	}
	return cmp.Or(hangs, w.blocked)
}

// Status returns what is known at now. It shares nothing that changes.
func (w *watch) Status(now time.Time) record.TargetStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := record.TargetStatus{
		ID: w.spec.ID, Path: w.spec.Path, File: w.spec.File, Device: w.device, Conditions: w.conditions,
		Changed: maps.Clone(w.changed), Problem: w.problem(), Runs: w.suites.list(),
		Probes: make([]record.ProbeStatus, len(w.probes)), PoolBlocks: w.poolBlocks, WrittenRatio: w.writtenRatio,
	}
	if !w.spec.Unresolved {
		s.Warnings, s.Collectors = w.seen.warnings, []record.CollectorStatus{w.seen.collector}
	}
	if w.readOnly {
		s.Warnings = append(slices.Clone(s.Warnings), record.Warning{
			Code: record.WarnReadOnly,
			Text: s.Path + " was not made by ssdprobe, so it is only read",
		})
	}
	if w.small.Code != "" {
		s.Warnings = append(slices.Clone(s.Warnings), w.small)
	}
	w.shared.judging.mu.Lock()
	defer w.shared.judging.mu.Unlock()
	for i, p := range w.probes {
		ps := p.status
		ps.Rounds, ps.Errors, ps.Next = maps.Clone(ps.Rounds), maps.Clone(ps.Errors), p.next
		ps.InflightSince = w.access.inflightSince(p.probe.Name)
		t := p.tracker.Status(now)
		ps.Window, ps.Baseline, ps.Drift = t.Window, t.Baseline, t.Drift
		ps.LearningRounds, ps.LearningGoal = t.LearningRounds, t.LearningGoal
		ps.Effect, ps.UnjudgedBlocks = t.Effect, t.UnjudgedBlocks
		ps.ExplainUnjudged(s.Problem, now)
		s.Probes[i] = ps
	}
	return s
}
