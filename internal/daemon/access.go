package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// resolveTimeout is how long a target may take to say what it is; its server may hang.
const resolveTimeout = 5 * time.Second

// access is the way to one target. Discovery and the watch of the target take turns, so
// that what discovery asks is never taken for a round that hangs, and at most one thread
// hangs. It outlives the watches of the target, which a new configuration and requests
// replace: what hangs is known all the while.
type access struct {
	guard guard.Guard
	turn  chan struct{} // has room for one
	rest  rest
	// confirmed bounds the rounds out of turn.
	confirmed hourly

	mu sync.Mutex
	// silent says in words since when the target does not answer; empty when it does.
	silent string
	// inflight is since when each probe has a round in progress. While the target hangs, those
	// that were tried meanwhile have one.
	inflight map[string]time.Time
}

func newAccess() *access {
	return &access{turn: make(chan struct{}, 1), inflight: map[string]time.Time{}}
}

// beginRound marks a round of a probe as in progress. Who has the turn knows that a call
// that is under way hangs: the round began with it.
func (a *access) beginRound(probe string) {
	since := a.guard.Since()
	if since.IsZero() {
		since = time.Now()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inflight[probe] = since
}

// endRounds takes the marks away, unless a call hangs. It needs the turn.
func (a *access) endRounds() {
	if !a.guard.Since().IsZero() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.inflight)
}

// handOver leaves the marks to a new watch: if a round hangs, each of its probes waits for it.
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

// ours says by begin that I/O of ours begins, and by the end that it returns that it is over: when the call under
// way returns, if it hangs. Until then what else is tried is part of that. It needs the turn.
func (a *access) ours(begin func() (*record.Work, func())) (others *record.Work, over func()) {
	if !a.guard.Since().IsZero() {
		return nil, func() {}
	}
	others, end := begin()
	return others, func() { a.guard.Finally(end) }
}

// inflightSince is since when a round of the probe has been in progress; zero when none is.
func (a *access) inflightSince(probe string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inflight[probe]
}

// tryTurn takes the turn if nobody has it.
func (a *access) tryTurn() bool {
	select {
	case a.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// takeTurn waits for the turn, for seconds at most; false when ctx ends before.
func (a *access) takeTurn(ctx context.Context) bool {
	select {
	case a.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (a *access) endTurn() { <-a.turn }

// errBusy says that a target was not asked because its watch uses it.
var errBusy = errors.New("its watch uses the target")

// ask touches the target when its watch does not. Errors: errBusy, *guard.HungError and
// those of touch.
func (a *access) ask(ctx context.Context, touch func(context.Context, *guard.Guard) (wanted, error)) (wanted, error) {
	if !a.tryTurn() {
		return wanted{}, errBusy
	}
	defer a.endTurn()
	if since := a.guard.Since(); !since.IsZero() {
		return wanted{}, &guard.HungError{Since: since, Earlier: true}
	}
	return touch(ctx, &a.guard)
}

// hangs notes that the target does not answer, and reports whether that is news.
func (a *access) hangs(err *guard.HungError) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := a.silent == ""
	a.silent = fmt.Sprintf("it does not answer since %s: its drive, or the server of its filesystem, hangs", err.Since.UTC().Format(time.RFC3339))
	return news
}

// answers notes that the target answers, and reports whether that is news.
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
