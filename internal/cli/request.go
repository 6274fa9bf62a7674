package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// asked is a request to the state, what the user calls its target, and the message when it was carried out.
type asked struct {
	state.Request
	name, done string
}

// left is a request that the daemon is to answer.
type left struct {
	asked
	name string // in the state directory
}

// announced returns what the daemon that has announced itself in a state directory knows. running is false when none can be asked.
func announced(ctx context.Context, dir state.Dir) (s record.Snapshot, running bool) {
	urls, err := dir.Announced()
	if err != nil || len(urls) == 0 {
		return s, false
	}
	s, err = daemonOf{}.snapshot(ctx, urls[0])
	return s, err == nil
}

// unsaved returns what the daemon of a state directory knows of a target: a daemon saves new targets only half
// a minute after its start. watched is false when the daemon does not watch the target, or not with that probe,
// or cannot be asked.
func unsaved(ctx context.Context, dir state.Dir, typed, probe string) (t record.TargetStatus, watched bool) {
	s, running := announced(ctx, dir)
	if !running {
		return t, false
	}
	var err error
	if t, err = findWatched(s.Targets, typed, "the daemon watches", daemonOf{}.seeTargets()); err != nil {
		return t, false
	}
	return t, probe == "" || slices.ContainsFunc(t.Probes, func(p record.ProbeStatus) bool { return p.Probe.Name == probe })
}

// submit carries out requests, or leaves them to the daemon and waits for its answers. One that is refused does not concern the
// others. After one that fails, no more are submitted.
func (a *app) submit(ctx context.Context, dir state.Dir, all ...asked) error {
	var waiting []left
	var problems []error
	for i, r := range all {
		name, accepted, err := dir.Submit(r.Request)
		if err == nil && name == "" {
			err = a.tellDone(dir, r, accepted)
		}
		if name != "" {
			waiting = append(waiting, left{r, name})
		}
		failed := err != nil && !state.Refused(err)
		if rest := len(all) - i - 1; failed && rest > 0 {
			err = fmt.Errorf("%w; %s after it not tried", err, units.Plural(rest, "request"))
		}
		problems = append(problems, r.problem(err, len(all) > 1))
		if failed {
			break
		}
	}
	return errors.Join(append(problems, a.await(ctx, dir, waiting))...)
}

// problem returns the error of a request as the user is told it: which of several targets is meant.
func (r asked) problem(err error, several bool) error {
	switch {
	case err == nil || r.name == "":
		return err
	case errors.Is(err, drift.ErrNothingToAccept):
		return fmt.Errorf("%w; ssdprobe drift explain %s shows its state", err, r.name)
	case several:
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return err
}

// await waits for the daemon's answers to requests, and prints them.
func (a *app) await(ctx context.Context, dir state.Dir, all []left) error {
	if len(all) == 0 {
		return nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, answerPatience, errPatience)
	defer stop()
	var problems []error
	for _, r := range all {
		accepted, err := answered(ctx, dir, r.name)
		if err == nil {
			err = a.tellDone(dir, r.asked, accepted)
		}
		problems = append(problems, r.problem(err, len(all) > 1))
	}
	return errors.Join(problems...)
}

// tellDone says that a request was carried out, and what that changed: "level of nvme0n1 accepted (read-4k p50 1.31×)".
func (a *app) tellDone(dir state.Dir, r asked, accepted map[string]drift.Note) error {
	changed := levels(accepted)
	var err error
	switch {
	case r.Pin != nil && *r.Pin && r.Probe == "":
		changed, err = pins(dir, r.Target)
	case r.Import != nil:
		changed, err = waits(dir, r.Request)
	}
	return errors.Join(err, tell(a.stderr, "%s%s\n", r.done, changed))
}

const (
	// answerPatience is how long the daemon may take to answer all requests. It checks for requests twice a
	// second, but a target that hangs may delay it.
	answerPatience = time.Minute
	answerLook     = 100 * time.Millisecond
)

var errPatience = fmt.Errorf("the daemon has not answered within %s", units.Span(answerPatience))

// answered waits for the daemon's answer to the request with a name. It returns the levels that were accepted,
// or an error if the daemon refused.
func answered(ctx context.Context, dir state.Dir, name string) (map[string]drift.Note, error) {
	look := time.Tick(answerLook)
	for {
		answer, found, err := dir.TakeAnswer(name)
		switch {
		case err != nil:
			return nil, err
		case found && answer.Refused != "":
			return nil, fmt.Errorf("the daemon refused: %s", answer.Refused)
		case found:
			return answer.Accepted, nil
		}
		select {
		case <-look:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: the request is left to the daemon, whose log says how it went", context.Cause(ctx))
		}
	}
}
