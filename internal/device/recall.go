package device

import (
	"errors"
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Recalled is what a device said to an earlier Scanner.
type Recalled struct {
	Device     record.Device
	Conditions record.Conditions
}

// recall gives the devices that hang what they said to an earlier Scanner. Who a device is, it cannot say now, but udev's name
// for it in /dev/disk/by-id is the same as when it last did. Only the first scan may conclude that: later, the name may
// for a moment still be that of a device which has just been replaced.
func (s *Scanner) recall(answers []*found, devices map[string]*asked) {
	var before []Recalled
	for _, f := range answers {
		if f == nil || !errors.Is(f.err, ErrNoAnswer) {
			continue
		}
		if before == nil {
			before = s.Recall()
		}
		if r, ok := recalled(before, bestByID(f.ByID)); ok {
			hung, _ := errors.AsType[*guard.HungError](f.err)
			r.Device.Name, r.Device.Number, r.Device.ByID = f.Name, f.Number, f.ByID
			a := devices[f.dir]
			a.known = &found{Device: r.Device, dir: f.dir, inode: f.inode}
			a.conditions, a.hasConditions = r.Conditions, r.Conditions != record.Conditions{}
			*f = *a.known
			f.err = fmt.Errorf("read device %s, of which now holds what it said before a restart: %w", f.Name, hung)
		}
	}
}

// recalled returns the only one of the devices that udev gave the name.
func recalled(before []Recalled, name string) (Recalled, bool) {
	var found []Recalled
	for _, r := range before {
		if name != "" && bestByID(r.Device.ByID) == name {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return Recalled{}, false
	}
	return found[0], true
}
