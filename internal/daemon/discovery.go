package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

const (
	// scanTimeout is how long reading sysfs may take. Devices that hang are not waited for that long: see device.Scanner.
	scanTimeout = 30 * time.Second
	// reaskAfter is the longest time until the host is examined again while a target has not answered. The target may
	// only have been slow once, and the interval of discovery may be days.
	reaskAfter = 15 * time.Second
	// requestsEvery is how often to look for requests. It is short, because somebody waits for the answer.
	requestsEvery = 500 * time.Millisecond
	// stopTimeout is how long an unwanted watch may take to stop.
	stopTimeout = 5 * time.Second
	// lastStopTimeout is how long all watches may take to stop at the end of the daemon. Each saves its state, and a node
	// may have hundreds of them. It is less than endTimeout.
	lastStopTimeout = 15 * time.Second
)

// sighting is what discovery found out about a target.
type sighting struct {
	device     record.Device
	conditions record.Conditions
	warnings   []record.Warning
	collector  record.CollectorStatus
	returns    uint64 // of the device, as in record.TargetStatus
}

// wanted is a target that should be watched.
type wanted struct {
	spec spec
	seen sighting
}

// discover looks for added and removed devices, for requests and for a new configuration, until ctx ends. It then
// stops all watches.
func (d *Daemon) discover(ctx context.Context) error {
	running, stop := context.WithCancel(context.Background())
	defer stop()
	for first := true; ; first = false {
		interval := d.configuration().DiscoveryInterval
		if !d.reconcile(ctx, running) {
			interval = min(interval, reaskAfter)
		}
		if first {
			d.tellJudged(d.shared.judging.begin())
			d.mu.Lock()
			d.ready = true
			d.mu.Unlock()
			close(d.first)
		}
		if !d.wait(ctx, interval) {
			d.stopAll()
			d.health.stopAll()
			return nil
		}
	}
}

// wait waits for the interval, a new configuration or a request. It returns false when ctx has ended.
func (d *Daemon) wait(ctx context.Context, interval time.Duration) bool {
	over, requests := time.After(interval), time.Tick(requestsEvery)
	for {
		select {
		case <-ctx.Done():
			return false
		case r := <-d.file.reloads:
			d.take(r)
			d.supervisor.ready()
			return true
		case <-over:
			return true
		case <-requests:
			if d.asked(ctx) {
				return true
			}
		}
	}
}

// asked reports whether there is a request that did not exist when requests were last answered.
func (d *Daemon) asked(ctx context.Context) bool {
	names, _ := through(ctx, d.shared.state, saveTimeout, state.Dir.Requests) // errors are reported when requests are answered
	return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(d.unanswered, name) })
}

func (d *Daemon) configuration() config.Config {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.config
}

// reconcile examines the host and makes the watches match it. A target that hangs does not delay the others, because
// all are asked concurrently, and a target that is known to hang is not waited for. It returns whether every device
// and every target has answered.
func (d *Daemon) reconcile(ctx, running context.Context) (answered bool) {
	c := d.configuration()
	start := time.Now()
	seen, err := guard.Do(ctx, &d.scanning, scanTimeout, func(context.Context) (scan, error) { return d.scan(c) })
	answers := d.ask(ctx, d.candidates(c, seen))
	if file, ok := d.fallBack(c, seen, answers); ok {
		answers = append(answers, d.ask(ctx, []candidate{file})...)
	}
	if ctx.Err() != nil {
		return false
	}
	d.note(start, seen, answers, err)
	wanted := d.resolve(answers)
	if !seen.complete { // watched targets may still exist
		d.keepWatched(c, wanted)
	}
	for id, w := range d.current() {
		if _, ok := wanted[id]; !ok && ctx.Err() == nil {
			d.stop(w)
			d.shared.latencies.Forget(id)
		}
	}
	d.shared.state.forget(wanted)
	d.shared.state.pay(ctx)
	if seen.complete && !seen.unidentified {
		d.shared.state.dropGone(ctx, wanted)
	}
	d.answerRequests(ctx)
	d.health.follow(ctx, running, c, d.devices(wanted))
	for id, target := range wanted {
		if ctx.Err() != nil { // all are about to end together, which takes less long than one after the other
			return false
		}
		target.seen.conditions = d.health.complete(target.seen.device, target.seen.conditions)
		w, ok := d.current()[id]
		switch {
		case ok && !w.halted && reflect.DeepEqual(target.spec, w.spec) && !w.canBeRead(ctx):
			w.see(target.seen, time.Now())
			w.plan(c.Runs, wallClock())
		case ok:
			d.halt(w)
			fallthrough
		default:
			d.start(ctx, running, target)
		}
	}
	d.forgetAccess()
	return !guard.Hangs(err) && !slices.ContainsFunc(answers, func(a answer) bool { return a.busy || a.hung != nil })
}

