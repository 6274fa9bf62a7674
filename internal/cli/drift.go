package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

func (a *app) driftCommand() *cobra.Command {
	var form output
	var of daemonOf
	c := &cobra.Command{
		Use:   "drift",
		Short: "Show how each target compares with its baseline",
		Long: `Shows the findings, the worst first, and how each target compares with its baseline.
Asks the running daemon. If none answers, shows the last stored state and says so.`,
		Example: `  ssdprobe drift
  ssdprobe drift --url http://stor-07:10040 --output json
  ssdprobe drift --ca-file ca.crt --http.config.file client.yml
  ssdprobe drift explain nvme0n1
  ssdprobe drift accept nvme0n1 --note "the new firmware is slower"
  ssdprobe drift replay history.csv`,
		SuggestionsMinimumDistance: 2,
		Args:                       noSubcommand,
		RunE:                       func(c *cobra.Command, _ []string) error { return a.drift(c.Context(), of, form) },
	}
	of.add(c.Flags())
	addOutput(c, &form)
	c.AddCommand(a.driftExplain(), a.driftAccept(), a.driftReplay())
	return c
}

func (a *app) drift(ctx context.Context, of daemonOf, form output) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	address, err := of.address(c)
	if err != nil {
		return err
	}
	s, err := of.snapshot(ctx, address)
	if of.url == "" && errors.Is(err, unix.ECONNREFUSED) {
		s, err = a.stored(c, address)
	}
	if err != nil && len(s.Targets) == 0 {
		return err
	}
	all := struct {
		record.Snapshot
		Findings []finding.Finding `json:"findings"`
	}{s, finding.Of(s)}
	return errors.Join(err, a.show(form, all, func(w io.Writer) error { return report.Drift(w, s) }))
}

// stored returns what is stored, because no daemon answers at the address.
func (a *app) stored(c config.Config, address string) (record.Snapshot, error) {
	s, err := storedSnapshot(c)
	if errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("no daemon answers at %s, and nothing is stored in %s; start one with ssdprobe daemon", address, c.StateDir)
	}
	if !s.Stored {
		return s, err
	}
	return s, errors.Join(a.tellStored(c, address, s.LastRound), err)
}

// tellStored says that the stored state is shown instead of a daemon's, and how old it is.
func (a *app) tellStored(c config.Config, address string, lastRound time.Time) error {
	age := ""
	if !lastRound.IsZero() {
		age = "; the last round was " + units.Ago(lastRound, time.Now())
	}
	return tell(a.stderr, "no daemon answers at %s; this is what was last stored in %s%s\n", address, c.StateDir, age)
}

// storedSnapshot returns what is stored in the state directory of the targets that were watched then. It does not create
// the directory.
func storedSnapshot(c config.Config) (record.Snapshot, error) {
	dir, err := openExisting(c.StateDir)
	if err != nil {
		return record.Snapshot{}, err
	}
	s, err := dir.Snapshot(c, time.Now())
	if kept, found, unread := dir.Node(); found && unread == nil { // else err says so
		s.Targets = slices.DeleteFunc(s.Targets, func(t record.TargetStatus) bool { return !kept.Watches(t.ID) })
	}
	return s, err
}
