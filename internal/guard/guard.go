package guard

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// grace is how long a call may take to notice that it was cancelled.
	grace = 500 * time.Millisecond
	// beat is how often Do looks at the clock while it waits. Beats that come late by more
	// than standstill say that the whole process stood still.
	beat, standstill = 100 * time.Millisecond, 500 * time.Millisecond
)

// HungError says that a call did not return in time, or that an earlier one has
// still not returned.
type HungError struct {
	// Since is when the call that hangs was started.
	Since time.Time
	// Earlier is true when nothing was started now because an earlier call hangs.
	Earlier bool
}

// Error says since when.
func (e *HungError) Error() string {
	if e.Earlier {
		return fmt.Sprintf("a call made at %s has not returned yet", e.Since.Format(time.RFC3339))
	}
	return fmt.Sprintf("no answer since %s", e.Since.Format(time.RFC3339))
}

// Guard lets one call at a time through. The zero value is ready. It must not be copied.
type Guard struct {
	mu    sync.Mutex
	since time.Time // zero when no call is under way
	last  func()    // to be done when the call under way returns
	stood time.Duration
}

// Since returns when the call under way was started, zero when there is none.
func (g *Guard) Since() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.since
}

// Finally runs f now, or when the call under way returns; it returns whether f
// has run. It is for giving back what that call may still be using, such as a
// file descriptor.
func (g *Guard) Finally(f func()) (done bool) {
	g.mu.Lock()
	if !g.since.IsZero() {
		if before := g.last; before != nil {
			after := f
			f = func() { before(); after() }
		}
		g.last = f
		g.mu.Unlock()
		return false
	}
	g.mu.Unlock()
	f()
	return true
}

// StoodStill returns the longest time for which this process did not run while the last
// Do waited: somebody stopped it by a signal, froze its control group or suspended the
// machine. A drive that hangs stops one thread and not the process. It is 0 for less
// than half a second.
func (g *Guard) StoodStill() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stood
}

func (g *Guard) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.since.IsZero() {
		return &HungError{Since: g.since, Earlier: true}
	}
	g.since, g.stood = time.Now(), 0
	return nil
}

func (g *Guard) leave() {
	g.mu.Lock()
	last := g.last
	g.since, g.last = time.Time{}, nil
	g.mu.Unlock()
	if last != nil {
		last()
	}
}

// Do runs f through the guard and waits for it, at most for timeout. f gets a
// context that ends with ctx and with the timeout, and should stop then if it
// can; it has a short grace to do so. When it does not, Do returns a *HungError
// and f's result is dropped. f must own everything it writes to.
func Do[T any](ctx context.Context, g *Guard, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	return DoLate(ctx, g, timeout, f, func(T, error) {})
}

// DoLate is Do with somebody who takes the result of a call that was given up: late is
// called when f returns after all, once, before the guard lets another call through. A
// result goes either to late or to the caller.
func DoLate[T any](ctx context.Context, g *Guard, timeout time.Duration, f func(context.Context) (T, error), late func(T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if err := g.enter(); err != nil {
		return none, err
	}
	since := g.Since()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan result, 1)
	var settled atomic.Bool // the result has a taker: the caller, or late once the caller has given up
	go func() {
		value, err := f(ctx)
		if !settled.CompareAndSwap(false, true) {
			late(value, err)
		}
		g.leave() // before the answer, so that who gets it may call again at once
		done <- result{value, err}
	}()
	beats := time.NewTicker(beat)
	defer beats.Stop()
	over := ctx.Done()
	var enough <-chan time.Time
	for last := since; ; last = g.look(last) {
		select {
		case r := <-done:
			g.look(last)
			return r.value, r.err
		case <-enough:
			g.look(last)
			if !settled.CompareAndSwap(false, true) { // it returns just now
				r := <-done
				return r.value, r.err
			}
			return none, &HungError{Since: since}
		case <-over:
			over, enough = nil, time.After(grace)
		case <-beats.C:
		}
	}
}

// look notices when much more time has passed since the last look than between two beats.
func (g *Guard) look(last time.Time) time.Time {
	now := time.Now()
	if gap := now.Sub(last); gap > standstill {
		g.mu.Lock()
		g.stood = max(g.stood, gap)
		g.mu.Unlock()
	}
	return now
}
