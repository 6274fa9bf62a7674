package admit

import (
	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Disk reads from the kernel's files how busy one device is.
type Disk struct {
	fs     sysfs.FS
	source counters.Source
}

// NewDisk returns the device with the given kernel number, such as "259:0", of the host
// whose files host reads.
func NewDisk(host sysfs.FS, number string) (Disk, error) {
	source, err := counters.FindSource(host, number)
	return Disk{fs: host, source: source}, err
}

// Usage reads the kernel's I/O counters of the device.
func (d Disk) Usage() (Usage, error) {
	disk, timing, err := d.source.Read(d.fs)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{
		Busy: disk.BusyTime, Queued: disk.WeightedTime, InFlight: int64(disk.InFlight), IOs: disk.IOs(),
		Bytes: disk.ReadSectors.Bytes() + disk.WriteSectors.Bytes(),
	}
	if timing != counters.NoTimes {
		u.Served = disk.ServedTime()
	}
	return u, nil
}

// IOPressure reads the host's /proc/pressure/io.
func (d Disk) IOPressure() (float64, error) {
	p, err := counters.ReadIOPressure(d.fs)
	return p.Some.Average10, err
}
