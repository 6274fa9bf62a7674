package safety

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// beside returns a finding for each other namespace of the device's controllers that is in
// use. Format does not change their data, but the kernel holds back their I/O until it
// ends, which may take hours.
func beside(fs sysfs.FS, d record.Device, inUse func(path string) (bool, error)) ([]Finding, error) {
	all, err := device.Scan(fs)
	if all == nil {
		return nil, err
	}
	var found []Finding
	for _, other := range all { // one that cannot be read is no reason not to format
		if other.Name == d.Name || !slices.ContainsFunc(other.Controllers, func(c string) bool { return slices.Contains(d.Controllers, c) }) {
			continue
		}
		path := "/dev/" + other.Name
		used, err := inUse(path)
		if err != nil {
			return nil, err
		}
		if used {
			found = append(found, Finding{
				Kind: KindFormat, Text: fmt.Sprintf("%s, another namespace of its controller, is in use, and the kernel would hold back its I/O until the format ends", path),
				Cure: fmt.Sprintf("stop using %s, or leave out --format; --set purge=yes discards all blocks instead", path),
			})
		}
	}
	return found, nil
}

// HeldByOthers reports whether somebody holds a device exclusively. The kernel does that
// for a device that is mounted, used as swap or part of a volume. A device that no longer
// exists is not held.
func HeldByOthers(path string) (bool, error) {
	file, found, err := open(path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENXIO) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return len(found) > 0, file.Close()
}
