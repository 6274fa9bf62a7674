package counters

import (
	"fmt"
	"path"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// InterruptNames returns the names under which the interrupts of a device's queues
// appear in /proc/interrupts: its NVMe controllers, or its virtio device. Other devices
// share their adapter's interrupts and have none of their own.
func InterruptNames(fs sysfs.FS, d record.Device) ([]string, error) {
	if d.Transport != "virtio" {
		return d.Controllers, nil
	}
	parent, err := fs.Resolve("/sys/block/" + d.Name + "/device")
	if err != nil {
		return nil, fmt.Errorf("find the virtio device of %s: %w", d.Name, err)
	}
	return []string{path.Base(parent)}, nil
}

// DeviceInterrupts returns how many interrupts the queues of a device have caused
// since boot, summed over its controllers and all CPUs. It returns false when the
// device has no interrupts of its own to count.
func DeviceInterrupts(fs sysfs.FS, d record.Device) (uint64, bool, error) {
	controllers, err := InterruptNames(fs, d)
	if err != nil {
		return 0, false, err
	}
	var sum uint64
	found := false
	for _, controller := range controllers {
		lines, err := ReadDeviceInterrupts(fs, controller)
		if err != nil {
			return 0, false, err
		}
		for _, line := range lines {
			sum += line.Total()
			found = true
		}
	}
	return sum, found, nil
}
