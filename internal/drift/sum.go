package drift

import "time"

// sum is a one-sided cumulative sum: it adds up evidence for a change and never
// falls below zero. Where it left zero is where the change probably began.
type sum struct {
	Value float64 `json:"value"`
	// Since is the slot of the block with which it left zero.
	Since int64 `json:"since,omitempty"`
}

// add takes the evidence of the block in slot n. The sum stops at most, so that a
// long wait for something else does not pile up what takes as long to go down.
func (s *sum) add(evidence float64, n int64, most float64) {
	if s.Value <= 0 {
		s.Since = n
	}
	if s.Value = min(most, s.Value+evidence); s.Value <= 0 {
		*s = sum{}
	}
}

// time is when the sum left zero; the zero time while it is there.
func (s sum) time() time.Time {
	if s.Value <= 0 {
		return time.Time{}
	}
	return slotTime(s.Since)
}
