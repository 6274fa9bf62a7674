// Package guard keeps a call that may never return from blocking the daemon.
//
// A system call on a hung device blocks its thread in the kernel; no signal, deadline or
// context ends it. A Guard runs such a call on a goroutine of its own, waits for a
// bounded time and then leaves it to the kernel. Until the call returns, the guard starts
// no second one. So there is at most one stuck call per guard, and its age is known.
//
// A process that did not run at all also notices late that a call has returned. A guard
// distinguishes the two: see StoodStill.
//
// It does not guess: Do returns no result of an abandoned call, even if the call returns later.
//
//	var g guard.Guard
//	n, err := guard.Do(ctx, &g, 20*time.Second, func(ctx context.Context) (int, error) { return read(ctx) })
//	if guard.Hangs(err) { … }
package guard
