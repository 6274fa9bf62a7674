package safety

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

const configfs = "/sys/kernel/config"

// exporter is a part of the kernel that serves block devices to other machines. It does not open them exclusively,
// and no process has a descriptor of them.
type exporter struct {
	name   string
	module string
	dir    string // below configfs
	items  string // pattern below dir
	// read returns what an item exports: the number of a device, or else a path. Both are empty if it exports nothing
	// now.
	read func(fs sysfs.FS, item string) (number, name string, err error)
}

func exporters() []exporter {
	const nvmet, lio, gadget = "the kernel's NVMe target (nvmet)", "the kernel's SCSI target (LIO)", "a USB gadget"
	return []exporter{
		// Documentation/nvme/, drivers/nvme/target/configfs.c
		{nvmet, "nvmet", "nvmet", "subsystems/*/namespaces/*", enabledPath},
		{nvmet, "nvmet", "nvmet", "subsystems/*/passthru", enabledPath},
		// Documentation/target/, drivers/target/target_core_configfs.c
		{lio, "target_core_mod", "target", "core/*_*/*", backstore},
		// Documentation/ABI/testing/configfs-usb-gadget-mass-storage
		{gadget, "usb_f_mass_storage", "usb_gadget", "*/functions/mass_storage.*/lun.*", lunFile},
	}
}

// enabledPath reads a namespace of nvmet, or the controller that nvmet passes through.
func enabledPath(fs sysfs.FS, item string) (number, name string, err error) {
	enabled, err := fs.Text(path.Join(item, "enable"))
	if err != nil || enabled == "0" {
		return "", "", err
	}
	name, err = fs.Text(path.Join(item, "device_path"))
	return "", name, err
}

// backstore reads a backstore of LIO: iblock states its device, fileio its file.
func backstore(fs sysfs.FS, item string) (number, name string, err error) {
	enabled, err := fs.Text(path.Join(item, "enable"))
	if err != nil || enabled == "0" {
		return "", "", err
	}
	info, err := fs.Text(path.Join(item, "info"))
	if err != nil {
		return "", "", err
	}
	if m := regexp.MustCompile(`Major: (\d+) Minor: (\d+)`).FindStringSubmatch(info); m != nil {
		return m[1] + ":" + m[2], "", nil
	}
	if m := regexp.MustCompile(`File: (.+?)\s+Size: \d`).FindStringSubmatch(info); m != nil {
		return "", m[1], nil
	}
	// For other backstores, this is what their creator wrote, as targetcli does.
	name, err = fs.Text(path.Join(item, "udev_path"))
	if !path.IsAbs(name) {
		return "", "", err
	}
	return "", name, err
}

// lunFile reads a LUN of a mass storage gadget, which keeps its file open from the moment it is set.
func lunFile(fs sysfs.FS, item string) (number, name string, err error) {
	name, err = fs.Text(path.Join(item, "file"))
	return "", name, err
}

// exports finds the exports of the device by the kernel's targets. A target that is in use but cannot be inspected is
// itself a finding.
func (s subject) exports(ctx context.Context, l *look) error {
	for _, e := range exporters() {
		if _, err := s.fs.List(path.Join(configfs, e.dir)); errors.Is(err, os.ErrNotExist) {
			if s.works(e.module) {
				l.add(Finding{Kind: KindExport, Text: fmt.Sprintf(
					"cannot see what %s exports: run mount -t configfs none %s on the host", e.name, configfs)})
			}
			continue
		} else if err != nil {
			return fmt.Errorf("find what %s exports: %w", e.name, err)
		}
		items, err := glob(s.fs, path.Join(configfs, e.dir, e.items))
		if err != nil {
			return fmt.Errorf("find what %s exports: %w", e.name, err)
		}
		for _, item := range items {
			if err := s.exported(ctx, l, e, item); err != nil {
				return err
			}
		}
	}
	return nil
}

// works reports whether a module has users besides the modules that depend on it, which is the case if it has any
// item in configfs. If it is built into the kernel, it has no count of users; it then works if it is there at all.
func (s subject) works(module string) bool {
	dir := path.Join("/sys/module", module)
	users, err := s.fs.Int(path.Join(dir, "refcnt"))
	if err != nil {
		_, err = s.fs.List(dir)
		return err == nil
	}
	builtOn, _ := s.fs.List(path.Join(dir, "holders")) // if this fails, all users count
	return users > int64(len(builtOn))
}

func (s subject) exported(ctx context.Context, l *look, e exporter, item string) error {
	number, name, err := e.read(s.fs, item)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENOTDIR): // removed meanwhile, or not an item: LIO has hba_info beside them
		return nil
	case err != nil:
		return fmt.Errorf("find what %s exports: %w", e.name, err)
	case number != "":
		if node := s.blocks[number]; node != "" {
			l.add(Finding{Kind: KindExport, Text: fmt.Sprintf("%s exports %s (%s)", e.name, node, item)})
		}
		return nil
	case name == "":
		return nil
	}
	return l.ask(ctx, fmt.Sprintf("%s, which %s exports,", name, e.name), func() ([]Finding, error) {
		node, err := s.at(name)
		switch {
		case err != nil:
			return []Finding{{Kind: KindExport, Text: fmt.Sprintf("%s exports %s, which cannot be examined (%v) and may be this device: disable %s", e.name, name, err, item)}}, nil
		case node == "":
			return nil, nil
		}
		return []Finding{{Kind: KindExport, Text: fmt.Sprintf("%s exports %s (%s)", e.name, node, item)}}, nil
	})
}
