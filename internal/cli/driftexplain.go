package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// explainOptions are the flags of drift explain.
type explainOptions struct {
	daemonOf
	probe string
	form  output
}

func (a *app) driftExplain() *cobra.Command {
	var o explainOptions
	c := &cobra.Command{
		Use:   "explain TARGET",
		Short: "Show why the drift of a target is an alarm or not",
		Long: `Shows how a drive was judged: the verdict; which drives of its model it was compared with
and its rank among them; what the host did to its drives, and since when. Then, for each
probe and for the I/O of the drive's users (traffic): the baseline, the load of others on
the drive now and what the cost model expects of it, the recent blocks, how much
of them is the host's part, each CUSUM with its threshold, and what decided.
A target is named by its id, its path or its device name.

Asks the running daemon. If none answers, explains the last stored state.`,
		Example: `  ssdprobe drift explain nvme0n1
  ssdprobe drift explain nvme0n1 --probe traffic
  ssdprobe drift explain nvme0n1 --probe read-4k --output json`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.explain(c.Context(), args[0], o) },
	}
	o.add(c.Flags())
	c.Flags().StringVar(&o.probe, "probe", "", "only the probe with this `NAME`, or traffic")
	addOutput(c, &o.form)
	return c
}

func (a *app) explain(ctx context.Context, target string, o explainOptions) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	address, err := o.address(c)
	if err != nil {
		return err
	}
	x, err := o.explanation(ctx, address, target)
	if o.url == "" && errors.Is(err, unix.ECONNREFUSED) {
		x, err = a.explainStored(c, address, target)
	}
	if err != nil && len(x.Probes) == 0 {
		return err
	}
	x, wrong := only(x, o.probe)
	if wrong != nil {
		return usage(wrong)
	}
	return errors.Join(err, a.show(o.form, x, func(w io.Writer) error { return report.Explain(w, x) }))
}

// only reduces an explanation to one probe; an empty name keeps all.
func only(x report.Explained, probe string) (report.Explained, error) {
	if probe == "" {
		return x, nil
	}
	x.Beside = slices.DeleteFunc(x.Beside, func(b record.Beside) bool { return b.Source != probe })
	if probe == judge.Traffic && x.Traffic != nil {
		x.Probes = nil
		return x, nil
	}
	x.Traffic = nil
	names := make([]string, len(x.Probes))
	for i, p := range x.Probes {
		names[i] = p.Probe
	}
	i := slices.Index(names, probe)
	if i < 0 {
		return x, fmt.Errorf("--probe: %q does not run on %s; it has %s", probe, x.Path, strings.Join(names, ", "))
	}
	x.Probes = x.Probes[i : i+1]
	return x, nil
}

// explanation returns the daemon's explanation of a target.
func (o daemonOf) explanation(ctx context.Context, address, target string) (report.Explained, error) {
	s, err := o.snapshot(ctx, address)
	if err != nil {
		return report.Explained{}, err
	}
	found, err := findWatched(s.Targets, target, "the daemon at "+address+" watches", o.seeTargets())
	if err != nil {
		return report.Explained{}, err
	}
	var x report.Explained
	err = o.ask(ctx, &x, address, "/api/v1/explain", found.ID)
	return x, err
}

func (a *app) explainStored(c config.Config, address, target string) (report.Explained, error) {
	dir, targets, err := a.targets([]string{target})
	if err != nil {
		return report.Explained{}, fmt.Errorf("no daemon answers at %s: %w", address, err)
	}
	t := targets[0]
	judged, lastRound, unjudged := dir.Judged(c)
	x := report.Explained{
		Time: time.Now(), Node: c.Node, TargetID: t.ID, Path: t.Path, Device: t.Device.Name, Stored: true, LastRound: lastRound,
	}
	trackers, err := t.Trackers(c.DriftSettings(t.File))
	for _, tracker := range trackers {
		x.Probes = append(x.Probes, report.ProbeExplained{Probe: tracker.Probe, Explanation: tracker.Explain(x.Time)})
	}
	if err == nil {
		err = unjudged
		judged.Advance(x.Time) // as for the verdict that drift shows
		x.Judge(judged)
		if t.Traffic != nil {
			x.Traffic = new(judged.Explain(t.ID, judge.Traffic, x.Time))
		}
	}
	if err == nil {
		err = a.tellStored(c, address, x.LastRound)
	}
	return x, err
}
