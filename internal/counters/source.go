package counters

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Timing says what the times of a Disk are worth.
type Timing int

// The timings.
const (
	// NoTimes: the device counts I/Os only, as md did before Linux 5.14. BusyTime and InFlight
	// are those of its members, busy as they are on average, WeightedTime is their sum; the
	// times of operations are zero.
	NoTimes Timing = iota
	// TickTimes are in ticks of the kernel's clock, 1 to 10 ms each, and right on average only:
	// those of devices without a queue of requests (dm, md), and all before Linux 5.5.
	TickTimes
	// ExactTimes are of a device whose driver has a queue of requests.
	ExactTimes
)

// Source says how a device counts.
type Source struct {
	Number string // "259:0"
	// requests says that its driver has a queue of requests.
	requests bool
	// members are the numbers of the devices and partitions that it is made of.
	members []string
	// below are the numbers of all disks below it, whose partitions and volumes it is made of.
	below []string
}

// FindSource finds out how the device with a number counts. One that is not there is no
// error: what it is read from says so.
func FindSource(host sysfs.FS, number string) (Source, error) {
	s := Source{Number: number}
	dir := path.Join("/sys/dev/block", number)
	switch _, err := host.List(path.Join(dir, "mq")); {
	case err == nil:
		s.requests = true
	case !errors.Is(err, fs.ErrNotExist):
		return Source{}, fmt.Errorf("find out how device %s counts: %w", number, err)
	}
	var err error
	if s.members, err = membersOf(host, dir); err != nil {
		return Source{}, fmt.Errorf("list what device %s is made of: %w", number, err)
	}
	if s.below, err = disksBelow(host, s.members, nil); err != nil {
		return Source{}, fmt.Errorf("list what is below device %s: %w", number, err)
	}
	return s, nil
}

// Below are the numbers of the disks that do what the device is asked to do: those that it is
// made of, those that they are made of, and so on. I/O on it is I/O on them.
func (s Source) Below() []string { return s.below }

// membersOf returns the numbers of the devices and partitions that a device is made of.
func membersOf(host sysfs.FS, dir string) ([]string, error) {
	names, err := host.List(path.Join(dir, "slaves"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var numbers []string
	for _, name := range names {
		number, err := host.Text(path.Join(dir, "slaves", name, "dev"))
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has just left
		case err != nil:
			return nil, err
		default:
			numbers = append(numbers, number)
		}
	}
	return numbers, nil
}

// disksBelow adds to known the disks of members, and those below them.
func disksBelow(host sysfs.FS, members, known []string) ([]string, error) {
	for _, member := range members {
		dir, err := host.Resolve(path.Join("/sys/dev/block", member))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has just left
		} else if err != nil {
			return nil, err
		}
		if _, err := host.Text(path.Join(dir, "partition")); err == nil {
			dir = path.Dir(dir)
		}
		disk, err := host.Text(path.Join(dir, "dev"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if disk == "" || slices.Contains(known, disk) {
			continue
		}
		known = append(known, disk)
		further, err := membersOf(host, dir)
		if err == nil {
			known, err = disksBelow(host, further, known)
		}
		if err != nil {
			return nil, err
		}
	}
	return known, nil
}

// In returns what the device has counted, among all disks of its host; false when it is not
// there.
func (s Source) In(disks Disks) (Disk, Timing, bool) {
	d, paths, ok := disks.byNumber(s.Number)
	if !ok {
		return Disk{}, NoTimes, false
	}
	timing := s.timing(d)
	if paths && d.Flushes != nil { // they have queues of requests
		timing = ExactTimes
	}
	if timing == NoTimes {
		s.addMembers(&d, disks)
	}
	return d, timing, true
}

// Read reads what the device has counted. It matches fs.ErrNotExist when the device is not there.
func (s Source) Read(host sysfs.FS) (Disk, Timing, error) {
	d, err := ReadDisk(host, s.Number)
	if err == nil && d.IOs() > 0 && s.timing(d) != NoTimes {
		return d, s.timing(d), nil
	}
	// It counts nothing itself, or no times: those of other devices stand for it. Or it is
	// gone, which diskstats tells as well.
	disks, err := ReadDisks(host)
	if err != nil {
		return Disk{}, NoTimes, err
	}
	d, timing, ok := s.In(disks)
	if !ok {
		return Disk{}, NoTimes, fmt.Errorf("device %s is not in /proc/diskstats: %w", s.Number, fs.ErrNotExist)
	}
	return d, timing, nil
}

func (s Source) timing(d Disk) Timing {
	switch {
	case len(s.members) > 0 && d.IOs() > 0 && d.BusyTime+d.ServedTime() == 0 && d.InFlight == 0:
		return NoTimes
	case s.requests && d.Flushes != nil: // flushes are counted since Linux 5.5, and times in ticks until 5.0
		return ExactTimes
	default:
		return TickTimes
	}
}

// addMembers lets the members of an array stand for its times.
func (s Source) addMembers(d *Disk, disks Disks) {
	for _, number := range s.members {
		if member, ok := disks.ByNumber(number); ok {
			d.BusyTime += member.BusyTime / time.Duration(len(s.members))
			d.WeightedTime += member.WeightedTime
			d.InFlight += member.InFlight
		}
	}
}
