package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// asked is a request to the state, and what to say when it was carried out.
type asked struct {
	state.Request
	done string
}

// submit carries out requests, or leaves them to the daemon and waits for its answers.
func (a *app) submit(ctx context.Context, dir state.Dir, all ...asked) error {
	names := make([]string, len(all))
	var problems []error
	for i, r := range all {
		var err error
		if names[i], err = dir.Submit(r.Request); err != nil {
			return err
		}
	}
	for i, r := range all {
		err := answered(ctx, dir, names[i])
		if err == nil {
			err = tell(a.stderr, "%s\n", r.done)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

const (
	// answerPatience is how long the daemon may take to answer: it looks for requests twice a second, and a target that
	// hangs may hold it up.
	answerPatience = time.Minute
	answerLook     = 100 * time.Millisecond
)

// answered waits for the daemon's answer to a request that was left under a name; an empty name needs none. What it
// refused is the error.
func answered(ctx context.Context, dir state.Dir, name string) error {
	if name == "" {
		return nil
	}
	look := time.NewTicker(answerLook)
	defer look.Stop()
	enough := time.After(answerPatience)
	for {
		answer, found, err := dir.TakeAnswer(name)
		switch {
		case err != nil:
			return fmt.Errorf("read the answer of the daemon: %w", err)
		case found && answer.Refused != "":
			return fmt.Errorf("the daemon refused: %s", answer.Refused)
		case found:
			return nil
		}
		select {
		case <-look.C:
		case <-enough:
			return fmt.Errorf("the daemon has not answered within %s; it carries the request out when it can, and its log says how that went", units.Span(answerPatience))
		case <-ctx.Done():
			return fmt.Errorf("%w: the request is left to the daemon, whose log says how it went", context.Cause(ctx))
		}
	}
}
