package daemon

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/judge"
)

const (
	// confirmSpread is how much later a round out of turn may begin, so that those which a
	// fleet asks for at one moment do not meet.
	confirmSpread = 2 * time.Second
	// askedAhead is how many rounds out of turn may wait for the watch to notice them.
	askedAhead = 8
)

// ask is a round that is wanted out of turn.
type ask struct {
	probe string
	at    time.Time
}

// confirm asks for rounds of a probe on the targets that are watched, to confirm or refute a suspicion of the first of them.
// When that has had as many as it may, the others are left alone, too, and others take no more than half of what they may: a
// drive that is slow now and then does not use up theirs.
func (d *Daemon) confirm(rounds []judge.Wanted, probe string) {
	watches := d.current()
	for i, r := range rounds {
		asked := false
		if w := watches[r.Drive]; w != nil {
			most := w.spec.Admission.ConfirmationsPerHour
			if i > 0 {
				most = (most + 1) / 2
			}
			asked = w.confirm(probe, r.In, most)
		}
		if i == 0 && !asked {
			return
		}
	}
}

// confirm asks for a round of a probe after so long, unless one is due about then or before. It
// reports whether there will be one. There is none in quiet hours, when the target has had
// as many in the last hour as it may at most, and of a probe that does not run
// here. The round waits for a run to end, is admitted and is charged to the budget of
// writes as any other. It may be called by any goroutine, and does not wait.
func (w *watch) confirm(probe string, in time.Duration, most int) bool {
	now := wallClock()
	a := ask{probe, time.Now().Add(in + rand.N(confirmSpread))}
	w.mu.Lock()
	i := slices.IndexFunc(w.probes, func(p *probeState) bool { return p.probe.Name == probe })
	due := i >= 0 && !w.probes[i].following(now).After(a.at.Add(confirmSpread))
	w.mu.Unlock()
	switch {
	case i < 0 || !w.spec.Quiet.Until(now).IsZero():
		return false
	case due:
		return true
	case !w.access.confirmed.take(now, most):
		return false
	}
	select {
	case w.asked <- a:
		return true
	default:
		return false
	}
}

// following is when the next round is due. Where that is over, it is the one that has just raised the suspicion.
func (p *probeState) following(now time.Time) time.Time {
	if p.next.After(now) {
		return p.next
	}
	return p.rhythm.Next(now)
}

// await waits until a round is due or one out of turn is asked for, and as long as d at most.
func (w *watch) await(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case a := <-w.asked:
		w.advance(a)
	}
}

// advance makes a probe due at a time, unless it is due before.
func (w *watch) advance(a ask) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.probes {
		if p.probe.Name == a.probe && a.at.Before(p.next) {
			p.next, p.outOfTurn = a.at, true
		}
	}
}

// hourly bounds how often something is done in any 60 minutes. The zero value has done
// nothing so far.
type hourly struct {
	mu   sync.Mutex
	done []time.Time
}

// take reports whether it may be done once more, and counts it then.
func (h *hourly) take(now time.Time, limit int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = slices.DeleteFunc(h.done, func(t time.Time) bool { return now.Sub(t) >= time.Hour })
	if len(h.done) >= limit {
		return false
	}
	h.done = append(h.done, now)
	return true
}
