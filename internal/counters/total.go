package counters

import (
	"fmt"
	"math"
	"path"
	"slices"

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

// ReadInterrupts returns the interrupts of the queues with these names; none if the names have none.
func ReadInterrupts(fs sysfs.FS, names []string) ([]Interrupt, error) {
	var all []Interrupt
	for _, name := range names {
		lines, err := ReadDeviceInterrupts(fs, name)
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	return all, nil
}

// InterruptsSince returns how many interrupts were taken between two readings of the same queues. It reports false when
// that is not known: there were none to count, a CPU or a queue came or went, or a controller was reset.
func InterruptsSince(after, before []Interrupt) (sum uint64, ok bool) {
	if len(after) == 0 || len(after) != len(before) {
		return 0, false
	}
	for i, line := range after {
		if line.Name != before[i].Name || !slices.Equal(line.CPUs, before[i].CPUs) {
			return 0, false
		}
		for j, count := range line.Counts {
			n, ok := CountSince(count, before[i].Counts[j])
			if !ok {
				return 0, false
			}
			sum += n
		}
	}
	return sum, true
}

// CountSince subtracts counts of an interrupt on one CPU. A smaller count has wrapped around at 2³² if the last one was
// near that. Otherwise the kernel has restarted it, and CountSince reports false.
func CountSince(after, before uint64) (n uint64, ok bool) {
	const limit = math.MaxUint32 + 1
	switch {
	case after >= before:
		return after - before, true
	case before < limit && before >= limit/4*3 && after < limit/4:
		return limit - before + after, true
	}
	return 0, false
}
