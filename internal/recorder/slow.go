package recorder

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// mostSlow is how many slow I/Os of a device are kept, at about 100 bytes each: four a second for the two
// minutes of a recording.
const mostSlow = 512

// slowIOs holds the last slow I/Os of a device.
type slowIOs struct {
	all  []slowIO // a ring, starting at next, once there are mostSlow
	next int
}

type slowIO struct {
	record.SlowIO
	at time.Duration // when it was reported
}

// take stores an I/O, and drops the oldest one when there are too many.
func (s *slowIOs) take(now time.Duration, io record.SlowIO) {
	if len(s.all) < mostSlow {
		s.all = append(s.all, slowIO{io, now})
		return
	}
	s.all[s.next] = slowIO{io, now}
	s.next = (s.next + 1) % mostSlow
}

// between returns the slow I/Os of a span, the oldest first.
func (s *slowIOs) between(from, until time.Duration) (all []record.SlowIO) {
	for i := range s.all {
		if io := s.all[(s.next+i)%len(s.all)]; io.at > from && io.at <= until {
			all = append(all, io.SlowIO)
		}
	}
	return all
}

// Unreported notes that n slow I/Os of the last second were not reported.
func (r *Recorder) Unreported(n uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring != nil {
		r.ring.missSlow(n)
	}
}

// Slow stores the slowest I/Os of the last second of a device, if the device is recorded.
func (r *Recorder) Slow(id string, ios []record.SlowIO) {
	_, steady := r.options.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring == nil {
		return
	}
	if c, ok := r.ring.devices[id]; ok {
		for _, io := range ios {
			c.slow.take(steady, io)
		}
	}
}
