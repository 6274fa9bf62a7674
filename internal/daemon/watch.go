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
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// spec says what a watch watches and how. A watch whose spec changes is replaced. It includes the device number and
// size of the target, so that a device that returns with another number or size is opened again.
type spec struct {
	measure.Target
	// LockID is the id of the device that receives the I/O; for files, the device below.
	LockID string
	// Unresolved is true when the target has not answered yet, so that its location is not known. It is shown, but
	// not opened.
	Unresolved bool
	Probes     []record.Probe
	Admission  config.Admission
	Drift      drift.Settings
	Quiet      config.QuietHours
}

// watch watches one target.
type watch struct {
	spec   spec
	shared *shared
	log    *slog.Logger
	cancel context.CancelFunc
	done   chan struct{}
	// halted tells discovery that the watch has ended and is only shown until another replaces it.
	halted bool

	access *access
	suites *suites
	asked  chan ask // requests for rounds ahead of schedule
	// uncompared has a value when a run has ended that could not be compared.
	uncompared chan struct{}
	// history has the figures for the plots of the status page. historySaved is when they were last saved, in
	// nanoseconds since 1970.
	history      history.History
	historySaved atomic.Int64

	// The goroutine of Run owns these fields.
	session *measure.Session // nil while the target is not open
	pool    *probe.Pool      // nil on files
	saved   savePoint
	most    admit.Capacity // the value of mostWork while the target is not open
	// failedFills is how many fills of a probe file have failed since the target was last open.
	failedFills int
	// fills counts the fills of a probe file that was there and was lost, and filled is when the last one was over: see filledAt.
	fills  int
	filled time.Time
	// unopened says why the target could not be opened, as far as that was logged; empty while it is open.
	unopened string

	mu   sync.Mutex
	seen sighting // the last sighting
	// device and conditions are those of seen, completed with remembered conditions. For a target that has not
	// answered yet, they are the stored ones.
	device     record.Device
	conditions record.Conditions
	changed    map[string]time.Time // when each condition was last seen to change
	blocked    string               // why the target cannot be probed now; empty when it can
	place      place                // of a file, when it was last opened
	readOnly   bool                 // the file was not made by ssdprobe
	small      record.Warning       // set when the probe file is smaller than requested; otherwise zero
	probes     []*probeState
	// poolBlocks and writtenRatio describe pool.
	poolBlocks   int
	writtenRatio *float64
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

// probeState is one probe of a watch.
type probeState struct {
	probe  record.Probe
	rhythm schedule.Rhythm
	next   time.Time
	// outOfTurn is true when the next round was requested to confirm a suspicion.
	outOfTurn bool
	// went is when a round was last admitted; initially, when the watch began.
	went    time.Time
	tracker *drift.Tracker
	budget  admit.Budget
	status  record.ProbeStatus
	trouble record.Outcome // the last outcome that is the device's fault; empty after a good round
}

// reopenAfter is the pause before another attempt to open a target. It doubles with each fill that has failed.
const reopenAfter = 15 * time.Second

const (
	// firstRetry is the pause before a first round that was disturbed is tried again. It doubles each time.
	firstRetry = 2 * time.Second
	// maxDoublings is how often a pause doubles at most.
	maxDoublings = 10
)

func newWatch(s spec, seen sighting, way *access, shared *shared) *watch {
	w := &watch{
		spec: s, shared: shared, access: way, done: make(chan struct{}), asked: make(chan ask, askedAhead), uncompared: make(chan struct{}, 1),
		log:     shared.log.With("device", seen.device.Name, "id", s.ID),
		changed: map[string]time.Time{},
	}
	now := time.Now()
	for _, p := range s.Probes {
		if !p.RunsOn(s.File) || p.Direction == record.Write && s.Admission.WriteBytesPerDay == 0 {
			continue // without a budget, leave them out instead of having them busy for ever
		}
		rhythm := schedule.NewRhythm(shared.node, s.ID, p.Name, p.Interval)
		state := &probeState{
			probe: p, rhythm: rhythm, next: rhythm.Apart(way.last(p.Name), rhythm.First(now)), went: now, tracker: newTracker(s.Drift, p),
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

// countOn continues the counters of the watch that w replaces: neither a reload nor a request of the command line
// looks like a restart to those who read the metrics or the plots.
func (w *watch) countOn(before *watch) {
	before.mu.Lock()
	defer before.mu.Unlock()
	before.after = w
	for _, p := range w.probes {
		i := slices.IndexFunc(before.probes, func(b *probeState) bool { return b.probe.Name == p.probe.Name })
		if i < 0 {
			continue
		}
		b := before.probes[i]
		p.went, p.trouble = b.went, b.trouble
		p.status = b.status
		p.status.Probe, p.status.Rounds, p.status.Errors = p.probe, maps.Clone(b.status.Rounds), maps.Clone(b.status.Errors)
	}
	w.suites.countOn(before.suites)
	if !before.unread.Load() { // otherwise it began anew
		_ = w.history.Restore(before.history.State(time.Now())) // what is stored may be older, and stays if that makes no sense
	}
}

// newTracker returns an empty tracker for a probe.
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
	go w.keepCompared(ctx)
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
		if w.session == nil && w.waitsForRefill(ctx) {
			continue
		}
		if w.session == nil {
			if err := w.openBeforeQuiet(ctx, wallClock()); err != nil && ctx.Err() == nil {
				w.tellUnopened(err.Error(), w.reopenIn())
				w.countHung(ctx)
				schedule.Pause(ctx, w.reopenIn())
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

// restUntil waits for the end of a run, but not longer than calendarLook.
func (w *watch) restUntil(ctx context.Context, rested <-chan struct{}) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, calendarLook)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-rested:
	}
	if w.session != nil {
		w.session.HadRun()
	}
	w.paused(began)
}

// paused tells the trackers that no rounds were planned since the given time, so that what they knew before does not
// become stale.
func (w *watch) paused(since time.Time) {
	w.shared.judging.look(func() { w.shared.judging.node.Pause(w.spec.ID, since, time.Now()) })
}

// keepQuiet postpones the rounds that would be due in quiet hours, and drops the requests for others: what they were to confirm
// will be hours old.
func (w *watch) keepQuiet(until time.Time) {
	for len(w.asked) > 0 { // nobody else takes from it
		<-w.asked
	}
	now := time.Now() // p.next keeps its monotonic reading, as the clock may be set back
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.probes {
		if p.next.Before(until) {
			p.next, p.outOfTurn = now.Add(p.rhythm.Next(until).Sub(now)), false
		}
	}
}

// after returns when the probe is due again after a round. On a busy host, the first rounds are often disturbed.
// Until one is good, they are retried soon, so that a new daemon has something to show. The pause grows each time, so
// that retries do not keep a busy host even busier.
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

// problem is like problemNow, for callers that hold w.mu. A hang of the target takes precedence over problems that
// result from it.
func (w *watch) problem() string {
	hangs := w.access.problem()
	if hangs == "" && w.spec.Unresolved {
		return "it has not been looked at yet"
	}
	return cmp.Or(hangs, w.blocked)
}

// Status returns the status of the target at the time now. It shares no memory that changes.
func (w *watch) Status(now time.Time) record.TargetStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := record.TargetStatus{
		ID: w.spec.ID, Path: w.spec.Path, File: w.spec.File, Device: w.device, Conditions: w.conditions,
		Changed: maps.Clone(w.changed), Problem: w.problem(), Runs: w.suites.list(),
		Probes: make([]record.ProbeStatus, len(w.probes)), PoolBlocks: w.poolBlocks, WrittenRatio: w.writtenRatio, Returns: w.seen.returns,
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
		p.tracker.Status(now).Fill(&ps)
		ps.ExplainUnjudged(s.Problem, now)
		s.Probes[i] = ps
	}
	return s
}
