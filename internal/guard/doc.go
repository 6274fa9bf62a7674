// Package guard keeps a call that may never return from taking the daemon with it.
//
// A system call on a hung device blocks its thread in the kernel; no signal,
// deadline or context ends it. A Guard runs such a call on a goroutine of its own,
// waits for a bounded time and then leaves it to the kernel. Until it returns, the
// guard starts no second one: at most one stuck call per guard, its age known.
//
// A process that did not run at all also notices late that a call has returned. A
// guard tells the two apart: see StoodStill.
//
// It refuses to guess: a call that was abandoned has no result, even when it
// returns later.
//
//	var g guard.Guard
//	n, err := guard.Do(ctx, &g, 20*time.Second, func(ctx context.Context) (int, error) { return read(ctx) })
//	if hung := new(guard.HungError); errors.As(err, &hung) { … }
package guard