// note records the result of examining the host.
func (d *Daemon) note(start time.Time, seen scan, answers []answer, err error) {
	problems := []error{err}
	ignored := seen.ignored
	for _, a := range answers {
		if a.denied != "" {
			ignored = append(ignored, record.Ignored{Device: a.seen.device, Reason: a.denied, Denied: true})
		}
		problems = append(problems, a.err)
	}
	err = errors.Join(problems...)
	status := collected("discovery", "", start, err)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil && d.discovered.Error != status.Error {
		d.shared.log.Error("discovery", "err", err)
	}
	d.discovered = status
	if seen.complete {
		d.ignored = ignored
	}
}

func (d *Daemon) current() map[string]*watch {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.watches)
}

// start begins to watch a target, with its stored state. It does not do so when the state directory hangs, because
// the watch would learn anew and overwrite the stored state.
func (d *Daemon) start(ctx, running context.Context, t wanted) {
	way := d.access(t.spec.ID)
	w, err := through(ctx, d.shared.state, saveTimeout, func(state.Dir) (*watch, error) {
		return newWatch(t.spec, t.seen, way, d.shared), nil
	})
	if err != nil {
		d.shared.state.report(t.spec.ID, fmt.Errorf("%s is not watched, because its stored state cannot be read: %w", t.spec.Path, err))
		d.remove(t.spec.ID)
		return
	}
	if before, ok := d.current()[t.spec.ID]; ok {
		w.countOn(before)
	}
	// Before anybody sees the watch, as only suites that are planned are exported.
	w.plan(d.configuration().Runs, wallClock())
	d.shared.judging.attach(w) // not before, because a hanging directory would attach a watch that nobody runs
	ctx, cancel := context.WithCancel(running)
	w.cancel = cancel
	d.mu.Lock()
	d.watches[t.spec.ID] = w
	d.mu.Unlock()
	go w.Run(ctx) // ends with its context; halt waits for it
}

// stop ends a watch, waits for it so that its state is saved, and removes it.
func (d *Daemon) stop(w *watch) {
	d.halt(w)
	d.remove(w.spec.ID)
}

// halt ends a watch that another will replace. Its state remains in snapshots meanwhile, so that no metric series is
// interrupted.
func (d *Daemon) halt(w *watch) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	w.end(ctx)
	w.halted = true
}

// remove removes a watch that has ended and that no other replaces.
func (d *Daemon) remove(id string) {
	d.shared.judging.detach(id)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.watches, id)
}

// end ends a watch and waits for it until ctx ends.
func (w *watch) end(ctx context.Context) {
	w.cancel()
	select {
	case <-w.done:
	case <-ctx.Done():
		w.log.Error("the watch does not stop; leaving it behind")
	}
}

// stopAll ends all watches. They share one timeout, so that a dozen drives that hang do not delay the end of the
// process.
func (d *Daemon) stopAll() {
	ctx, cancel := context.WithTimeout(context.Background(), lastStopTimeout)
	defer cancel()
	watches := d.current()
	for _, w := range watches {
		w.cancel()
	}
	for id, w := range watches {
		w.end(ctx)
		d.remove(id)
	}
}

