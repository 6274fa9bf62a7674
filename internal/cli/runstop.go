package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/run"
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
	none := func(where string) error {
		return fmt.Errorf("no run is in progress%s: no lock in %s names one; scheduled runs end with the daemon", where, c.LockDir)
	}
	if len(found) == 0 && len(targets) == 0 {
		return none("")
	}
	var problems []error
	for i, path := range targets {
		if targets[i], err = resolved(ctx, path); err != nil {
			return usage(fmt.Errorf("--target %s: %w", path, err))
		}
		if !slices.ContainsFunc(found, func(h run.Holder) bool { return slices.Contains(h.Targets, targets[i]) }) {
			problems = append(problems, none(" on "+path))
		}
	}
	if len(targets) > 0 {
		found = slices.DeleteFunc(found, func(h run.Holder) bool {
			return !slices.ContainsFunc(h.Targets, func(path string) bool { return slices.Contains(targets, path) })
		})
	}
	for _, holder := range found {
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

// resolved returns the path as a run notes it: with symbolic links resolved, unless the filesystem hangs.
func resolved(ctx context.Context, path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	followed, err := guard.Do(ctx, &guard.Guard{}, 2*time.Second, func(context.Context) (string, error) { return filepath.EvalSymlinks(path) })
	if guard.Hangs(err) || errors.Is(err, os.ErrNotExist) {
		return path, nil // the run may have begun before
	}
	return followed, err
}
