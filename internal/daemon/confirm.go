package daemon

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/judge"
)

const (
	// confirmSpread is the largest random delay of a confirmation round, so that rounds that are requested on a whole
	// fleet at once do not coincide.
	confirmSpread = 2 * time.Second
	// askedAhead is how many requested confirmation rounds may wait for the watch to notice them.
	askedAhead = 8
)

// ask is a request for a round ahead of schedule.
type ask struct {
	probe string
	at    time.Time
}

// confirm requests rounds of a probe on the watched targets, to confirm or refute a suspicion about the first of
// them. When the first target has used up its confirmation rounds, none is requested on the others.
func (d *Daemon) confirm(rounds []judge.Wanted, probe string) {
	watches := d.current()
	for i, r := range rounds {
		asked := false
		if w := watches[r.Drive]; w != nil {
			asked = w.rounds.confirm(probe, r.In, judge.MostWanted(i, w.spec.Admission.ConfirmationsPerHour))
		}
		if i == 0 && !asked {
			return
		}
	}
}

// confirm requests a round of a probe after the given time, unless one is due by then anyway. It reports whether
// there will be a round. There is none in quiet hours, when the target has had its maximum of the last hour, or when
// the probe does not run on this target. Like any other round, it waits for a run to end, needs admission and is
// charged to the write budget. It may be called by any goroutine, and does not block.
func (r *rounds) confirm(probe string, in time.Duration, most int) bool {
	now := wallClock()
	a := ask{probe, time.Now().Add(in + rand.N(confirmSpread))}
	r.mu.Lock()
	i := slices.IndexFunc(r.probes, func(p *probeState) bool { return p.probe.Name == probe })
	due := i >= 0 && !r.probes[i].following(now).After(a.at.Add(confirmSpread))
	r.mu.Unlock()
	switch {
	case i < 0 || !r.spec.Quiet.Until(now).IsZero():
		return false
	case due:
		return true
	case !r.access.confirmed.Take(time.Now(), most): // whatever the clock is set to
		return false
	}
	select {
	case r.asked <- a:
		return true
	default:
		return false
	}
}

// following returns when the next round is due. If p.next has passed, it is the time of the round that has just
// raised the suspicion; following then returns the time after it.
func (p *probeState) following(now time.Time) time.Time {
	if p.next.After(now) {
		return p.next
	}
	return p.rhythm.Next(now)
}

// await waits until a confirmation round is requested, but not longer than d.
func (r *rounds) await(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	case a := <-r.asked:
		r.advance(a)
	}
}

// advance makes a probe due at the requested time, unless it is due earlier.
func (r *rounds) advance(a ask) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.probes {
		if p.probe.Name == a.probe && a.at.Before(p.next) {
			p.next, p.outOfTurn = a.at, true
		}
	}
}
