package safety

import (
	"context"
	"errors"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
)

// patience is for each thing that is looked at; what takes longer hangs.
const patience = 10 * time.Second

// errHung ends a check whose findings say what does not answer.
var errHung = errors.New("it hangs")

// look gathers what speaks against writing to a device.
type look struct {
	guard *guard.Guard
	found []Finding
}

// ask looks at something that may hang, such as a path on a filesystem whose server is gone. When it does, that is a
// finding and the end of the check, so that one thread hangs and not many. It ends with ctx, with the cause of that.
func (l *look) ask(ctx context.Context, what string, f func() ([]Finding, error)) error {
	return l.askFor(ctx, patience, what, f)
}

// askFor is ask for what may take that long.
func (l *look) askFor(ctx context.Context, patience time.Duration, what string, f func() ([]Finding, error)) error {
	found, err := guard.Do(ctx, l.guard, patience, func(context.Context) ([]Finding, error) { return f() })
	var hung *guard.HungError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &hung):
		l.add(Finding{Kind: KindBlind, Text: what + " does not answer, and while it hangs, nobody knows what uses the device"})
		return errHung
	case err != nil:
		return err
	}
	l.add(found...)
	return nil
}

func (l *look) add(found ...Finding) { l.found = append(l.found, found...) }
