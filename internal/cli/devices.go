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
	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

func (a *app) devicesCommand() *cobra.Command {
	var form output
	var of daemonOf
	var interrupts bool
	c := &cobra.Command{
		Use:   "devices",
		Short: "Show all block devices and probe files, which of them are watched, and why not",
		Long: `Shows every whole block device with its conditions (link, scheduler, write cache, …), the
probe files, and whether they are watched: by the running daemon, or else whether one with
the same configuration would watch them.

The findings come first, the worst on top. They are those of the running daemon. If no
daemon answers, they come from the state directory and from what can be seen now.

--interrupts adds each queue of NVMe and virtio drives: its interrupts since boot, how many
of them were taken on CPUs outside the drive's NUMA node, and the CPUs that they go to.`,
		Example: "  ssdprobe devices\n  ssdprobe devices --config /etc/ssdprobe/ssdprobe.yaml --output json",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return a.devices(c.Context(), of, form, interrupts) },
	}
	of.clientOptions.add(c.Flags())
	c.Flags().BoolVar(&interrupts, "interrupts", false, "show the interrupts of every queue, local and remote")
	addOutput(c, &form)
	return c
}

func (a *app) devices(ctx context.Context, of daemonOf, form output, interrupts bool) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	host := sysfs.New(c.HostRoot)
	devices := device.NewScanner(host)
	picks, err := devices.Choose(c.Devices.Include, c.Devices.Exclude)
	if picks == nil && err != nil {
		return err
	}
	if _, err := of.client(); err != nil {
		return err
	}
	known, unheard, untold := a.known(ctx, c, of)
	running := unheard == nil
	all := finding.Of(known)
	rows, unread := deviceRows(ctx, c, devices, picks, all)
	if running {
		asTheDaemonSays(rows, known)
	}
	problems := []error{err, unread, untold}
	if interrupts {
		problems = append(problems, addInterrupts(host, rows))
	}
	node := ofNode(c, all, rows, running)
	list := report.DeviceList{Findings: node, Devices: rows, Files: fileRows(c, known, running, node), Daemon: running}
	if !running && !errors.Is(unheard, unix.ECONNREFUSED) {
		list.DaemonProblem = unheard.Error()
	}
	if form == outputJSON {
		problems = append(problems, report.JSON(a.stdout, list))
	} else {
		shown := list
		shown.Devices = slices.DeleteFunc(slices.Clone(rows), func(r report.DeviceRow) bool { return r.Device.Empty() })
		problems = append(problems, report.Devices(a.stdout, shown, time.Now()))
		if left := len(rows) - len(shown.Devices); left > 0 {
			_, err := fmt.Fprintf(a.stdout, "Left out: %d empty loop and RAM devices or trays; --output json has them.\n", left)
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// known returns what the running daemon knows, or what is stored if none runs. unheard is why the daemon did not say
// it. That is no failure, because the devices can still be shown, and neither is a state that cannot be read, which is
// reported on standard error. err is an error of writing that report.
func (a *app) known(ctx context.Context, c config.Config, of daemonOf) (s record.Snapshot, unheard, err error) {
	s, unheard = of.snapshot(ctx, daemonAddress(c))
	if !errors.Is(unheard, unix.ECONNREFUSED) {
		return s, unheard, nil
	}
	s, err = storedSnapshot(c)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return s, unheard, nil
	}
	return s, unheard, tell(a.stderr, "what is stored of the devices is left out: %v\n", err)
}

// addInterrupts adds the interrupts of every queue to the rows of the devices behind the controller.
func addInterrupts(host sysfs.FS, rows []report.DeviceRow) error {
	devices := make([]record.Device, len(rows))
	for i, row := range rows {
		devices[i] = row.Device
	}
	sources := health.Sources(host, devices)
	for i := range sources {
		sources[i].EveryQueue = true
	}
	found, err := health.NewMeter(host).Read(time.Now(), sources)
	for _, s := range sources {
		interrupts, ok := found[s.Name]
		if !ok {
			continue
		}
		for i := range rows {
			if slices.ContainsFunc(s.Devices, func(d record.Device) bool { return d.ID == rows[i].Device.ID }) {
				rows[i].Interrupts = append(rows[i].Interrupts, report.ControllerInterrupts{Controller: s.Name, NUMANode: s.NUMANode, Interrupts: interrupts})
			}
		}
	}
	return err
}

// asTheDaemonSays marks the devices that the running daemon watches, regardless of this configuration and the
// rights of this user.
func asTheDaemonSays(rows []report.DeviceRow, s record.Snapshot) {
	for i := range rows {
		row := &rows[i]
		watched := slices.ContainsFunc(s.Targets, func(t record.TargetStatus) bool { return !t.File && t.ID == row.Device.ID })
		switch {
		case watched:
			row.Watched, row.Reason = true, ""
		case row.Watched:
			row.Watched, row.Reason = false, "the running daemon does not watch it; its configuration may be another"
			for _, left := range s.Ignored {
				if left.Device.ID == row.Device.ID {
					row.Reason = left.Reason
				}
			}
		}
	}
}

// fileRows returns the probe files that the running daemon watches, or that a daemon with this configuration
// would watch.
func fileRows(c config.Config, s record.Snapshot, running bool, node []finding.Finding) []report.FileRow {
	rows := []report.FileRow{}
	if running {
		for _, t := range s.Targets {
			if t.File {
				rows = append(rows, report.FileRow{ID: t.ID, Path: t.Path, Device: t.Device.Name, Problem: t.Problem})
			}
		}
		return rows
	}
	for _, f := range c.Files {
		rows = append(rows, report.FileRow{Path: f.Path})
	}
	if slices.ContainsFunc(node, hasCode(record.WarnFallback)) {
		rows = append(rows, report.FileRow{Path: daemon.FallbackPath(c)})
	}
	return rows
}

// ofNode returns the findings that belong to no row. If no daemon runs, it adds a finding that the fallback
// file would be used.
func ofNode(c config.Config, all []finding.Finding, rows []report.DeviceRow, running bool) []finding.Finding {
	node := slices.DeleteFunc(slices.Clone(all), func(f finding.Finding) bool {
		return slices.ContainsFunc(rows, func(r report.DeviceRow) bool { return r.Device.Name == f.Device })
	})
	watched := slices.ContainsFunc(rows, func(r report.DeviceRow) bool { return r.Watched })
	if running || watched || len(c.Files) > 0 || !c.FallbackFile || slices.ContainsFunc(node, hasCode(record.WarnFallback)) {
		return node
	}
	text := daemon.FallbackText(daemon.FallbackPath(c))
	return append(node, finding.OfDevice(record.Device{}, []record.Warning{{Code: record.WarnFallback, Text: text}})...)
}

func hasCode(code string) func(finding.Finding) bool {
	return func(f finding.Finding) bool { return f.Code == code }
}

// deviceRows returns the rows for devices. A device that has left since it was listed has no row. known are the
// findings of the daemon. The error joins what could not be read.
func deviceRows(
	ctx context.Context, c config.Config, devices *device.Scanner, picks []device.Pick, known []finding.Finding,
) ([]report.DeviceRow, error) {
	rows := make([]report.DeviceRow, 0, len(picks))
	var problems []error
	for _, pick := range picks {
		row := report.DeviceRow{Device: pick.Device, Reason: pick.Reason}
		var warnings []record.Warning
		if pick.Device.SizeBytes > 0 { // there is nothing to warn about for an empty loop device
			var err error
			row.Conditions, warnings, err = devices.Conditions(pick.Device)
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

// ofDevice returns the findings of a device: those known of the targets on it, and the current warnings that
// are not among them.
func ofDevice(row report.DeviceRow, warnings []record.Warning, known []finding.Finding) []finding.Finding {
	all := slices.DeleteFunc(slices.Clone(known), func(f finding.Finding) bool { return f.Device != row.Device.Name })
	seen := slices.DeleteFunc(finding.OfDevice(row.Device, warnings), func(f finding.Finding) bool {
		// These two are about measurements, and nothing is measured here.
		unmeasured := !row.Watched && (f.Code == record.WarnIdentity || f.Code == record.WarnStacked)
		return unmeasured || slices.ContainsFunc(all, hasCode(f.Code))
	})
	all = append(all, seen...)
	finding.Sort(all)
	return all
}
