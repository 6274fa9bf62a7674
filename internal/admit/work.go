package admit

import (
	"math"
	"time"
)

// forgetWork is the time in which the most that was seen counts half: what a device did long
// ago, with other data on it, is no measure for ever.
const forgetWork = 7 * 24 * time.Hour

// capacity is the most work of others that a device was seen to do. The zero value has seen
// nothing.
type capacity struct {
	seen       time.Time
	ios, bytes float64 // per second
}

// share returns how much of the most that was seen a rate of work is, 0 to 1, and learns from
// it. A device that has not been seen at work before does all it can.
func (c *capacity) share(now time.Time, ios, bytes float64) float64 {
	if age := now.Sub(c.seen); !c.seen.IsZero() && age > 0 {
		factor := math.Exp2(-age.Seconds() / forgetWork.Seconds())
		c.ios, c.bytes = c.ios*factor, c.bytes*factor
	}
	c.seen, c.ios, c.bytes = now, max(c.ios, ios), max(c.bytes, bytes)
	share := 0.0
	if c.ios > 0 {
		share = ios / c.ios
	}
	if c.bytes > 0 {
		share = max(share, bytes/c.bytes)
	}
	return share
}
