package traffic

import (
	"path"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// causeOf returns what explains that a device, or a disk below it, completes nothing now. numbers are the
// device numbers of all of them; controllers are the names of the NVMe controllers that reach the device. A
// file that cannot be read explains nothing.
func causeOf(host sysfs.FS, numbers, controllers []string, run bool) record.StallCause {
	switch {
	case run:
		return record.StallByRun
	case slices.ContainsFunc(numbers, func(number string) bool { return suspended(host, number) }):
		return record.StallBySuspended
	case slices.ContainsFunc(controllers, func(name string) bool { return resetting(host, "/sys/class/nvme/"+name) }),
		slices.ContainsFunc(numbers, func(number string) bool { return recovering(host, number) }):
		return record.StallByReset
	}
	return record.StallByDevice
}

// suspended reports whether a device is a device-mapper device that somebody has suspended.
func suspended(host sysfs.FS, number string) bool {
	text, err := host.Text(path.Join("/sys/dev/block", number, "dm/suspended"))
	return err == nil && text == "1"
}

// recovering reports whether a disk cannot work now because its NVMe controller, the SCSI disk itself or its
// SCSI host adapter is not in its normal state. The kernel's SCSI error handling stops the whole host adapter.
func recovering(host sysfs.FS, number string) bool {
	dir := path.Join("/sys/dev/block", number, "device")
	if resetting(host, dir) {
		return true
	}
	resolved, err := host.Resolve(dir)
	if err != nil {
		return false
	}
	for _, part := range strings.Split(resolved, "/") {
		if !strings.HasPrefix(part, "host") {
			continue
		}
		if text, err := host.Text(path.Join("/sys/class/scsi_host", part, "state")); err == nil {
			return text != "running"
		}
	}
	return false
}

// resetting reports whether the state file in a directory says neither live (a working NVMe controller) nor
// running (a working SCSI disk).
func resetting(host sysfs.FS, dir string) bool {
	text, err := host.Text(path.Join(dir, "state"))
	return err == nil && text != "live" && text != "running"
}
