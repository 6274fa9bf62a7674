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
	w.mu.Lock()
	conditions, link := w.conditions, w.device.Link
	w.mu.Unlock()
	others, over := w.ours()
	m, err := w.opener.session.Round(ctx, w.rounds.begin(p, conditions, link))
	over() // the I/O of a round that hangs still counts as ours
	m.Load.Others = others
	w.access.endRounds()
	if ctx.Err() != nil {
		return m, false
	}
	switch {
	case errors.Is(err, measure.ErrGone):
		w.opener.close() // Run will open it again
	case err != nil && m.Outcome != record.OutcomeError:
		w.log.Warn("the load of the device is not known", "probe", p.probe.Name, "err", err)
	}
	return m, true
}

// countHung counts the rounds that are due while a round of an earlier watch hangs. That watch was replaced before it
// could tell.
func (w *watch) countHung(ctx context.Context) {
	conditions := w.conditionsNow()
	for _, p := range w.rounds.probes {
		now, since := time.Now(), w.access.inflightSince(p.probe.Name)
		if since.IsZero() || now.Sub(since) < p.probe.Timeout || now.Before(p.next) {
			continue
		}
		w.took(ctx, p, record.Measurement{
			Device: w.spec.ID, Probe: p.probe.Name, Start: since, Conditions: conditions, Load: record.UnknownLoad(),
			Outcome: record.OutcomeTimeout, Reason: (&guard.HungError{Since: since, Earlier: true}).Error(),
		})
		w.rounds.plan(p, now, now)
	}
}

// took adds a measurement to the status, the judge, the history and the metrics.
func (w *watch) took(ctx context.Context, p *probeState, m record.Measurement) {
	w.saved.written += m.WrittenBytes
	w.rounds.count(p, m)
	w.opener.countPool()
	name := w.deviceNow().Name
	events, wanted := w.shared.judging.took(w.spec.ID, m)
	if len(wanted) > 0 {
		w.shared.confirm(wanted, p.probe.Name)
	}

	w.remember(p, m)
	w.shared.latencies.Observe(name, m)
	w.rounds.tell(p, m)
	w.shared.tell(events)
	w.saveWhenDue(ctx, false)
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
	w.rounds.countLate(m)
	w.mu.Unlock()
	w.shared.judging.look(func() { w.shared.judging.node.Returned(w.spec.ID, m.Start.Add(m.Duration)) })
	w.shared.latencies.Observe(name, m)
	w.log.Warn("a round that hung has ended", "probe", m.Probe, "began", m.Start, "slowest_io", m.Latency.Max(), "errors", m.Errors)
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
