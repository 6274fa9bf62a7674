package admit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Disk reads from the kernel's files what others do to one device.
type Disk struct {
	fs     sysfs.FS
	number string
	// requests says that the device's driver has a queue of requests: the times of these
	// are exact. Those of what is made of other devices are in ticks of the clock.
	requests bool
	// members are the numbers of the devices that it is made of.
	members []string
}

// NewDisk returns the device with the kernel's number, "259:0", on the host whose
// files fs has.
func NewDisk(host sysfs.FS, number string) (Disk, error) {
	d := Disk{fs: host, number: number}
	dir := path.Join("/sys/dev/block", number)
	switch _, err := host.List(path.Join(dir, "mq")); {
	case err == nil:
		d.requests = true
	case !errors.Is(err, fs.ErrNotExist):
		return Disk{}, fmt.Errorf("find out how device %s counts: %w", number, err)
	}
	names, err := host.List(path.Join(dir, "slaves"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Disk{}, fmt.Errorf("list what device %s is made of: %w", number, err)
	}
	for _, name := range names {
		member, err := host.Text(path.Join(dir, "slaves", name, "dev"))
		if err != nil {
			return Disk{}, fmt.Errorf("read the number of %s: %w", name, err)
		}
		d.members = append(d.members, member)
	}
	return d, nil
}

// Usage reads what the kernel counts of the device.
func (d Disk) Usage() (Usage, error) {
	disk, err := counters.ReadDisk(d.fs, d.number)
	u := d.usage(disk)
	if err == nil && u.IOs > 0 && (u.Busy > 0 || u.InFlight > 0) {
		return u, nil
	}
	// It counts nothing itself, or no times: those of other devices stand for it. Or it is
	// gone, which diskstats tells as well.
	disks, err := counters.ReadDisks(d.fs)
	if err != nil {
		return Usage{}, err
	}
	disk, ok := disks.ByNumber(d.number)
	if !ok {
		return Usage{}, fmt.Errorf("device %s is not in /proc/diskstats", d.number)
	}
	u = d.usage(disk)
	if u.IOs > 0 && u.Busy == 0 && u.InFlight == 0 {
		d.addMembers(&u, disks)
	}
	return u, nil
}

func (d Disk) usage(disk counters.Disk) Usage {
	u := Usage{Busy: disk.BusyTime, InFlight: int64(disk.InFlight), IOs: disk.IOs()}
	if d.requests {
		u.Served = served(disk)
	}
	return u
}

// served is the time of all I/Os; 0 on kernels that may keep it in ticks of the clock:
// those before 5.5, which is when flushes were counted first.
func served(disk counters.Disk) time.Duration {
	if disk.Flushes == nil {
		return 0
	}
	return disk.ReadTime + disk.WriteTime + disk.Discards.Time + disk.Flushes.Time
}

// addMembers takes the load of an array from its members, busy as they are on average:
// md counts no times before Linux 5.14.
func (d Disk) addMembers(u *Usage, disks counters.Disks) {
	for _, number := range d.members {
		if member, ok := disks.ByNumber(number); ok {
			u.Busy += member.BusyTime / time.Duration(len(d.members))
			u.InFlight += int64(member.InFlight)
		}
	}
}

// IOPressure reads the host's /proc/pressure/io.
func (d Disk) IOPressure() (float64, error) {
	p, err := counters.ReadIOPressure(d.fs)
	return p.Some.Average10, err
}
