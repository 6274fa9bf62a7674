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

// Timing says how accurate the times of a Disk are.
type Timing int

// The timings.
const (
	// NoTimes: the device counts only I/Os, as md did before Linux 5.14. BusyTime is the mean over
	// its members, InFlight and WeightedTime are the sums; the times of operations are zero.
	NoTimes Timing = iota
	// TickTimes are in ticks of the kernel's clock, 1 to 10 ms each, and right only on average.
	// Devices without a queue of requests (dm, md) have them, and before Linux 5.5 all devices.
	TickTimes
	// ExactTimes are of a device whose driver has a queue of requests.
	ExactTimes
)

// Source says how a device counts its I/O.
type Source struct {
	Number string // "259:0"
	// requests says that its driver has a queue of requests.
	requests bool
	// timed says that a device made of others counts times, even if they are all zero.
	timed bool
	// members are the numbers of the devices and partitions that it is made of.
	members []string
	// below are the numbers of all disks that it is made of, directly or indirectly.
	below []string
}

// FindSource finds out how the device with the given number counts. It is no error if the
// device is not there: reading the counts reports that.
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
	if len(s.members) > 0 {
		// Since Linux 6.10, few I/Os that each take less than a tick leave the times at zero. This is no sign of old md.
		s.timed = LinuxIsAtLeast(host, 5, 14)
	}
	if s.below, err = disksBelow(host, s.members, nil); err != nil {
		return Source{}, fmt.Errorf("list what is below device %s: %w", number, err)
	}
	return s, nil
}

// LinuxIsAtLeast reports whether the kernel of a host has a version or a later one; false if that is not known.
func LinuxIsAtLeast(host sysfs.FS, major, minor int) bool {
	release, err := host.Text("/proc/sys/kernel/osrelease")
	if err != nil {
		return false
	}
	var has [2]int
	if _, err := fmt.Sscanf(release, "%d.%d", &has[0], &has[1]); err != nil {
		return false
	}
	return has[0] > major || has[0] == major && has[1] >= minor
}

// Below returns the numbers of the disks that the device is made of, directly or indirectly.
// I/O on the device is I/O on them.
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

// disksBelow adds the disks of members, and those below them, to known.
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

// In returns the counts of the device, given those of all disks of its host. It returns false
// if the device is not among them.
func (s Source) In(disks Disks) (Disk, Timing, bool) {
	d, paths, ok := disks.byNumber(s.Number)
	if !ok {
		return Disk{}, NoTimes, false
	}
	timing := s.timing(d)
	if paths && d.Flushes != nil { // the paths have queues of requests
		timing = ExactTimes
	}
	if timing == NoTimes {
		s.addMembers(&d, disks)
	}
	return d, timing, true
}

// Read reads the counts of the device. The error matches fs.ErrNotExist if the device is not there.
func (s Source) Read(host sysfs.FS) (Disk, Timing, error) {
	d, err := ReadDisk(host, s.Number)
	if err == nil && d.IOs() > 0 && s.timing(d) != NoTimes {
		return d, s.timing(d), nil
	}
	// The device counts nothing itself, or no times, so the counts of other devices are
	// needed. Or it is gone, which diskstats also shows.
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
	case !s.timed && len(s.members) > 0 && d.IOs() > 0 && d.BusyTime+d.ServedTime() == 0 && d.InFlight == 0:
		return NoTimes
	case s.requests && d.Flushes != nil: // flushes are counted since Linux 5.5; times were in ticks until 5.0
		return ExactTimes
	default:
		return TickTimes
	}
}

// addMembers derives the times of an array from its members.
func (s Source) addMembers(d *Disk, disks Disks) {
	for _, number := range s.members {
		member, ok := disks.ByNumber(number)
		if !ok {
			continue
		}
		d.Members += number + " "
		d.MemberIOs += member.IOs()
		d.BusyTime += member.BusyTime / time.Duration(len(s.members))
		d.WeightedTime += member.WeightedTime
		d.InFlight += member.InFlight
	}
}
