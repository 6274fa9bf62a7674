package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// round executes one round of p. It returns false when ctx ends, or quiet hours have begun before it was its turn: drives that
// are slow make the others wait for minutes.
func (w *watch) round(ctx context.Context, p *probeState) (record.Measurement, bool) {
	if !w.takeTurn(ctx) {
		return record.Measurement{}, false
	}
	defer w.endTurn()
	if checkQuiet(w.spec.Quiet, wallClock()) != nil {
		return record.Measurement{}, false
	}
	others, over := w.access.ours(w.beginTraffic)
	m, err := w.session.Round(ctx, w.begin(p))
	over() // the I/O of a round that hangs still counts as ours
	m.Load.Others = others
	w.access.endRounds()
	if ctx.Err() != nil {
		return m, false
	}
	switch {
	case errors.Is(err, measure.ErrGone):
		w.closeTarget() // Run will open it again
	case err != nil && m.Outcome != record.OutcomeError:
		w.log.Warn("the load of the device is not known", "probe", p.probe.Name, "err", err)
	}
	return m, true
}

// countHung counts the rounds that are due while a round of an earlier watch hangs. That watch was replaced before it
// could tell.
func (w *watch) countHung(ctx context.Context) {
	w.mu.Lock()
	conditions := w.conditions
	w.mu.Unlock()
	for _, p := range w.probes {
		now, since := time.Now(), w.access.inflightSince(p.probe.Name)
		if since.IsZero() || now.Sub(since) < p.probe.Timeout || now.Before(p.next) {
			continue
		}
		w.took(ctx, p, record.Measurement{
			Device: w.spec.ID, Probe: p.probe.Name, Start: since, Conditions: conditions, Load: record.UnknownLoad(),
			Outcome: record.OutcomeTimeout, Reason: (&guard.HungError{Since: since, Earlier: true}).Error(),
		})
		w.mu.Lock()
		p.next = p.after(now, now)
		w.mu.Unlock()
	}
}

// beginTraffic tells the sampler that our own I/O follows, until end is called. others is the traffic of others
// before.
func (w *watch) beginTraffic() (others *record.Work, end func()) {
	return w.shared.traffic.Begin(w.spec.Number)
}

// begin records that a round is in progress, and returns its parameters.
func (w *watch) begin(p *probeState) measure.Round {
	w.access.beginRound(p.probe.Name)
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.outOfTurn {
		p.outOfTurn = false
		p.status.Confirmations++
	}
	return measure.Round{
		Probe: p.probe, Conditions: w.conditions, Link: w.device.Link,
		Budget: &p.budget, BytesPerDay: w.spec.Admission.WriteShare(w.spec.Probes),
		Overdue: p.overdue(time.Now(), w.spec.Admission.ForcedInterval),
	}
}

// overdue reports whether no round was admitted for so long that a small one has to be forced.
func (p *probeState) overdue(now time.Time, forced time.Duration) bool {
	return forced > 0 && now.Sub(p.went) >= forced
}

// lock takes the lock of the device for a round.
func (w *watch) lock() (release func(), err error) {
	lock, err := w.shared.locks.take(w.spec.LockID)
	w.lockProblem(err)
	return func() {
		if err := w.shared.locks.release(lock); err != nil {
			w.log.Error("release the device's lock", "err", err)
		}
	}, err
}

// lockProblem records why the lock of the device cannot be taken, and logs a change. It is not a problem when another
// run holds the lock.
func (w *watch) lockProblem(err error) {
	problem := ""
	if err != nil && !errors.Is(err, store.ErrLocked) {
		problem = err.Error()
	}
	w.mu.Lock()
	before := w.blocked
	w.blocked = problem
	w.mu.Unlock()
	switch {
	case problem == before:
	case problem != "":
		w.log.Warn("rounds cannot lock the device", "err", err)
	default:
		w.log.Info("rounds can lock the device again", "was", before)
	}
}

// takeTurn waits until a round may run: on the device, on the node and on the target. It returns false when ctx ends first.
func (w *watch) takeTurn(ctx context.Context) bool {
	device := w.shared.turns.device(w.spec.LockID)
	if !device.take(ctx) {
		return false
	}
	for w.shared.slots.take(ctx) {
		if w.access.turn.try() {
			return true
		}
		// Discovery is using the target, which may take seconds. Let the rounds of other devices go first.
		w.shared.slots.end()
		if !w.access.turn.take(ctx) {
			break
		}
		w.access.turn.end()
	}
	device.end()
	return false
}

func (w *watch) endTurn() {
	w.access.turn.end()
	w.shared.slots.end()
	w.shared.turns.device(w.spec.LockID).end()
}

