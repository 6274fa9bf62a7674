package admit

import (
	"errors"
	"io/fs"
	"path"
)

// Asleep reports whether the kernel has suspended the device, or one that it is built on,
// because it was idle (Documentation/ABI/testing/sysfs-devices-power, runtime_status).
// Reading this state does not wake a device.
func (d Disk) Asleep() (bool, error) {
	for _, number := range append([]string{d.source.Number}, d.source.Below()...) {
		at := path.Join("/sys/dev/block", number)
		// The first is that of the SCSI device or the NVMe controller, the second that of
		// the PCI device of an NVMe controller.
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
