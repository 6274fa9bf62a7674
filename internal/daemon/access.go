package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// resolveTimeout is how long it may take to find out what a target is. Its file server may hang.
const resolveTimeout = 5 * time.Second

// accessKept is how long an access is kept after its target has gone. It is the time over which confirmation rounds are
// limited.
const accessKept = time.Hour

// access coordinates the use of one target. Discovery and the watch of the target take turns. A call by discovery is
// therefore never mistaken for a round that hangs, and at most one thread hangs. An access outlives the watches of
// the target, which a new configuration or a request replaces, so that a hang stays known. It also outlives absences of
// the target up to accessKept, so that one which comes and goes has no more rounds than one that stays.
type access struct {
	guard guard.Guard
	turn  turn
	rest  rest
	// confirmed limits the confirmation rounds.
	confirmed admit.Hourly

	mu sync.Mutex
	// silent says since when the target has not answered; empty when it answers.
	silent string
	// inflight holds the start of the round in progress of each probe. While the target hangs, it has an entry for
	// each probe that was tried meanwhile.
	inflight map[string]time.Time
	// began holds the start of the last round of each probe.
	began map[string]time.Time
	// watched is when discovery last saw the target watched or hanging. Only discovery uses it.
	watched time.Time
}

func newAccess() *access {
	return &access{turn: make(turn, 1), inflight: map[string]time.Time{}, began: map[string]time.Time{}}
}

// beginRound marks a round of a probe as in progress. It needs the turn, so a call that is still in progress must be
// one that hangs; the round then counts from the start of that call.
func (a *access) beginRound(probe string) {
	since := a.guard.Since()
	if since.IsZero() {
		since = time.Now()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inflight[probe], a.began[probe] = since, time.Now()
}

// endRounds removes the marks, unless a call hangs. It needs the turn.
func (a *access) endRounds() {
	if !a.guard.Since().IsZero() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.inflight)
}

// handOver passes the marks on to a new watch. If a round hangs, all probes of the new watch wait for it.
func (a *access) handOver(probes []*probeState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var first time.Time
	for _, since := range a.inflight {
		if first.IsZero() || since.Before(first) {
			first = since
		}
	}
	clear(a.inflight)
	if first.IsZero() || a.guard.Since().IsZero() {
		return
	}
	for _, p := range probes {
		a.inflight[p.probe.Name] = first
	}
}

// ours calls begin to report that our own I/O begins. The returned function over reports its end, or leaves that to
// the return of the call in progress if that hangs. While a call hangs, further attempts count as part of it and
// report nothing. It needs the turn.
func (a *access) ours(begin func() (*record.Work, func())) (others *record.Work, over func()) {
	if !a.guard.Since().IsZero() {
		return nil, func() {}
	}
	others, end := begin()
	return others, func() { a.guard.Finally(end) }
}

// last returns when the last round of the probe began, by this watch or an earlier one; zero when there was none.
func (a *access) last(probe string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.began[probe]
}

// inflightSince returns when the round in progress of the probe began; zero when there is none.
func (a *access) inflightSince(probe string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inflight[probe]
}

// errBusy means that a target was not asked because its watch is using it.
var errBusy = errors.New("its watch uses the target")

// ask calls touch unless the watch of the target has the turn. Errors: errBusy, *guard.HungError and those of touch.
func (a *access) ask(ctx context.Context, touch func(context.Context, *guard.Guard) (wanted, error)) (wanted, error) {
	if !a.turn.try() {
		return wanted{}, errBusy
	}
	defer a.turn.end()
	if since := a.guard.Since(); !since.IsZero() {
		return wanted{}, &guard.HungError{Since: since, Earlier: true}
	}
	return touch(ctx, &a.guard)
}

// hangs records that the target does not answer, and reports whether that is new.
func (a *access) hangs(err *guard.HungError) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := a.silent == ""
	a.silent = fmt.Sprintf("it does not answer since %s: its drive, or the server of its filesystem, hangs", err.Since.UTC().Format(time.RFC3339))
	return news
}

// answers records that the target answers, and reports whether that is new.
func (a *access) answers() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := a.silent != ""
	a.silent = ""
	return news
}

// problem says why the target cannot be used now; empty when it answers.
func (a *access) problem() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.silent
}
