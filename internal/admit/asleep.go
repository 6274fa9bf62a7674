package admit

import (
	"errors"
	"io/fs"
	"path"
)

// Asleep reports whether the kernel has suspended the device, or one that it is made of, for
// want of work (Documentation/ABI/testing/sysfs-devices-power, runtime_status). To be asked
// wakes none.
func (d Disk) Asleep() (bool, error) {
	for _, number := range append([]string{d.source.Number}, d.source.Below()...) {
		at := path.Join("/sys/dev/block", number)
		// The disk of a SCSI device, and the PCI device of an NVMe controller.
		for _, file := range []string{"device/power/runtime_status", "device/device/power/runtime_status"} {
			status, err := d.fs.Text(path.Join(at, file))
			switch {
			case status == "suspended" || status == "suspending":
				return true, nil
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return false, err
			}
		}
	}
	return false, nil
}
