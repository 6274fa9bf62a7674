package traffic

import (
	"path"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// causeOf says what explains that the device of a number, or the disks below it, complete nothing
// now. controllers are those of NVMe that reach it. What cannot be read explains nothing.
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

// suspended reports a device of device-mapper that somebody has suspended.
func suspended(host sysfs.FS, number string) bool {
	text, err := host.Text(path.Join("/sys/dev/block", number, "dm/suspended"))
	return err == nil && text == "1"
}

// recovering reports a disk whose controller is not at work now: of NVMe, or of SCSI, where the
// kernel's error handling stops the whole host adapter.
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

// resetting reports whether the state in a directory is another than that of a controller of NVMe
// (live) or a disk of SCSI (running) that works.
func resetting(host sysfs.FS, dir string) bool {
	text, err := host.Text(path.Join(dir, "state"))
	return err == nil && text != "live" && text != "running"
}
