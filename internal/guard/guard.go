package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// grace is how long a call may take to notice that it was cancelled.
	grace = 500 * time.Millisecond
	// beat is how often Do looks at the clock while it waits. If more than standstill
	// passes between two looks, the whole process stood still.
	beat, standstill = 100 * time.Millisecond, 500 * time.Millisecond
)

// HungError says that a call did not return in time, or that an earlier one has
// still not returned.
type HungError struct {
	// Since is when the call that hangs was started.
	Since time.Time
	// Earlier is true if no call was started because an earlier one hangs.
	Earlier bool
}

// Error returns a text that says since when the call hangs.
func (e *HungError) Error() string {
	if e.Earlier {
		return fmt.Sprintf("a call made at %s has not returned yet", e.Since.Format(time.RFC3339))
	}
	return fmt.Sprintf("no answer since %s", e.Since.Format(time.RFC3339))
}

// Hangs reports whether err is or wraps a *HungError.
func Hangs(err error) bool {
	_, hangs := errors.AsType[*HungError](err)
	return hangs
}

// Guard lets one call at a time through. The zero value is ready for use. A Guard must not be copied.
type Guard struct {
	mu    sync.Mutex
	since time.Time // zero when no call is under way
	last  func()    // to be called when the call under way returns
	stood time.Duration
}

// Since returns when the call under way was started, or the zero time if there is none.
func (g *Guard) Since() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.since
}

// Finally runs f now, or when the call under way returns; it returns whether f has run.
// Use it to release what that call may still be using, such as a file descriptor.
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

// StoodStill returns the longest time for which this process did not run while the last Do
// waited: somebody stopped it by a signal, froze its control group or suspended the machine. A
// drive that hangs stops one thread and not the process. Times up to half a second count as 0.
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

// Do runs f through the guard and waits for it, at most for timeout. f gets a context
// that ends with ctx and with the timeout, and should stop then if it can; it has a
// short grace period to do so. If it does not, Do returns a *HungError and f's result
// is dropped. f must own everything it writes to.
func Do[T any](ctx context.Context, g *Guard, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	return DoLate(ctx, g, timeout, f, func(T, error) {})
}

// DoLate is like Do, but passes the result of a call that was given up to late. It
// calls late once, when f returns after all, before the guard lets another call
// through. A result goes either to late or to the caller.
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
	var settled atomic.Bool // decided who takes the result: the caller, or late once the caller has given up
	go func() {
		value, err := f(ctx)
		if !settled.CompareAndSwap(false, true) {
			late(value, err)
		}
		g.leave() // before the result is sent, so that its receiver may call again at once
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
			if !settled.CompareAndSwap(false, true) { // f has just returned
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

// look records the time since the last look if it is more than standstill.
func (g *Guard) look(last time.Time) time.Time {
	now := time.Now()
	if gap := now.Sub(last); gap > standstill {
		g.mu.Lock()
		g.stood = max(g.stood, gap)
		g.mu.Unlock()
	}
	return now
}
