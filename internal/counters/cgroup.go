package counters

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/moby/sys/mountinfo"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// CGroup locates the files of the process's control group. They are of version 2, of
// version 1, or of both in a hybrid setup, where each controller belongs to one of the two.
type CGroup struct {
	fs     sysfs.FS
	cpu    hierarchy
	blkio  hierarchy
	memory hierarchy
	mounts int // control group file systems seen, for the error if none of them helps
}

// hierarchy locates the process's files of one controller.
type hierarchy struct {
	version int      // 1 or 2; 0 when the kernel has no such controller
	dirs    []string // the process's own group first, then its visible ancestors
}

// FindCGroup finds the control group of the calling process. fs must be the process's own
// view of the machine, since /proc/self/cgroup and /proc/self/mountinfo contain paths in
// that view. The error matches os.ErrNotExist if the kernel has no control groups.
func FindCGroup(fs sysfs.FS) (CGroup, error) {
	membership, err := readMembership(fs)
	if err != nil {
		return CGroup{}, err
	}
	f, err := fs.Open("/proc/self/mountinfo")
	if err != nil {
		return CGroup{}, err
	}
	defer f.Close()
	mounts, err := mountinfo.GetMountsFromReader(f, mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return CGroup{}, fmt.Errorf("parse mountinfo: %w", err)
	}
	return CGroup{
		fs:     fs,
		cpu:    locate(membership, mounts, "cpu"),
		blkio:  locate(membership, mounts, "blkio"),
		memory: locate(membership, mounts, "memory"),
		mounts: len(mounts),
	}, nil
}

// Throttled returns how long CPU quotas have stopped the threads of the process's group
// and of its visible ancestors, summed over CPUs
// (Documentation/admin-guide/cgroup-v2.rst, cpu.stat; scheduler/sched-bwc.rst). Groups
// without a quota count nothing. The error matches os.ErrNotExist if there are control
// groups but none is visible.
func (c CGroup) Throttled() (time.Duration, error) {
	if err := c.check(c.cpu, "cpu"); err != nil {
		return 0, err
	}
	key, unit := "throttled_usec", time.Microsecond
	if c.cpu.version == 1 {
		key, unit = "throttled_time", time.Nanosecond
	}
	var sum time.Duration
	for _, dir := range c.cpu.dirs {
		name := path.Join(dir, "cpu.stat")
		n, err := readFrom(c.fs, name, func(r io.Reader) (uint64, error) { return parseFlatKey(r, key) })
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		sum += time.Duration(n) * unit
	}
	return sum, nil
}

// IOLimit is a limit on I/O that the kernel enforces on the process.
type IOLimit struct {
	File  string // "/sys/fs/cgroup/kubepods/io.max"
	Limit string // as the kernel prints it: "riops=1000", "target=75"
}

// IOLimits returns the limits that the process's group and its visible ancestors put on
// the device with the given number ("259:0"): io.max and io.latency of version 2, or
// the blkio.throttle files of version 1. In version 1 the kernel applies only those of
// the process's own group. A missing file means no limit. The error matches
// os.ErrNotExist if there are control groups but none is visible.
func (c CGroup) IOLimits(number string) ([]IOLimit, error) {
	if err := c.check(c.blkio, "io"); err != nil {
		return nil, err
	}
	files, dirs := []string{"io.max", "io.latency"}, c.blkio.dirs
	if c.blkio.version == 1 {
		dirs = dirs[:min(1, len(dirs))]
		files = []string{
			"blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device",
			"blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device",
		}
	}
	var limits []IOLimit
	for _, dir := range dirs {
		for _, file := range files {
			name := path.Join(dir, file)
			found, err := readFrom(c.fs, name, func(r io.Reader) ([]string, error) { return parseLimits(r, number) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			for _, limit := range found {
				limits = append(limits, IOLimit{File: name, Limit: limit})
			}
		}
	}
	return limits, nil
}

// MemoryLimit returns the smallest limit in bytes that the process's group and its
// visible ancestors put on memory, or 0 if there is no limit: memory.max and
// memory.high of version 2, memory.limit_in_bytes of version 1. The error matches
// os.ErrNotExist if there are control groups but none is visible.
func (c CGroup) MemoryLimit() (int64, error) {
	if err := c.check(c.memory, "memory"); err != nil {
		return 0, err
	}
	files := []string{"memory.max", "memory.high"}
	if c.memory.version == 1 {
		files = []string{"memory.limit_in_bytes"}
	}
	// Without a limit, version 1 prints the largest number of bytes that is a whole number of pages.
	const endless = 1 << 62
	least := int64(endless)
	for _, dir := range c.memory.dirs {
		for _, file := range files {
			name := path.Join(dir, file)
			switch text, err := c.fs.Text(name); {
			case errors.Is(err, os.ErrNotExist), text == "max": // the topmost group has no such file
			case err != nil:
				return 0, err
			default:
				limit, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return 0, fmt.Errorf("parse %s: %w", name, err)
				}
				least = min(least, limit)
			}
		}
	}
	if least == endless {
		return 0, nil
	}
	return least, nil
}

// check returns an error for a controller that exists but whose files are not visible.
func (c CGroup) check(h hierarchy, controller string) error {
	if h.version != 0 && len(h.dirs) == 0 {
		return fmt.Errorf("control group: none of the %d mounts shows the %s controller of this process: %w",
			c.mounts, controller, os.ErrNotExist)
	}
	return nil
}

// readFrom parses a file of a control group. It returns the zero value if the file is
// not there: the controller is not enabled, or it is the topmost group.
func readFrom[T any](fs sysfs.FS, name string, parse func(io.Reader) (T, error)) (T, error) {
	var none T
	f, err := fs.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	defer f.Close()
	return parse(f)
}

// parseFlatKey returns the value of one key of lines "key value", 0 when the key
// is not there.
func parseFlatKey(r io.Reader, key string) (uint64, error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && name == key {
			return strconv.ParseUint(strings.TrimSpace(value), 10, 63)
		}
	}
	return 0, lines.Err()
}

// parseLimits returns the limits of one device from lines "major:minor limit limit",
// without those that are "max".
func parseLimits(r io.Reader, number string) ([]string, error) {
	var limits []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || fields[0] != number {
			continue
		}
		for _, limit := range fields[1:] {
			if !strings.HasSuffix(limit, "=max") {
				limits = append(limits, limit)
			}
		}
	}
	return limits, lines.Err()
}
