package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/daemon"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

func (a *app) devicesCommand() *cobra.Command {
	var form output
	c := &cobra.Command{
		Use:   "devices",
		Short: "Show the block devices that are here, which would be watched, and why not",
		Long: `Shows every whole block device with the conditions that it works under (link,
scheduler, write cache, …) and what is to be warned of, and whether a daemon with
the same configuration would watch it.`,
		Example: "  ssdprobe devices\n  ssdprobe devices --config /etc/ssdprobe/ssdprobe.yaml --output json",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return a.devices(c.Context(), form) },
	}
	addOutput(c, &form)
	return c
}

func (a *app) devices(ctx context.Context, form output) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	host := sysfs.New(c.HostRoot)
	picks, err := device.Choose(host, c.Devices.Include, c.Devices.Exclude)
	if picks == nil && err != nil {
		return err
	}
	rows, unread := deviceRows(ctx, c, host, picks)
	problems := []error{err, unread}
	if form == outputJSON {
		problems = append(problems, report.JSON(a.stdout, rows))
	} else {
		shown := slices.DeleteFunc(slices.Clone(rows), func(r report.DeviceRow) bool { return r.Device.Empty() })
		problems = append(problems, report.Devices(a.stdout, shown))
		if left := len(rows) - len(shown); left > 0 {
			_, err := fmt.Fprintf(a.stdout, "Left out: %d empty loop and RAM devices or trays; --output json has them.\n", left)
			problems = append(problems, err)
		}
		watched := slices.ContainsFunc(rows, func(r report.DeviceRow) bool { return r.Watched })
		if !watched && len(c.Files) == 0 && c.FallbackFile {
			_, err := fmt.Fprintf(a.stdout, "\nWarning: %s.\n", daemon.FallbackText(daemon.FallbackPath(c)))
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// deviceRows are what there is to show of devices. One that has left since it was listed has
// no row. The error joins what could not be read of the others.
func deviceRows(ctx context.Context, c config.Config, host sysfs.FS, picks []device.Pick) ([]report.DeviceRow, error) {
	rows := make([]report.DeviceRow, 0, len(picks))
	var problems []error
	for _, pick := range picks {
		row := report.DeviceRow{Device: pick.Device, Reason: pick.Reason}
		if pick.Device.SizeBytes > 0 { // of an empty loop device there is nothing to warn of
			var err error
			row.Conditions, row.Warnings, err = device.Conditions(host, pick.Device)
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
		rows = append(rows, row)
	}
	return rows, errors.Join(problems...)
}
