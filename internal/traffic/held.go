package traffic

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// heldAfter is for how long a round of ours has to wait with nothing in flight to say that it is held back.
const heldAfter = 5 * time.Second

// heldBack returns what holds a round of ours back from a device that has nothing to do; nil when nothing does. known is false
// when the second says nothing. A controller that is being reset lets no I/O begin either: that is the device.
func (d *device) heldBack(s *Sampler, r reading, known bool) *record.HeldBack {
	s.mu.Lock()
	blind := d.last != nil && d.last.Unusable == byBlind // it has nothing in flight by its counters, whatever it has
	waits := known && !blind && s.ours(d) && d.account.stalls.idles(r)
	s.mu.Unlock()
	switch {
	case !waits:
		d.idle = time.Time{}
		return nil
	case d.idle.IsZero():
		d.idle = r.at
	}
	if r.at.Sub(d.idle) < heldAfter {
		return nil
	}
	cause := d.cause(s)
	if cause != record.StallByDevice && cause != record.StallBySuspended {
		return nil
	}
	return &record.HeldBack{Since: d.idle, Suspended: cause == record.StallBySuspended}
}

// idles reports whether a device that has counted I/O had none in flight at the end of the last second, nor has now, and has
// completed none in between.
func (s *stalls) idles(r reading) bool {
	return s.completedNothing(r) && r.disk.ReadIOs+r.disk.WriteIOs > 0 && s.last.disk.InFlight+r.disk.InFlight == 0
}
