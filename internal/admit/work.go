package admit

import (
	"math"
	"time"
)

// forgetWork is the half-life of the most work seen: what a device did long ago, with other
// data on it, should not count for ever.
const forgetWork = 7 * 24 * time.Hour

// Capacity is the most work of others that a device was seen to do. The zero value means that
// the device has not been seen at work.
type Capacity struct {
	Seen  time.Time `json:"seen,omitzero"` // when it was last looked at
	IOs   float64   `json:"ios,omitempty"` // per second, as Bytes
	Bytes float64   `json:"bytes,omitempty"`
}

// share returns the given rate of work as a share (0 to 1) of the most work seen, and updates
// the latter. For a device that has not been seen at work before, any work counts as all it
// can do.
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
