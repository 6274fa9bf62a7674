package admit

import (
	"math"
	"time"
)

// forgetWork is the time in which the most that was seen counts half: what a device did long
// ago, with other data on it, is no measure for ever.
const forgetWork = 7 * 24 * time.Hour

// Capacity is the most work of others that a device was seen to do. The zero value has seen
// nothing.
type Capacity struct {
	Seen  time.Time `json:"seen,omitzero"` // when it was last looked at
	IOs   float64   `json:"ios,omitempty"` // per second
	Bytes float64   `json:"bytes,omitempty"`
}

// share returns how much of the most that was seen a rate of work is, 0 to 1, and learns from
// it. A device that has not been seen at work before does all it can.
func (c *Capacity) share(now time.Time, ios, bytes float64) float64 {
	if age := now.Sub(c.Seen); !c.Seen.IsZero() && age > 0 {
		factor := math.Exp2(-age.Seconds() / forgetWork.Seconds())
		c.IOs, c.Bytes = c.IOs*factor, c.Bytes*factor
	}
	c.Seen, c.IOs, c.Bytes = now, max(c.IOs, ios), max(c.Bytes, bytes)
	share := 0.0
	if c.IOs > 0 {
		share = ios / c.IOs
	}
	if c.Bytes > 0 {
		share = max(share, bytes/c.Bytes)
	}
	return share
}
