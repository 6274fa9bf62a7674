package drift

import "time"

// cusum is a one-sided cumulative sum of evidence for a change. It never falls below
// zero. The change probably began where it last left zero.
type cusum struct {
	Value float64 `json:"value"`
	// Since is the slot of the block with which it left zero.
	Since int64 `json:"since,omitempty"`
}

// add takes the evidence of the block in slot n. The value does not exceed most: otherwise a verdict that waits for
// something else piles up evidence that takes as long to fall again.
func (c *cusum) add(evidence float64, n int64, most float64) {
	if c.Value <= 0 {
		c.Since = n
	}
	if c.Value = min(most, c.Value+evidence); c.Value <= 0 {
		*c = cusum{}
	}
}

// time returns when the CUSUM left zero; the zero time while it is zero.
func (c cusum) time() time.Time {
	if c.Value <= 0 {
		return time.Time{}
	}
	return slotTime(c.Since)
}
