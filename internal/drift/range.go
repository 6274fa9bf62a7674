package drift

import (
	"slices"
	"time"
)

const (
	// rangeBlocks in a row beyond the range of a baseline are a shift: twenty minutes.
	rangeBlocks = 4
	// rangeMargin is the share of its own width by which they have to lie beyond the range,
	// and rangeLeast the least that counts as beyond.
	rangeMargin = 0.5
	rangeLeast  = 1.05
)

// beyondRange reports whether the last blocks were all slower than any block of the baseline,
// by a margin, and since when. The median of many drives is so calm that this is
// certain long before the ranks are: those of a CUSUM do not tell far from farther.
func (t *Tracker) beyondRange(i int) (time.Time, bool) {
	n := &t.current().Baseline.Of[i]
	if !t.ranged || len(t.recent) < rangeBlocks || len(n.Residuals) == 0 {
		return time.Time{}, false
	}
	least, most := n.Residuals[0], n.Residuals[len(n.Residuals)-1]
	limit := max(most+max(ShiftOf(rangeLeast), Shift(rangeMargin*float64(most-least))), t.settings.smallest())
	last := t.recent[len(t.recent)-rangeBlocks:]
	if slices.ContainsFunc(last, func(b judged) bool { return !b.Shifts[i].Known() || b.Shifts[i] < limit }) {
		return time.Time{}, false
	}
	return slotTime(last[0].Slot), true
}
