package traffic

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

const (
	second = time.Second
	// beat is how often the clock is checked. A beat that is late by more than standstill means that this
	// process or the whole machine stood still.
	beat, standstill = 250 * time.Millisecond, 500 * time.Millisecond
	// stolenShare is the largest share of a second that the hypervisor may take from a CPU before the second is
	// discarded.
	stolenShare = 0.5
)

// clock finds the seconds in which this machine stood still.
type clock struct {
	host  sysfs.FS
	last  time.Time // the last beat
	ended time.Time // the end of the last second
	stood bool      // whether the machine stood still in this second

	steal      []time.Duration // steal time of each CPU, read at asked
	asked      time.Time
	everStolen bool
}

// beat notes that time has passed, and reports whether a second is over.
func (c *clock) beat(now time.Time) (over bool) {
	if c.last.IsZero() {
		c.last, c.ended = now, now
		return true
	}
	if now.Sub(c.last) > beat+standstill {
		c.stood = true
	}
	c.last = now
	return now.Sub(c.ended) > second-beat/2
}

// end ends the second and reports whether it must be discarded: this process or the machine stood still, or the
// hypervisor took a CPU away for more than half of it. That CPU may have been the one that completes I/Os.
func (c *clock) end(now time.Time) (nobodys bool) {
	nobodys = c.stolen(now) || c.stood
	c.ended, c.stood = now, false
	return nobodys
}

// stolen reports whether the hypervisor took a CPU away for long. A machine that has never lost time to a
// hypervisor is asked only once per interval, because /proc/stat also lists all interrupts.
func (c *clock) stolen(now time.Time) bool {
	if !c.everStolen && !c.asked.IsZero() && now.Sub(c.asked) < interval {
		return false
	}
	before, span := c.steal, now.Sub(c.asked)
	steal, err := counters.ReadSteal(c.host)
	if err != nil { // only the beats then show a standstill
		steal = nil
	}
	c.steal, c.asked = steal, now
	var longest time.Duration
	for i, s := range steal {
		c.everStolen = c.everStolen || s > 0
		if i < len(before) {
			longest = max(longest, s-before[i])
		}
	}
	return span < 2*second && longest.Seconds() > stolenShare*span.Seconds()
}
