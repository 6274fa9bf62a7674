package device

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

const blockDir = "/sys/block"

// Scan finds all whole block devices, in order of their names. Partitions are not
// devices of their own, nor are the hidden paths of a multipath NVMe namespace
// (nvme0c1n1) and the hardware partitions of an eMMC (mmcblk0boot0).
//
// The error joins what could not be read of single devices, and an *AmbiguousIDError for
// each identity that several devices claim. Scan leaves out those devices, the paths of a
// dm-multipath device, and devices whose identity could not be read. All others are
// returned even with an error. The slice is nil only if the machine could not be scanned.
//
// A device that hangs is not waited for: see Scanner, which also remembers devices.
func Scan(fs sysfs.FS) ([]record.Device, error) { return NewScanner(fs).Scan() }

// Scan is like the function Scan, for a machine that is scanned again and again.
func (s *Scanner) Scan() ([]record.Device, error) {
	all, err := s.scan()
	if err != nil {
		return nil, err
	}
	claimed := claims(all)
	devices := make([]record.Device, 0, len(all))
	var errs []error
	for _, f := range all {
		if claimants := claimed[f.ID]; !f.unknown && len(claimants) > 1 {
			if claimants[0].Name == f.Name && multipath(all, claimants) == "" { // reported once, not for each device
				errs = append(errs, &AmbiguousIDError{ID: f.ID, Devices: claimants})
			}
			continue
		}
		errs = append(errs, f.err)
		if !f.unknown {
			devices = append(devices, f.Device)
		}
	}
	return devices, errors.Join(errs...)
}

// found is a device, and the error if not all of it could be read.
type found struct {
	record.Device
	err error
	// unknown is set if attributes that identify the device could not be read.
	unknown bool
	dir     string // in /sys/devices
	inode   uint64 // of dir
}

// read reads the device with the given name in /sys/block. It returns false if the
// device is gone or is not a device of its own. It may hang in the device's driver.
func read(fs sysfs.FS, name string, links map[string][]string) (found, bool) {
	dir, err := fs.Resolve(path.Join(blockDir, name))
	if err != nil {
		return found{}, false // it has left since it was listed
	}
	a := &attributes{fs: fs, dir: dir}
	if a.flag("hidden") || a.target("device/subsystem") == "block" {
		return found{}, false
	}
	d := record.Device{Name: sysfs.DeviceName(name), ByID: links[sysfs.DeviceName(name)], NUMANode: -1}
	d.Number = a.need("dev")
	sectors, err := fs.Int(path.Join(dir, "size"))
	if err != nil {
		a.errs = append(a.errs, err)
	}
	d.SizeBytes = sectors * 512 // always, whatever the logical block is: Documentation/ABI/stable/sysfs-block
	d.Kind = kind(a, name)
	attached := readIdentity(a, name, &d)
	unknown := len(a.errs) > 0

	readQueue(a, &d)
	readStack(a, name, &d)
	readPCI(a, attached, &d)
	d.ID = identity(d, name)
	if left(fs, name, d.Number, dir) {
		return found{}, false // so attributes may be missing
	}
	return found{Device: d, err: a.err(d.Name), unknown: unknown}, true
}

// left reports whether a device has left since it was listed: its number, when it
// had one, cannot be read any more, or its name leads elsewhere.
func left(fs sysfs.FS, name, number, dir string) bool {
	if _, err := fs.Text(path.Join(dir, "dev")); errors.Is(err, os.ErrNotExist) && number != "" {
		return true
	}
	now, err := fs.Resolve(path.Join(blockDir, name))
	return err != nil || now != dir
}

// readIdentity reads the attributes that identify a device, which each bus has in
// another place. It returns the directory through which the device is attached.
func readIdentity(a *attributes, name string, d *record.Device) (attached string) {
	switch bus := a.target("device/subsystem"); bus {
	case "nvme", "nvme-subsystem":
		return readNVMe(a, name, d)
	case "scsi":
		readSCSI(a, d)
	case "mmc":
		readMMC(a, d)
	case "virtio", "xen":
		d.Transport = bus
		d.Serial = serial(a.words("serial"))
	default:
		readVirtual(a, d)
	}
	return a.dir
}

func readQueue(a *attributes, d *record.Device) {
	logical, _ := a.number("queue/logical_block_size")
	physical, _ := a.number("queue/physical_block_size")
	d.LogicalBlockBytes, d.PhysicalBlockBytes = int(logical), int(physical)
	d.ReadOnly = a.flag("ro")
	d.Removable = a.flag("removable")
	d.Rotational = a.flag("queue/rotational")
	if zoned := a.text("queue/zoned"); zoned != "none" {
		d.Zoned = zoned
	}
}

// byID returns the names in /dev/disk/by-id of each device. The links are not followed:
// a container may have them without the device files.
func byID(fs sysfs.FS) (map[string][]string, error) {
	const dir = "/dev/disk/by-id"
	names, err := fs.List(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	links := map[string][]string{}
	for _, name := range names {
		target, err := fs.Link(path.Join(dir, name))
		if err != nil {
			continue // renamed by udev meanwhile, or no link
		}
		device := strings.TrimPrefix(target, "/dev/")
		links[device] = append(links[device], printable.Text(name))
	}
	return links, nil
}
