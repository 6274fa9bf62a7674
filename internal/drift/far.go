package drift

import "time"

// farBlocks is how many blocks in a row must be far slower than ever when another witness says so, too, and farMargin
// how many times slower than ever they must be.
const (
	farBlocks = 2
	farMargin = 1.2
)

// Far reports whether statistic i was slower by at least limit in the last completed blocks, and clearly further
// above its level of the hour before than any block of the baseline, or any spell since, was above its own. A statistic
// that has become slower varies as it did before. If its level at this time yesterday was higher than that of the hour
// before, it counts instead. Far returns since when, and by how much at least.
func (t *Tracker) Far(i int, limit Shift, yesterday func() Shift, now time.Time) (since time.Time, by Shift, far bool) {
	if len(t.recent) < farBlocks || !t.judgeable(i) {
		return since, 0, false
	}
	n := &t.current().Baseline.Of[i]
	if !n.knowsNoise() {
		return since, 0, false
	}
	before, last := t.recent[:len(t.recent)-farBlocks], t.recent[len(t.recent)-farBlocks:]
	by = min(last[0].Shifts[i], last[1].Shifts[i]) // a block without the statistic has the least shift
	if by < limit-ShiftOf(mostBelow) {
		return slotTime(last[0].Slot), by, false // as of nearly all drives
	}
	fresh := now.Sub(slotTime(last[0].Slot)) <= time.Duration((farBlocks+1)*t.Slots()+1)*blockLength
	far = fresh && by >= limit+t.below(i, last[0].Slot) && by >= max(yesterday(), usual(before[max(0, len(before)-shownBlocks):], i))+n.beyond()
	return slotTime(last[0].Slot), by, far
}

// mostBelow bounds, as a ratio, how much faster than its baseline a drive counts as before it got slower.
const mostBelow = 1.25

// Before returns the level of statistic i, which has regressed, just before it did so; 0 if that was not below the baseline.
// The first day may have been a slow one: a drive that got twice as slow is less than that above such a baseline.
func (t *Tracker) Before(i int) Shift { return t.verdicts[i].Before }

// below returns how far statistic i was below its baseline in the three hours before a slot; 0 if it was not, or if less than
// an hour of them is known.
func (t *Tracker) below(i int, before int64) Shift {
	level, blocks := t.levelWithin(i, before-recentBlocks, before, recentBlocks)
	if int64(blocks)*t.Slots() < shownBlocks {
		return 0
	}
	return min(0, max(level, -ShiftOf(mostBelow)))
}

// beyondBlocks returns a distance that is clearly further above a level than any block of the baseline was.
func (n *norm) beyondBlocks() Shift { return n.Residuals[len(n.Residuals)-1] + ShiftOf(farMargin) }

// beyond returns a distance that is also clearly further than any spell since.
func (n *norm) beyond() Shift {
	return max(n.beyondBlocks(), max(n.Spells[0], n.Spells[1])+ShiftOf(farMargin))
}

// Beyond returns how much slower than the baseline statistic i must be to be clearly slower than any block that the baseline
// was learned from, or any spell since; 0 without a baseline.
func (t *Tracker) Beyond(i int) Shift {
	if t.Maturity() == "" || !t.current().Baseline.Of[i].knowsNoise() {
		return 0
	}
	return t.current().Baseline.Of[i].beyond()
}

// mostSpell bounds, as a ratio, how much slower than usual a spell may be that is learned.
const mostSpell = 2

// monthSlots is how many slots a month of spells has. A spell counts in its month and in the next, so that one that comes
// once a month is known.
const monthSlots = int64(30 * 24 * time.Hour / blockLength)

// learnSpell learns how much slower a block may be than the twelve blocks before it and the twelve after it, which are two
// hours where blocks are short. A day says too little about the garbage that a drive collects in a month. A drive that has
// become slower stays so, and a spell that is worse than mostSpell is not learned in full.
func (t *Tracker) learnSpell() {
	at := len(t.recent) - shownBlocks - 1
	if at < shownBlocks {
		return
	}
	before, after := t.recent[at-shownBlocks:at], t.recent[at+1:]
	for i := range t.names {
		x, n := t.recent[at].Shifts[i], &t.current().Baseline.Of[i]
		if !x.Known() {
			continue
		}
		n.enterMonth(t.recent[at].Slot / monthSlots)
		if x > n.Spells[0] { // a block that is not even that much above the baseline is no new one
			over := x - max(usual(before, i), usual(after, i))
			n.Spells[0] = max(n.Spells[0], min(over, ShiftOf(mostSpell)))
		}
	}
}

// enterMonth keeps the spells of the month before a month, and drops older ones.
func (n *norm) enterMonth(month int64) {
	switch month {
	case n.SpellMonth:
		return
	case n.SpellMonth + 1:
		n.Spells = [2]Shift{0, n.Spells[0]}
	default:
		n.Spells = [2]Shift{}
	}
	n.SpellMonth = month
}

// usual returns the median of how much slower than the baseline statistic i was in the blocks; 0 when it was not.
func usual(blocks []judged, i int) Shift {
	values := make([]Shift, 0, recentBlocks)
	for _, b := range blocks {
		if b.Shifts[i].Known() {
			values = append(values, b.Shifts[i])
		}
	}
	if len(values) == 0 {
		return 0
	}
	return max(0, median(values))
}
