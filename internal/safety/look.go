package safety

import (
	"context"
	"errors"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
)

// patience is how long each single check may take; one that takes longer counts as hung.
const patience = 10 * time.Second

// errHung ends a check if its findings already say what does not answer.
var errHung = errors.New("it hangs")

// look collects the findings of a check.
type look struct {
	guard *guard.Guard
	found []Finding
}

// ask runs a check that may hang, such as one of a path on a filesystem whose server is gone. If it hangs, that is a
// finding and ends the check, so that only one thread hangs. If ctx ends, ask returns its cause.
func (l *look) ask(ctx context.Context, what string, f func() ([]Finding, error)) error {
	return l.askFor(ctx, patience, what, f)
}

// askFor is like ask, with its own patience.
func (l *look) askFor(ctx context.Context, patience time.Duration, what string, f func() ([]Finding, error)) error {
	found, err := guard.Do(ctx, l.guard, patience, func(context.Context) ([]Finding, error) { return f() })
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case guard.Hangs(err):
		l.add(Finding{Kind: KindBlind, Text: what + " does not answer, and while it hangs, nobody knows what uses the device"})
		return errHung
	case err != nil:
		return err
	}
	l.add(found...)
	return nil
}

func (l *look) add(found ...Finding) { l.found = append(l.found, found...) }
