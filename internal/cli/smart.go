package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

func (a *app) smartCommand() *cobra.Command {
	var form output
	c := &cobra.Command{
		Use:   "smart DEVICE",
		Short: "Show what a drive reports about its own health, and what it means",
		Long: `Reads the health of a drive now: temperatures, wear, errors, settings and the interrupts
of its queues. Says in plain words what is wrong. DEVICE is an NVMe controller (nvme0), or
a drive by its name, path, id or by-id name. If several controllers reach a namespace, all
of them are shown. NVMe needs CAP_SYS_ADMIN. SATA and SAS drives need smartctl, and are
not woken when they sleep.

Nothing is changed. A drive is only asked for what it says it supports.

Exit codes: 0 the drive reports nothing critical, 1 it could not be read, 2 wrong usage,
3 the drive reports something critical. That is a critical warning or a failing SMART status,
a failed self-test, more dies offline than it tolerates, or its critical temperature.`,
		Example: "  ssdprobe smart nvme0\n  ssdprobe smart /dev/nvme0n1 --output json",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return a.smart(c.Context(), args[0], form) },
	}
	addOutput(c, &form)
	return c
}

func (a *app) smart(ctx context.Context, name string, form output) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	host := sysfs.New(c.HostRoot)
	sources, err := sourcesOf(host, name)
	if errors.Is(err, fs.ErrNotExist) {
		return usage(err)
	} else if err != nil {
		return err
	}
	interrupts, err := health.NewMeter(host).Read(time.Now(), sources)
	problems := []error{err}
	rows := make([]report.SmartRow, 0, len(sources))
	critical := false
	for _, s := range sources {
		controller, ok, err := readSource(ctx, host, filepath.Join(c.HostRoot, "dev"), s)
		problems = append(problems, err)
		if !ok {
			continue
		}
		if i, ok := interrupts[s.Name]; ok {
			controller.Interrupts = &i
		}
		critical = critical || slices.ContainsFunc(controller.Warnings, isCritical)
		rows = append(rows, report.SmartRow{Controller: controller, Devices: s.Devices})
	}
	if len(rows) > 0 {
		problems = append(problems, a.show(form, rows, func(w io.Writer) error { return report.Smart(w, rows) }))
	}
	err = errors.Join(problems...)
	if critical {
		return &exitError{exitCritical, err}
	}
	return err
}

func isCritical(w record.Warning) bool { return finding.OfWarning(w).Severity == finding.Critical }

// sourcesOf returns the sources of the controller or device with this name.
func sourcesOf(host sysfs.FS, name string) ([]health.Source, error) {
	devices := device.NewScanner(host)
	all, err := devices.Scan()
	if all == nil {
		return nil, err
	}
	if s, ok := health.NamedController(host, strings.TrimPrefix(name, "/dev/"), all); ok {
		return []health.Source{s}, nil // problems of other devices do not matter here
	}
	d, err := devices.Find(name)
	if err != nil {
		return nil, err
	}
	sources := health.Sources(host, []record.Device{d})
	sources = slices.DeleteFunc(sources, func(s health.Source) bool { return s.Kind == record.ControllerVirtio })
	if len(sources) == 0 {
		name := d.Name
		if d.Transport != "" {
			name += " (" + d.Transport + ")"
		}
		return nil, fmt.Errorf("%s does not report its health; only NVMe, SATA and SAS drives do", name)
	}
	return sources, nil
}

// readSource reads a controller or drive once; it returns false when nothing could be read.
func readSource(ctx context.Context, host sysfs.FS, dev string, s health.Source) (record.Controller, bool, error) {
	reader, err := health.NewReader(host, s, dev)
	if err != nil {
		return record.Controller{}, false, fmt.Errorf("health of %s: %w", s.Name, err)
	}
	reader.AllNamespaces = true
	now, err := reader.Read(ctx)
	if missing := health.Denied(err); missing != "" {
		err = fmt.Errorf("%w: %s", err, missing)
	}
	now.Warnings = append(now.Warnings, ofNamespaces(now, s.Devices)...)
	return now.Controller, now.Health != nil || now.Disk != nil, err
}

// ofNamespaces returns the warnings about the namespaces of a controller. Each text begins with the name of the
// namespace.
func ofNamespaces(now health.Reading, devices []record.Device) []record.Warning {
	var all []record.Warning
	for _, d := range devices {
		for _, w := range now.OfDevice[d.ID] {
			w.Text = d.Name + ": " + w.Text
			all = append(all, w)
		}
	}
	return all
}
