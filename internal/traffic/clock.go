package traffic

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

const (
	second = time.Second
	// beat is how often the clock is looked at. Beats that come later by more than standstill
	// say that this process or the whole machine stood still.
	beat, standstill = 250 * time.Millisecond, 500 * time.Millisecond
	// stolenShare is the share of a second that the hypervisor may take a CPU away for.
	stolenShare = 0.5
)

// clock tells seconds in which this machine stood still.
type clock struct {
	host  sysfs.FS
	last  time.Time // beat
	ended time.Time // second
	stood bool      // for a while of this second

	steal      []time.Duration // by CPU, at asked
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

// end ends the second and reports whether it is nobody's: this process or the machine stood
// still, or a CPU, which may have been the one that completes I/Os, was taken away for half of it.
func (c *clock) end(now time.Time) (nobodys bool) {
	nobodys = c.stolen(now) || c.stood
	c.ended, c.stood = now, false
	return nobodys
}

// stolen reports whether the hypervisor took a CPU away for long. A machine that has never lost any
// time to one, as those without, is asked once in an interval: the file lists all interrupts.
func (c *clock) stolen(now time.Time) bool {
	if !c.everStolen && !c.asked.IsZero() && now.Sub(c.asked) < interval {
		return false
	}
	before, span := c.steal, now.Sub(c.asked)
	steal, err := counters.ReadSteal(c.host)
	if err != nil { // this clock alone tells then
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
