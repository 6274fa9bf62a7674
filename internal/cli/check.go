package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/check"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// checkTimeout is how long check may take. Together with the time that a call may take to notice it, check ends
// within five seconds.
const checkTimeout = 4 * time.Second

// exitUnknown is the exit code of check when nothing is known, and for wrong usage: 2 already means severe.
const exitUnknown = 3

func (a *app) checkCommand() *cobra.Command {
	var of daemonOf
	format := check.Text
	c := &cobra.Command{
		Use:   "check [TARGET…]",
		Short: "Say in one line and by the exit code whether the drives of this node are fine",
		Long: `Says in one line whether the drives are fine, for Nagios, Icinga, node-problem-detector, Slurm
and cron. It takes the worst verdict of all targets, or of those that are named by id, path or device name.

Asks the running daemon. If none runs, the verdicts that were stored last count for 15 minutes. It knows only this node:
"ssdprobe fleet" compares the drives of all nodes. It never touches a drive, and ends within five seconds.

A drive on watch (a suspicion, or a drift of less than 1.2 times) counts as healthy. What a drive reports about itself
does not count: see ssdprobe smart. The result is unknown if no daemon answers, a drive is not judged, or a selected drive
cannot be read. Without a TARGET, the verdict on the host counts, too.

Exit codes: 0 healthy, 1 degraded, 2 severe, 3 unknown or wrong usage.
With --format npd: 0 healthy, 1 degraded or severe, 2 unknown. docs/check.md says how to use it.`,
		Example: `  ssdprobe check
  ssdprobe check nvme0n1 --format nagios
  ssdprobe check --format npd
  ssdprobe check --url http://localhost:10040 --format json`,
		RunE: func(c *cobra.Command, args []string) error { return a.check(c.Context(), of, args, format) },
	}
	of.add(c.Flags())
	c.Flags().Var(choice[check.Format]{&format, check.Formats()}, "format", "`FORMAT` of the output: "+oneOf(check.Formats()))
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "output" { // the name of the flag in other commands
			name = "format"
		}
		return pflag.NormalizedName(name)
	})
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &exitError{exitUnknown, flagMistake(c, err)}
	})
	return c
}

func (a *app) check(ctx context.Context, of daemonOf, targets []string, format check.Format) error {
	r, err := guard.Do(ctx, &guard.Guard{}, checkTimeout, func(ctx context.Context) (check.Result, error) {
		return a.checked(ctx, of, targets)
	})
	if guard.Hangs(err) {
		err = errors.New("the filesystem of the configuration or of the state directory hangs")
	}
	if err != nil {
		r = check.Unknown(r.Node, err.Error(), time.Now())
	}
	if err := tell(a.stdout, "%s\n", format.Line(r)); err != nil {
		return &exitError{exitUnknown, err}
	}
	if code := format.Code(r); code != exitFine {
		return &exitError{code, nil}
	}
	return nil
}

// checked returns the result from the daemon or from what was stored. The result has its Node even with an
// error, if the node is known.
func (a *app) checked(ctx context.Context, of daemonOf, targets []string) (check.Result, error) {
	c, err := a.settings()
	if err != nil {
		return check.Result{}, err
	}
	none := check.Result{Node: c.Node}
	address, err := of.address(c)
	if err != nil {
		return none, err
	}
	s, err := of.snapshot(ctx, address)
	if of.url == "" && errors.Is(err, unix.ECONNREFUSED) {
		return a.checkStored(c, address, targets)
	}
	if err != nil {
		return none, unanswered(address, err)
	}
	ids, err := idsOf(s.Targets, targets, "the daemon at "+address+" watches", of.seeTargets())
	if err != nil {
		return none, err
	}
	return check.Of(s, ids), nil
}

// unanswered returns the error for a daemon that does not answer, in one line.
func unanswered(address string, err error) error {
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("no daemon answers at %s", address)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the daemon at %s does not answer", address)
	}
	return err
}

// freshFor is the greatest age of the last round for which stored results hold while no daemon runs: it may be
// restarting, and has stored them within state.SavedEvery.
const freshFor = state.SavedEvery + 5*time.Minute

// checkStored returns the result from what a daemon stored that is not running now.
func (a *app) checkStored(c config.Config, address string, targets []string) (check.Result, error) {
	none := check.Result{Node: c.Node}
	nobody := unanswered(address, unix.ECONNREFUSED)
	var kept state.Node
	dir, err := openExisting(c.StateDir)
	if err == nil {
		kept, _, err = dir.Node()
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(kept.Judge.Drives) == 0 {
		return none, fmt.Errorf("%w, and nothing is stored in %s", nobody, c.StateDir)
	}
	if err != nil {
		return none, fmt.Errorf("%w: %w", nobody, err)
	}
	last, now := kept.LastRound(), time.Now()
	switch age := now.Sub(last); {
	case last.IsZero():
		return none, fmt.Errorf("%w, and no round is stored in %s", nobody, c.StateDir)
	case age > freshFor, age < -freshFor:
		return none, fmt.Errorf("%w, and the last round that is stored in %s was %s", nobody, c.StateDir, units.Ago(last, now))
	}
	s, err := dir.Snapshot(c, now)
	if err != nil {
		return none, fmt.Errorf("%w: %w", nobody, err)
	}
	ids, err := idsOf(s.Targets, targets, c.StateDir+" knows", daemonOf{}.seeTargets())
	if err != nil {
		return none, err
	}
	s.Targets = slices.DeleteFunc(s.Targets, func(t record.TargetStatus) bool { return !slices.Contains(ids, t.ID) && !kept.Watches(t.ID) })
	return check.Of(s, ids), nil
}

// idsOf returns the ids of the targets that the user named.
func idsOf(all []record.TargetStatus, typed []string, who, see string) ([]string, error) {
	var ids []string
	for _, name := range typed {
		found, err := findWatched(all, name, who, see)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found.ID)
	}
	return ids, nil
}
