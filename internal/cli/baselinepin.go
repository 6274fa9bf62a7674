package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

func (a *app) baselinePin(pin bool) *cobra.Command {
	var probe string
	c := &cobra.Command{
		Use:   "pin TARGET",
		Short: "Keep the current baselines at their level",
		Long: `A pinned baseline keeps its level. The daemon continues to learn only noise and load.
Probes without a learned baseline are not pinned; the command names them.
Reset, import and accept are refused for it. It is kept however many sets of conditions
follow. Under other conditions (other firmware, another kernel) another baseline is
learned. When the conditions come back, so does the pinned baseline, until "baseline unpin".`,
		Example: "  ssdprobe baseline pin nvme0n1\n  ssdprobe baseline pin nvme0n1 --probe read-4k",
		Args:    arguments(cobra.ExactArgs(1)),
	}
	done := "pinned"
	if !pin {
		c.Use, c.Short, done = "unpin TARGET", "Let learning, accept, reset and import change the baselines again", "unpinned"
		c.Long = "Undoes \"baseline pin\", also for baselines under other conditions than the current ones."
		c.Example = "  ssdprobe baseline unpin nvme0n1"
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		which := "baselines of %s "
		if probe != "" {
			which = "baseline of " + probe + " on %s "
		}
		return a.change(c.Context(), args, state.Request{Probe: probe, Pin: &pin}, which+done)
	}
	c.Flags().StringVar(&probe, "probe", "", "only the baseline of the probe with this `NAME`")
	return c
}

// pins returns the probes whose baselines a request has pinned, and those that it has not: ": read-4k; not read-128k: no
// baseline has been learned under the current conditions". The stored state has them, because the daemon answers after
// it has saved.
func pins(dir state.Dir, target string) (string, error) {
	t, _, err := dir.Target(target)
	if err != nil {
		return "", err
	}
	var done, not []string
	for _, name := range t.ProbeNames() {
		baselines := t.Probes[name].Baselines()
		if n := len(baselines); n > 0 && baselines[n-1].Pinned { // so it is learned
			done = append(done, name)
		} else {
			not = append(not, name)
		}
	}
	text := ": " + strings.Join(done, ", ")
	if len(not) > 0 {
		text += fmt.Sprintf("; not %s: %v", strings.Join(not, ", "), drift.ErrNotLearned)
	}
	return text, nil
}