// took adds a measurement to the status, the judge, the history and the metrics.
func (w *watch) took(ctx context.Context, p *probeState, m record.Measurement) {
	w.saved.written += m.WrittenBytes

	w.mu.Lock()
	s := &p.status
	s.Last = &m
	s.Rounds[m.Outcome]++
	p.add(m)
	if m.Outcome == record.OutcomeOK {
		s.LastSuccess = time.Now()
	}
	if m.Outcome != record.OutcomeBusy {
		p.went = time.Now()
	}
	if w.pool != nil {
		w.poolBlocks = w.pool.Len()
		if ratio, ok := w.pool.WrittenRatio(); ok {
			w.writtenRatio = &ratio
		}
	}
	if m.Loaded {
		s.LoadedRounds++
	}
	name := w.device.Name
	w.mu.Unlock()
	events, wanted := w.shared.judging.took(w.spec.ID, m)
	if len(wanted) > 0 {
		w.shared.confirm(wanted, p.probe.Name)
	}

	w.remember(p, m)
	w.shared.latencies.Observe(name, m)
	w.tell(p, m)
	w.shared.tell(events)
	w.saveWhenDue(ctx, false)
}

// add counts the bytes and the errors of a round.
func (p *probeState) add(m record.Measurement) {
	p.status.ReadBytes += uint64(m.ReadBytes)
	p.status.WrittenBytes += uint64(m.WrittenBytes)
	for errno, n := range m.Errors {
		p.status.Errors[errno] += uint64(n)
	}
	if len(m.Errors) > 0 {
		p.status.LastError = time.Now() // an I/O that hung fails when it returns
	}
}

// tookLate accounts for a round that returned after it had been counted as hung. Its latencies show how long the
// device hung.
func (w *watch) tookLate(m record.Measurement) {
	w.mu.Lock()
	if after := w.after; after != nil {
		w.mu.Unlock()
		after.tookLate(m)
		return
	}
	name := w.device.Name
	for _, p := range w.probes {
		if p.probe.Name == m.Probe {
			p.add(m)
		}
	}
	w.mu.Unlock()
	w.shared.judging.look(func() { w.shared.judging.node.Returned(w.spec.ID, m.Start.Add(m.Duration)) })
	w.shared.latencies.Observe(name, m)
	w.log.Warn("a round that hung has ended", "probe", m.Probe, "began", m.Start, "slowest_io", m.Latency.Max(), "errors", m.Errors)
}

// tell logs what is of interest to people: problems of the device, when they begin, change and end. It does not log
// busy and disturbed rounds, which a working host causes all day. They are expected, and there is a metric for them.
func (w *watch) tell(p *probeState, m record.Measurement) {
	switch m.Outcome {
	case record.OutcomeBusy, record.OutcomeDisturbed:
		w.log.Debug("round not usable", "probe", m.Probe, "outcome", m.Outcome, "reason", m.Reason)
	case record.OutcomeOK:
		if w.access.answers() { // even before discovery asks again
			w.log.Info("the target answers again")
		}
		if p.trouble != "" {
			w.log.Info("rounds are fine again", "probe", m.Probe, "was", p.trouble)
		}
		p.trouble = ""
	case record.OutcomeError, record.OutcomeTimeout, record.OutcomeUnmapped:
		if p.trouble != m.Outcome {
			w.log.Warn("round not usable", "probe", m.Probe, "outcome", m.Outcome, "reason", m.Reason)
		}
		p.trouble = m.Outcome
	}
}

// tellDrift logs an event of the tracker of a source, which is a probe or the traffic.
func tellDrift(log *slog.Logger, source string, e drift.Event) {
	switch {
	case e.Learned, e.Effect != nil:
		if e.Learned {
			log.Info("baseline learned", "probe", source)
		}
		if e.Effect != nil {
			log.Warn("the effect of a change of conditions", "probe", source, "effect", e.Effect.String(),
				"changes", e.Effect.Changes, "ratios", e.Effect.Ratios)
		}
	case len(e.Changes) > 0:
		log.Warn("a new epoch begins: conditions differ from the baseline's", "probe", source, "changes", e.Changes)
	default:
		log.Warn("drift state changed", driftAttributes(source, e)...)
	}
}

// driftAttributes returns the log attributes of a change of state.
func driftAttributes(probe string, e drift.Event) []any {
	list := []any{"probe", probe, "statistic", e.Statistic, "from", e.From, "to", e.To, "times_slower", e.Ratio}
	if e.Lower > 0 {
		list = append(list, "lower", e.Lower, "upper", e.Upper)
	}
	if e.To != record.Regressed && e.To != record.Improved {
		return list
	}
	list = append(list, "since", e.Since, "cause", e.Cause)
	if len(e.Attribution) > 0 {
		list = append(list, "because", e.Attribution)
	}
	return list
}
