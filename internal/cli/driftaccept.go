package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

func (a *app) driftAccept() *cobra.Command {
	var probe, note, condition string
	var host bool
	c := &cobra.Command{
		Use:   "accept {TARGET… | --change NAME | --host} --note TEXT",
		Short: "Accept the current level as normal",
		Long: `Takes the current level of everything that has regressed or improved as normal, and says
which level that is. What changes of conditions made slower, at once or in small steps,
becomes normal too, and so does a target that is far slower than its peers.
What was learned about noise and load stays, so the targets are judged again at once. The
note says why; "drift explain" shows it. The command is refused where no drift was found,
because there is nothing to silence. It is also refused while a level moves, for example
during a recovery: the level has to be steady for a quarter of an hour.

With --change, only what changes of that condition made slower is accepted: the finding
slower_since_change ends, on all targets or on those that are named. Whatever else is wrong
with a drive is still told.

With --host, what the drives of this host did together is accepted: the findings
host_slower and batch_slower end.

Each target has a line. If one is unknown, nothing is changed. If one is refused, the others
are accepted all the same, and the command ends with 1. While a daemon runs, it does this
itself. The command waits for its answer.`,
		Example: `  ssdprobe drift accept nvme0n1 nvme1n1 --note "the new firmware is slower"
  ssdprobe drift accept --change kernel --note "its mitigations are wanted"
  ssdprobe drift accept nvme0n1 --probe read-4k --note "moved to the slow slot"
  ssdprobe drift accept --host --note "powersave is wanted here"`,
		RunE: func(c *cobra.Command, args []string) error {
			r := state.Request{Probe: probe, Accept: strings.TrimSpace(note), Host: host, Condition: condition}
			switch names := record.ConditionNames(); {
			case r.Accept == "":
				return usage(errors.New("--note: is missing; say why this level is normal"))
			case host && len(args) > 0:
				return usage(fmt.Errorf("--host: is about all drives of the host; leave out %s", args[0]))
			case host && (probe != "" || condition != ""):
				return usage(errors.New("--host: is about all that the drives did; leave out --probe and --change"))
			case host:
				return a.acceptHost(c.Context(), r)
			case condition != "" && !slices.Contains(names, condition):
				return usage(unknownWord("--change", condition, names))
			case condition != "" && len(args) == 0:
				return a.acceptChange(c.Context(), r)
			case len(args) == 0:
				return usage(errors.New("name the targets whose level is normal, or --change for what a change made slower, or --host for what all drives did together"))
			}
			return a.change(c.Context(), args, r, "level of %s accepted")
		},
	}
	c.Flags().StringVar(&probe, "probe", "", "only the probe with this `NAME`")
	c.Flags().StringVar(&note, "note", "", "why this level is normal (`TEXT`); required")
	c.Flags().StringVar(&condition, "change", "", "only what changes of the condition with this `NAME` made slower, such as kernel")
	c.Flags().BoolVar(&host, "host", false, "accept what the drives of this host did together")
	return c
}

// acceptChange accepts what changes of a condition made slower, on all targets of which that is known.
func (a *app) acceptChange(ctx context.Context, r state.Request) error {
	dir, err := a.openState()
	if err != nil {
		return err
	}
	s, running := announced(ctx, dir)
	if !running { // or it has a password
		c, err := a.settings()
		if err != nil {
			return err
		}
		if s, err = storedSnapshot(c); err != nil {
			return err
		}
	}
	var all []asked
	for _, t := range s.Targets {
		if slices.ContainsFunc(t.Probes, func(p record.ProbeStatus) bool {
			return (r.Probe == "" || r.Probe == p.Probe.Name) && slices.ContainsFunc(finding.StillSlowing(p), func(e record.Effect) bool { return e.Of(r.Condition) })
		}) {
			r.Target = t.ID
			all = append(all, asked{r, t.Path, fmt.Sprintf("level of %s accepted", t.Path)})
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("accept changes of %s: none is known to have made a target slower; ssdprobe drift shows what was found", record.ConditionTitle(r.Condition))
	}
	return a.submit(ctx, dir, all...)
}

// acceptHost accepts what the drives of the host did together, or lets the daemon do that.
func (a *app) acceptHost(ctx context.Context, r state.Request) error {
	dir, err := a.openState()
	if err != nil {
		return err
	}
	if err = a.submit(ctx, dir, asked{Request: r, done: "level of the host accepted"}); errors.Is(err, drift.ErrNothingToAccept) {
		return fmt.Errorf("%w; ssdprobe drift shows what was found", err)
	}
	return err
}

// change applies a request to each target that the arguments name, or lets the daemon do that. If one of them is wrong, nothing
// is changed.
func (a *app) change(ctx context.Context, args []string, r state.Request, done string) error {
	var dir state.Dir
	var all []asked
	var problems []error
	for _, name := range args {
		var one asked
		var err error
		if dir, one, err = a.ask(ctx, name, r, done); err != nil {
			problems = append(problems, err)
			continue
		}
		if !slices.ContainsFunc(all, func(before asked) bool { return before.Target == one.Target }) {
			all = append(all, one)
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	return a.submit(ctx, dir, all...)
}

// ask returns the request for the target that the user named. What is asked of a target or probe that the stored state does
// not know is refused, unless the running daemon knows it already. What the level allows is said by whoever carries out the
// request: the stored one may be ten minutes old.
func (a *app) ask(ctx context.Context, name string, r state.Request, done string) (state.Dir, asked, error) {
	dir, targets, err := a.targets([]string{name})
	if errors.Is(err, errNothingKnown) {
		if t, watched := unsaved(ctx, dir, name, r.Probe); watched {
			r.Target = t.ID
			return dir, asked{r, name, fmt.Sprintf(done, t.Path)}, nil
		}
	}
	if err != nil {
		return dir, asked{}, err
	}
	t := targets[0]
	r.Target = t.ID
	path := t.Path
	if r.Gone && !t.File {
		return dir, asked{}, usage(fmt.Errorf("--gone: %s is no probe file", path))
	}
	err = r.Change(&t, time.Now())
	if errors.Is(err, state.ErrUnknownTarget) {
		if _, watched := unsaved(ctx, dir, t.ID, r.Probe); watched {
			err = nil
		}
	}
	switch {
	case errors.Is(err, state.ErrUnknownTarget) && r.Probe != "":
		err = usage(fmt.Errorf("--probe: nothing is stored about a probe %q on %s; it has %s", r.Probe, path, cmp.Or(strings.Join(t.ProbeNames(), ", "), "none")))
	case state.Refused(err):
		err = nil
	}
	return dir, asked{r, name, fmt.Sprintf(done, path)}, err
}

// levels returns the levels that were accepted: " (read-4k p50 1.31×; traffic reads of others 1.40×)". It is
// empty when none were.
func levels(notes map[string]drift.Note) string {
	if len(notes) == 0 {
		return ""
	}
	var all []string
	for _, source := range slices.Sorted(maps.Keys(notes)) {
		all = append(all, source+" "+report.Accepted(notes[source]))
	}
	return " (" + strings.Join(all, "; ") + ")"
}
