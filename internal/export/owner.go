package export

import (
	"iter"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// devicesFirst yields the watched devices, and then the files. The series of a controller or a device have the labels of
// the first target that is one of it, however many it has: otherwise sums would count it twice.
func devicesFirst(targets []record.TargetStatus) iter.Seq[*record.TargetStatus] {
	return func(yield func(*record.TargetStatus) bool) {
		for _, file := range []bool{false, true} {
			for i := range targets {
				if t := &targets[i]; t.File == file && !yield(t) {
					return
				}
			}
		}
	}
}

// ownerOf returns the target whose labels the series of a controller have.
func ownerOf(c record.Controller, targets []record.TargetStatus) (record.TargetStatus, bool) {
	for t := range devicesFirst(targets) {
		if slices.Contains(c.Devices, t.Device.ID) {
			return *t, true
		}
	}
	return record.TargetStatus{}, false
}

// counters returns the ids of the targets that have the series of what the kernel counts of a device, by its number.
func counters(targets []record.TargetStatus) map[string]string {
	ids := map[string]string{}
	for t := range devicesFirst(targets) {
		if _, taken := ids[t.Device.Number]; !taken {
			ids[t.Device.Number] = t.ID
		}
	}
	return ids
}
