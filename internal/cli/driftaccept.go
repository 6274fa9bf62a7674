package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

func (a *app) driftAccept() *cobra.Command {
	var probe, note string
	var host bool
	c := &cobra.Command{
		Use:   "accept {TARGET | --host} --note TEXT",
		Short: "Accept the current level as normal",
		Long: `Takes the current level of everything that has regressed or improved as normal, and says
which level that is. If the target is far slower than its peers, that becomes normal too.
What was learned about noise and load stays, so the target is judged again at once. The note
says why; "drift explain" shows it. The command is refused where no drift was found, because
there is nothing to silence. It is also refused while a level moves, for example during a
recovery: the level has to be steady for a quarter of an hour.

With --host, what the drives of this host did together is accepted: the findings
host_slower and batch_slower end.

While a daemon runs, it does this itself. The command waits for its answer.`,
		Example: `  ssdprobe drift accept nvme0n1 --note "the new firmware is slower"
  ssdprobe drift accept nvme0n1 --probe read-4k --note "moved to the slow slot"
  ssdprobe drift accept --host --note "powersave is wanted here"`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			r := state.Request{Probe: probe, Accept: strings.TrimSpace(note), Host: host}
			switch {
			case r.Accept == "":
				return usage(errors.New("--note: is missing; say why this level is normal"))
			case host && len(args) > 0:
				return usage(fmt.Errorf("--host: is about all drives of the host; leave out %s", args[0]))
			case host && probe != "":
				return usage(errors.New("--host: is about all probes; leave out --probe"))
			case !host && len(args) == 0:
				return usage(errors.New("name the target whose level is normal, or --host for what all drives did together"))
			case host:
				return a.acceptHost(c.Context(), r)
			}
			return a.change(c.Context(), args, r, "level of %s accepted")
		},
	}
	c.Flags().StringVar(&probe, "probe", "", "only the probe with this `NAME`")
	c.Flags().StringVar(&note, "note", "", "why this level is normal (`TEXT`); required")
	c.Flags().BoolVar(&host, "host", false, "accept what the drives of this host did together")
	return c
}

// acceptHost accepts what the drives of the host did together, or lets the daemon do that.
func (a *app) acceptHost(ctx context.Context, r state.Request) error {
	dir, err := a.openState()
	if err != nil {
		return err
	}
	if err = a.submit(ctx, dir, asked{r, "level of the host accepted"}); errors.Is(err, drift.ErrNothingToAccept) {
		return fmt.Errorf("%w; ssdprobe drift shows what was found", err)
	}
	return err
}

// change applies a request to the target that the arguments name, or lets the daemon do that. What is asked of a target or
// probe that the stored state does not know is refused at once, unless the running daemon knows it already. What the level
// allows is said by whoever carries out the request: the stored one may be ten minutes old.
func (a *app) change(ctx context.Context, args []string, r state.Request, done string) error {
	dir, targets, err := a.targets(args)
	if errors.Is(err, errNothingKnown) {
		if t, watched := unsaved(ctx, dir, args[0], r.Probe); watched {
			r.Target = t.ID
			return a.submit(ctx, dir, asked{r, fmt.Sprintf(done, t.Path)})
		}
	}
	if err != nil {
		return err
	}
	t := targets[0]
	r.Target = t.ID
	path := t.Path
	if r.Gone && !t.File {
		return usage(fmt.Errorf("--gone: %s is no probe file", path))
	}
	err = r.Change(&t, time.Now())
	if errors.Is(err, state.ErrUnknownTarget) {
		if _, watched := unsaved(ctx, dir, t.ID, r.Probe); watched {
			err = nil
		}
	}
	switch {
	case errors.Is(err, state.ErrUnknownTarget) && r.Probe != "":
		return usage(fmt.Errorf("--probe: nothing is stored about a probe %q on %s; it has %s", r.Probe, path, strings.Join(t.ProbeNames(), ", ")))
	case err != nil && !state.Refused(err):
		return err
	}
	if err = a.submit(ctx, dir, asked{r, fmt.Sprintf(done, path)}); errors.Is(err, drift.ErrNothingToAccept) {
		return fmt.Errorf("%w; ssdprobe drift explain %s shows its state", err, args[0])
	}
	return err
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
