package history

import (
	"math"
	"slices"
	"time"
)

// nothing marks a slot without a value. All figures are 0 or more.
const nothing = -1

// Series is one figure over one span: the means of the slots that have ended, and the open slot. It is stored in this
// form in the state directory.
type Series struct {
	// First is the number of the slot of the first mean.
	First int64     `json:"first,omitempty"`
	Means []float32 `json:"means,omitempty"` // -1 in slots without a value
	// Open is the number of the slot that values are added to.
	Open   int64   `json:"open,omitempty"`
	Sum    float64 `json:"sum,omitempty"`
	Weight float64 `json:"weight,omitempty"`

	behind int // how many values in a row were for slots before the open one
}

// patience is how many values in a row may lie behind the open slot before the clock counts as set back. A clock may be
// wrong for minutes after a boot.
const patience = 10

// add adds a value to a slot. It ignores values of a clock that is behind for a moment. If the clock was set back, it
// drops the slots that are now in the future.
func (s *Series) add(span Span, slot int64, value, weight float64) {
	if slot < s.Open {
		s.behind++
		if s.behind <= patience {
			return
		}
		s.cut(slot)
	}
	s.behind = 0
	if slot > s.Open {
		s.end(span)
		s.Open = slot
	}
	s.Sum += value * weight
	s.Weight += weight
}

// cut drops the slots from the given one on. That slot begins anew, because its mean cannot be continued.
func (s *Series) cut(slot int64) {
	keep := min(max(slot-s.First, 0), int64(len(s.Means)))
	s.Means = s.Means[:keep]
	if keep == 0 {
		s.First = 0
	}
	s.Open, s.Sum, s.Weight = slot, 0, 0
}

// end turns the open slot into a mean.
func (s *Series) end(span Span) {
	if s.Weight <= 0 {
		return
	}
	gap := s.Open - s.First - int64(len(s.Means)) // slots without any value
	if len(s.Means) == 0 || gap >= int64(span.Slots) {
		s.First, s.Means, gap = s.Open, s.Means[:0], 0
	}
	for range gap {
		s.Means = append(s.Means, nothing)
	}
	s.Means = append(s.Means, rounded(s.Sum/s.Weight))
	s.Sum, s.Weight = 0, 0
	if surplus := len(s.Means) - span.Slots; surplus > 0 {
		s.Means = slices.Delete(s.Means, 0, surplus)
		s.First += int64(surplus)
	}
}

// points returns the means of the slots in the range [from, to], including the open slot.
func (s *Series) points(span Span, from, to int64) []Point {
	var all []Point
	for i, mean := range s.Means {
		if slot := s.First + int64(i); slot >= from && slot <= to && mean != nothing {
			all = append(all, Point{Time: span.middle(slot), Mean: float64(mean)})
		}
	}
	if s.Weight > 0 && s.Open >= from && s.Open <= to {
		all = append(all, Point{Time: span.middle(s.Open), Mean: s.Sum / s.Weight})
	}
	return all
}

// sound reports whether the series may have been stored by State.
func (s *Series) sound(span Span) bool {
	return len(s.Means) <= span.Slots && s.First+int64(len(s.Means)) <= s.Open+1 && s.First >= 0 &&
		s.Sum >= 0 && s.Weight >= 0 && !slices.ContainsFunc(s.Means, func(m float32) bool { return m < 0 && m != nothing })
}

// rounded keeps four digits, which is more than a plot shows and short in a file.
func rounded(v float64) float32 {
	if v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-3)
	return float32(math.Round(v/unit) * unit)
}

// Point is the mean of one slot.
type Point struct {
	Time time.Time `json:"time"` // the middle of the slot
	Mean float64   `json:"mean"`
}
