package drift

import (
	"slices"
	"time"
)

const (
	// rangeBlocks is how many blocks in a row beyond the range of a baseline are a shift: twenty minutes.
	rangeBlocks = 4
	// rangeMargin is how far beyond the range they must lie, as a share of its width, and rangeLeast the least such
	// distance, as a ratio.
	rangeMargin = 0.5
	rangeLeast  = 1.05
)

// beyondRange reports whether the last blocks were all slower than any block of the baseline, by a margin, and since
// when. The median of many drives is so steady that this is certain long before a CUSUM alarms, because ranks do not
// tell far from farther.
func (t *Tracker) beyondRange(i int) (time.Time, bool) {
	n := &t.current().Baseline.Of[i]
	if !t.ranged || len(t.recent) < rangeBlocks || !n.knowsNoise() {
		return time.Time{}, false
	}
	limit := max(n.beyondRange(), t.settings.smallest())
	last := t.recent[len(t.recent)-rangeBlocks:]
	if slices.ContainsFunc(last, func(b judged) bool { return !b.Shifts[i].Known() || b.Shifts[i] < limit }) {
		return time.Time{}, false
	}
	return slotTime(last[0].Slot), true
}

// beyondRange returns a limit beyond the slowest block of the baseline by a margin.
func (n noise) beyondRange() Shift {
	least, most := n.Residuals[0], n.Residuals[len(n.Residuals)-1]
	return most + max(ShiftOf(rangeLeast), Shift(rangeMargin*float64(most-least)))
}
