package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

func (a *app) driftAccept() *cobra.Command {
	var probe, note string
	c := &cobra.Command{
		Use:   "accept TARGET --note TEXT",
		Short: "Accept the current level as normal",
		Long: `Takes the current level of everything that has regressed or improved as normal, and says
which level that is. What was learned about noise and load stays, so the target is judged
again at once. The note says why; "drift explain" shows it. While a level is moving, as
during a recovery, it is refused.

While a daemon runs, it does this itself, within its discovery interval (10 s by
default).`,
		Example: `  ssdprobe drift accept nvme0n1 --note "slower since the new firmware; the vendor says so"
  ssdprobe drift accept nvme0n1 --probe read-4k --note "moved to the slow slot"`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			note := strings.TrimSpace(note)
			if note == "" {
				return usage(errors.New("--note: is missing; say why this level is normal"))
			}
			return a.change(args, state.Request{Probe: probe, Accept: note}, "level of %s accepted", accepted)
		},
	}
	c.Flags().StringVar(&probe, "probe", "", "only the probe with this `NAME`")
	c.Flags().StringVar(&note, "note", "", "why this level is normal (`TEXT`); required")
	return c
}

// change carries out a request on the one target that the arguments name, or leaves it to
// the state. What the stored state says to be impossible is refused at once: it is
// saved whenever a verdict changes.
func (a *app) change(args []string, r state.Request, done string, what func(t state.Target, at time.Time) string) error {
	dir, targets, err := a.targets(args)
	if err != nil {
		return err
	}
	t := targets[0]
	r.Target = t.ID
	path := t.Path
	now := time.Now()
	switch err := r.Change(&t, now); {
	case errors.Is(err, state.ErrUnknownTarget) && r.Probe != "":
		return usage(fmt.Errorf("--probe: nothing is stored about a probe %q on %s; it has %s", r.Probe, path, strings.Join(t.ProbeNames(), ", ")))
	case errors.Is(err, drift.ErrNothingToAccept):
		return fmt.Errorf("%w; ssdprobe drift explain %s shows its state", err, args[0])
	case err != nil:
		return err
	}
	return a.submit(dir, r, fmt.Sprintf(done, path)+what(t, now))
}

// accepted says which levels were accepted at a time.
func accepted(t state.Target, at time.Time) string {
	var all []string
	add := func(source string, s drift.State) {
		if note, ok := s.Accepted(at); ok {
			all = append(all, source+" "+report.Accepted(note))
		}
	}
	for _, name := range t.ProbeNames() {
		add(name, t.Probes[name])
	}
	if t.Traffic != nil {
		add("traffic", *t.Traffic)
	}
	return " (" + strings.Join(all, "; ") + ")"
}

// nothingMore is for what needs no more words.
func nothingMore(state.Target, time.Time) string { return "" }
