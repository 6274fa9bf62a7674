package admit

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Disk reads from the kernel's files what others do to one device.
type Disk struct {
	FS     sysfs.FS // the host's
	Number string   // the kernel's number of the device, "259:0"
}

// Usage reads the device's line of /proc/diskstats.
func (d Disk) Usage() (Usage, error) {
	disks, err := counters.ReadDisks(d.FS)
	if err != nil {
		return Usage{}, err
	}
	disk, ok := disks.ByNumber(d.Number)
	if !ok {
		return Usage{}, fmt.Errorf("device %s is not in /proc/diskstats", d.Number)
	}
	return Usage{Busy: disk.BusyTime, InFlight: int64(disk.InFlight), IOs: disk.IOs()}, nil
}

// IOPressure reads the host's /proc/pressure/io.
func (d Disk) IOPressure() (float64, error) {
	p, err := counters.ReadIOPressure(d.FS)
	return p.Some.Average10, err
}
