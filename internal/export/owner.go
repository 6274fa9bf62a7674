package export

import "github.com/ssdprobe/ssdprobe/internal/record"

// ownerOf returns the target whose labels the series of a controller or a device have, however many targets it has:
// the first watched device that is one of it, or else the first file on one. Otherwise sums would count it twice.
func ownerOf(targets []record.TargetStatus, of func(record.Device) bool) (record.TargetStatus, bool) {
	for _, file := range []bool{false, true} {
		for i := range targets {
			if t := &targets[i]; t.File == file && of(t.Device) {
				return *t, true
			}
		}
	}
	return record.TargetStatus{}, false
}
