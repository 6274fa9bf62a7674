package traffic

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// heldAfter is how long a round of ours must wait with nothing in flight before it counts as held back.
const heldAfter = 5 * time.Second

// heldBack returns what holds a round of ours back from a device that has nothing in flight; nil when nothing
// does. known is false when the second has no usable reading. A controller that is being reset also lets no I/O
// begin, but that is the device's fault.
func (d *device) heldBack(s *Sampler, r reading, known bool) *record.HeldBack {
	s.mu.Lock()
	waits := known && !d.blind && s.ours(d) && d.account.stalls.idles(r)
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

// idles reports whether a device that has counted I/O had none in flight at the end of the last second, has
// none now, and completed none in between.
func (s *stalls) idles(r reading) bool {
	return s.completedNothing(r) && r.disk.ReadIOs+r.disk.WriteIOs > 0 && s.last.disk.InFlight+r.disk.InFlight == 0
}
