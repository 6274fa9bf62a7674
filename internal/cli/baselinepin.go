package cli

import (
	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/state"
)

func (a *app) baselinePin(pin bool) *cobra.Command {
	var probe string
	c := &cobra.Command{
		Use:   "pin TARGET",
		Short: "Keep the current baselines at their level",
		Long: `A pinned baseline keeps its level. The daemon continues to learn only noise and load.
Reset, import and accept are refused for it. It is kept however many sets of conditions
follow. Under other conditions (other firmware, another kernel) another baseline is
learned. When the conditions come back, so does the pinned baseline.`,
		Example: "  ssdprobe baseline pin nvme0n1\n  ssdprobe baseline pin nvme0n1 --probe read-4k",
		Args:    arguments(cobra.ExactArgs(1)),
	}
	done := "pinned"
	if !pin {
		c.Use, c.Short, done = "unpin TARGET", "Let learning, accept, reset and import change the current baselines again", "unpinned"
		c.Long = "Undoes \"baseline pin\" for the baselines under the current conditions."
		c.Example = "  ssdprobe baseline unpin nvme0n1"
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.change(c.Context(), args, state.Request{Probe: probe, Pin: &pin}, "baselines of %s "+done)
	}
	c.Flags().StringVar(&probe, "probe", "", "only the baseline of the probe with this `NAME`")
	return c
}
