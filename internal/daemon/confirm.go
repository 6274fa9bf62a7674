package daemon

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	// confirmSpread is within how long a round out of turn begins, so that those which a
	// fleet asks for at one moment do not meet.
	confirmSpread = 2 * time.Second
	// askedAhead is how many rounds out of turn may wait for the watch to notice them.
	askedAhead = 8
)

// confirm asks for a round of a probe within seconds, to confirm or refute a suspicion. It
// reports whether there will be one. There is none in quiet hours, when the target has had
// as many in the last hour as the configuration allows, and of a probe that does not run
// here. The round waits for a run to end, is admitted and is charged to the budget of
// writes as any other. It may be called by any goroutine, and does not wait.
func (w *watch) confirm(probe string) bool {
	w.mu.Lock()
	runs := slices.ContainsFunc(w.probes, func(p *probeState) bool { return p.probe.Name == probe })
	w.mu.Unlock()
	now := wallClock()
	if !runs || !w.spec.Quiet.Until(now).IsZero() || !w.access.confirmed.take(now, w.spec.Admission.ConfirmationsPerHour) {
		return false
	}
	select {
	case w.asked <- probe:
		return true
	default:
		return false
	}
}

// await waits until a round is due or one out of turn is asked for, and as long as d at most.
func (w *watch) await(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case probe := <-w.asked:
		w.advance(probe, time.Now().Add(rand.N(confirmSpread)))
	}
}

// advance makes a probe due at a time, unless it is due before.
func (w *watch) advance(probe string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.probes {
		if p.probe.Name == probe && at.Before(p.next) {
			p.next, p.outOfTurn = at, true
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