// answerRequests carries out the requests of the command line, each once, and removes expired ones.
func (d *Daemon) answerRequests(ctx context.Context) {
	tidied := d.shared.state.do(ctx, saveTimeout, func(s state.Dir) error { return s.TidyRequests(time.Now()) })
	names, err := through(ctx, d.shared.state, saveTimeout, state.Dir.Requests)
	problems := []error{err, tidied}
	before := d.unleft
	d.unanswered, d.unleft = nil, map[string]state.Answer{}
	for _, name := range names {
		if answer, ok := before[name]; ok {
			d.leave(ctx, name, answer)
			continue
		}
		r, err := through(ctx, d.shared.state, saveTimeout, func(s state.Dir) (state.Request, error) { return s.Request(name) })
		if err != nil {
			d.unanswered = append(d.unanswered, name)
			problems = append(problems, err)
			continue
		}
		accepted, err := d.carryOut(ctx, r)
		d.answered(ctx, name, r, accepted, err)
	}
	d.shared.state.report(requestsOf, errors.Join(problems...))
}

// carryOut carries out a request. It halts the watch of the target first, so that nothing else changes the stored
// state; discovery then starts a new watch. A request that the state in memory refuses halts nothing. carryOut returns
// the levels that were accepted.
func (d *Daemon) carryOut(ctx context.Context, r state.Request) (accepted map[string]drift.Note, err error) {
	if err := r.InTime(time.Now()); err != nil {
		return nil, err
	}
	switch {
	case r.Record != nil:
		return nil, d.recordRequest(r)
	case r.Target == "" && !r.Host:
		return nil, errors.New("the request names no target")
	}
	ofNode := func() (map[string]drift.Note, error) { return d.shared.judging.change(r) }
	if w, ok := d.current()[r.Target]; ok && !w.halted && !w.unread.Load() {
		known := w.keptAtAnyTime()
		if refused := r.Change(&known, time.Now()); refused != nil {
			return r.WithNode(nil, refused, ofNode)
		}
		d.halt(w)
	}
	if err = d.shared.state.flush(ctx, r.Target); err == nil { // or the request would change an older state
		accepted, err = through(ctx, d.shared.state, saveTimeout, func(s state.Dir) (map[string]drift.Note, error) { return s.Apply(r) })
	}
	return r.WithNode(accepted, err, ofNode)
}

// answered reports the result of a request, in the log and to whoever waits for the answer.
func (d *Daemon) answered(ctx context.Context, name string, r state.Request, accepted map[string]drift.Note, err error) {
	log := d.shared.log.With("target", r.Target, "probe", r.Probe, "asked", r.String())
	answer := state.Answer{Time: time.Now().UTC()}
	switch {
	case state.Refused(err):
		answer.Refused = err.Error()
		log.Info("request refused", "why", err)
	case err != nil:
		answer.Refused = err.Error()
		log.Error("request failed", "err", err)
	default:
		answer.Accepted = accepted
		log.Info("request carried out")
	}
	d.leave(ctx, name, answer)
}

// leave stores an answer. If that fails, the request may remain, but it is not carried out again.
func (d *Daemon) leave(ctx context.Context, name string, answer state.Answer) {
	err := d.shared.state.do(ctx, saveTimeout, func(s state.Dir) error { return s.AnswerRequest(name, answer) })
	if err != nil {
		d.unanswered = append(d.unanswered, name)
		d.unleft[name] = answer
		d.shared.log.Error("answer a request", "err", err)
	}
}

func collected(collector, device string, start time.Time, err error) record.CollectorStatus {
	status := record.CollectorStatus{Collector: collector, Device: device, Success: err == nil, Duration: time.Since(start)}
	if err != nil {
		status.Error = err.Error()
	}
	return status
}
