package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// stopPatience is how long a run that was asked to stop may take: the time that it may take to end, and a
// little more.
const stopPatience = endingPatience + 10*time.Second

// checkStop refuses flags and arguments that have no meaning with --stop.
func checkStop(c *cobra.Command, args []string) error {
	var err error
	if len(args) > 0 {
		err = fmt.Errorf("--stop: stops runs of any suite; leave %q out", args[0])
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "stop" && f.Name != "target" && c.InheritedFlags().Lookup(f.Name) == nil {
			err = errors.Join(err, fmt.Errorf("--stop: can only be combined with --target; leave out --%s", f.Name))
		}
	})
	if err != nil {
		return usage(err)
	}
	return nil
}

// stopRuns ends the runs in progress that were started by hand, on the given targets or on all.
func (a *app) stopRuns(ctx context.Context, targets []string) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	found, err := run.InProgress(c.LockDir)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; stop a run as the user who started it, or as root", err)
	} else if err != nil {
		return err
	}
	if len(targets) == 0 && len(found) == 0 {
		return noRun(c.LockDir, "", found)
	}
	var problems []error
	chosen := make([]bool, len(found)) // several targets may be those of one run
	for _, path := range targets {
		place, err := run.FindPlace(ctx, sysfs.New(c.HostRoot), path)
		if err != nil {
			return usage(fmt.Errorf("--target %s: %w", path, err))
		}
		none := true
		for i, holder := range found {
			if place.Has(ctx, holder) {
				chosen[i], none = true, false
			}
		}
		if none {
			problems = append(problems, noRun(c.LockDir, " on "+path, found))
		}
	}
	for i, holder := range found {
		if len(targets) > 0 && !chosen[i] {
			continue
		}
		err := holder.Stop(ctx, stopPatience)
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w; stop a run as the user who started it, or as root", err)
		}
		if err == nil {
			err = tell(a.stdout, "stopped %s\n", holder)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// noRun says that there is no run to stop where one was looked for, and which runs there are elsewhere.
func noRun(lockDir, where string, found []run.Holder) error {
	elsewhere := ": no lock in " + lockDir + " names one"
	if len(found) > 0 {
		names := make([]string, len(found))
		for i, h := range found {
			names[i] = h.String()
		}
		elsewhere = ", only " + strings.Join(names, " and ")
	}
	return fmt.Errorf("no run is in progress%s%s; scheduled runs end with the daemon", where, elsewhere)
}
