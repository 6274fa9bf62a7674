package cli

import (
	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/state"
)

func (a *app) baselinePin(pin bool) *cobra.Command {
	var probe string
	c := &cobra.Command{
		Use:   "pin TARGET",
		Short: "Keep the current baselines as they are",
		Long: `A pinned baseline keeps its level: what is learned from then on is noise and load
alone. Reset, import and accept are refused for it, and it is kept however many sets
of conditions follow. Under other conditions (another firmware, another kernel) another
baseline is learned all the same; when they come back, so does the pinned one.`,
		Example: "  ssdprobe baseline pin nvme0n1\n  ssdprobe baseline pin nvme0n1 --probe read-4k",
		Args:    arguments(cobra.ExactArgs(1)),
	}
	done := "pinned"
	if !pin {
		c.Use, c.Short, done = "unpin TARGET", "Let learning, accept, reset and import change the current baselines again", "unpinned"
		c.Long = "Takes back what \"baseline pin\" did to the baselines under the current conditions."
		c.Example = "  ssdprobe baseline unpin nvme0n1"
	}
	c.RunE = func(_ *cobra.Command, args []string) error {
		return a.change(args, state.Request{Probe: probe, Pin: &pin}, "baselines of %s "+done)
	}
	c.Flags().StringVar(&probe, "probe", "", "only that of the probe of this `NAME`")
	return c
}
