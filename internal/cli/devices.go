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
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/daemon"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

func (a *app) devicesCommand() *cobra.Command {
	var form output
	var of daemonOf
	c := &cobra.Command{
		Use:   "devices",
		Short: "Show all block devices, which of them the daemon would watch, and why not",
		Long: `Shows every whole block device with its conditions (link, scheduler, write cache, …), and
whether a daemon with the same configuration would watch it.

The findings come first, the worst on top. They are those of the running daemon. If no
daemon answers, they come from the state directory and from what can be seen now.`,
		Example: "  ssdprobe devices\n  ssdprobe devices --config /etc/ssdprobe/ssdprobe.yaml --output json",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return a.devices(c.Context(), of, form) },
	}
	of.clientOptions.add(c.Flags())
	addOutput(c, &form)
	return c
}

func (a *app) devices(ctx context.Context, of daemonOf, form output) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	host := sysfs.New(c.HostRoot)
	picks, err := device.Choose(host, c.Devices.Include, c.Devices.Exclude)
	if picks == nil && err != nil {
		return err
	}
	known, untold := a.known(ctx, c, of)
	all := finding.Of(known)
	rows, unread := deviceRows(ctx, c, host, picks, all)
	problems := []error{err, unread, untold}
	node := ofNode(c, all, rows)
	if form == outputJSON {
		problems = append(problems, report.JSON(a.stdout, report.DeviceList{Findings: node, Devices: rows}))
	} else {
		shown := slices.DeleteFunc(slices.Clone(rows), func(r report.DeviceRow) bool { return r.Device.Empty() })
		problems = append(problems, report.Devices(a.stdout, shown, node, time.Now()))
		if left := len(rows) - len(shown); left > 0 {
			_, err := fmt.Fprintf(a.stdout, "Left out: %d empty loop and RAM devices or trays; --output json has them.\n", left)
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// known is what the running daemon knows, or else what is stored. A daemon that cannot be
// asked, or a state that cannot be read, is told of and no failure: the devices are here.
func (a *app) known(ctx context.Context, c config.Config, of daemonOf) (record.Snapshot, error) {
	s, err := of.snapshot(ctx, daemonAddress(c))
	if errors.Is(err, unix.ECONNREFUSED) {
		s, err = storedSnapshot(c)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	return s, tell(a.stderr, "what a daemon knows of the devices is left out: %v\n", err)
}

// ofNode selects the findings that no row has, and adds that the fallback file would be used.
func ofNode(c config.Config, all []finding.Finding, rows []report.DeviceRow) []finding.Finding {
	node := slices.DeleteFunc(slices.Clone(all), func(f finding.Finding) bool {
		return slices.ContainsFunc(rows, func(r report.DeviceRow) bool { return r.Device.Name == f.Device })
	})
	watched := slices.ContainsFunc(rows, func(r report.DeviceRow) bool { return r.Watched })
	if watched || len(c.Files) > 0 || !c.FallbackFile || slices.ContainsFunc(node, hasCode(record.WarnFallback)) {
		return node
	}
	text := daemon.FallbackText(daemon.FallbackPath(c))
	return append(node, finding.OfDevice(record.Device{}, []record.Warning{{Code: record.WarnFallback, Text: text}})...)
}

func hasCode(code string) func(finding.Finding) bool {
	return func(f finding.Finding) bool { return f.Code == code }
}

// deviceRows are what there is to show of devices. One that has left since it was listed has
// no row. known are the findings of the daemon. The error joins what could not be read of
// the others.
func deviceRows(
	ctx context.Context, c config.Config, host sysfs.FS, picks []device.Pick, known []finding.Finding,
) ([]report.DeviceRow, error) {
	rows := make([]report.DeviceRow, 0, len(picks))
	var problems []error
	for _, pick := range picks {
		row := report.DeviceRow{Device: pick.Device, Reason: pick.Reason}
		var warnings []record.Warning
		if pick.Device.SizeBytes > 0 { // of an empty loop device there is nothing to warn of
			var err error
			row.Conditions, warnings, err = device.Conditions(host, pick.Device)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			problems = append(problems, err)
		}
		switch path := filepath.Join(c.HostRoot, "dev", pick.Device.Name); {
		case row.Reason != "":
		case !c.Devices.Enabled:
			row.Reason = "devices.enabled is false in the configuration"
		default:
			var err error
			row.Reason, err = measure.Denied(ctx, &guard.Guard{}, path, pick.Device.Number)
			problems = append(problems, err)
		}
		row.Watched = row.Reason == ""
		row.Findings = ofDevice(row, warnings, known)
		rows = append(rows, row)
	}
	return rows, errors.Join(problems...)
}

// ofDevice are the findings of a device: what is known of the targets on it, and of the
// warnings seen now those that this does not have.
func ofDevice(row report.DeviceRow, warnings []record.Warning, known []finding.Finding) []finding.Finding {
	all := slices.DeleteFunc(slices.Clone(known), func(f finding.Finding) bool { return f.Device != row.Device.Name })
	seen := slices.DeleteFunc(finding.OfDevice(row.Device, warnings), func(f finding.Finding) bool {
		// These two are about measurements, which nobody makes here.
		unmeasured := !row.Watched && (f.Code == record.WarnIdentity || f.Code == record.WarnStacked)
		return unmeasured || slices.ContainsFunc(all, hasCode(f.Code))
	})
	all = append(all, seen...)
	finding.Sort(all)
	return all
}
