package counters

import (
	"fmt"
	"path"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// DeviceInterrupts returns how many interrupts the queues of a device have caused
// since boot, summed over its controllers and all CPUs. It returns false when the
// device has no interrupts of its own to count: a SATA drive shares its adapter's.
func DeviceInterrupts(fs sysfs.FS, d record.Device) (uint64, bool, error) {
	controllers := d.Controllers
	if d.Transport == "virtio" {
		parent, err := fs.Resolve("/sys/block/" + d.Name + "/device")
		if err != nil {
			return 0, false, fmt.Errorf("find the virtio device of %s: %w", d.Name, err)
		}
		controllers = []string{path.Base(parent)}
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
