package drift

import (
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// verdict is the state of one statistic and the evidence so far.
type verdict struct {
	State       record.DriftState `json:"state"`
	Since       time.Time         `json:"since"`
	Cause       record.Cause      `json:"cause,omitempty"`
	Attribution []record.Change   `json:"attribution,omitempty"`
	// Size is how large the drift was when it was found.
	Size Shift `json:"size,omitempty"`
	// Before is the level just before a regression if it was below the baseline, else 0; see Before.
	Before Shift `json:"before,omitempty"`

	// Slower and Faster look for a change of level, each CUSUM for another size of shift.
	Slower [references]cusum `json:"slower"`
	Faster [references]cusum `json:"faster"`
	// Slow looks for slow rounds that have become common.
	Slow cusum `json:"slow"`
	// Fast looks for a large shift round by round.
	Fast stretch `json:"fast"`

	// Back adds up evidence that a drift is over, against a level of BackReference. The drift
	// ends when it reaches BackThreshold.
	Back          cusum   `json:"back"`
	BackReference Shift   `json:"back_reference,omitempty"`
	BackThreshold float64 `json:"back_threshold,omitempty"`
	// Followed says that another statistic that drifted at the same time is back.
	Followed bool `json:"followed,omitempty"`
}

// found reports whether the state is a drift.
func (v *verdict) found() bool {
	return v.State == record.Regressed || v.State == record.Improved
}

// slower reports whether the statistic has regressed or is suspect.
func (v *verdict) slower() bool { return v.State == record.Suspect || v.State == record.Regressed }

// begin resets the verdict to a state without evidence.
func (v *verdict) begin(state record.DriftState, now time.Time) {
	*v = verdict{State: state, Since: now}
}

// judged is a block with the effects of load, host and what recurs taken out.
type judged struct {
	Slot   int64
	Shifts Shifts
	Slow   [statistics]bool
	// unsteady says that too few I/Os were averaged to show how common slow rounds are.
	unsteady [statistics]bool
	// Alone are the shifts with the host's part left in, except for what the host does at that time of the day or the week.
	Alone Shifts
	// withDay are the shifts before what recurs was taken off.
	withDay Shifts
}

const (
	// recentBlocks is how many blocks are kept to estimate a shift and its onset: three hours where a block takes five minutes.
	recentBlocks = 36
	// shownBlocks is how many blocks the ratio covers while nothing happens: the last hour.
	shownBlocks = 12
	// backRarity is the share of blocks at which a drift may end by mistake while it lasts: once in a year of drift.
	// An alert that flaps is a false alarm, too.
	backRarity = 1 / float64(blocksPerYear)
	// backLikelihood is the accepted probability of such a mistake once a statistic that drifted at the same time is
	// back.
	backLikelihood = 1.0 / 30
	// together bounds the time between the onsets of statistics that drift together.
	together = time.Hour
	// minSlowBlocks is how many blocks with a slow round make a pattern.
	minSlowBlocks = 4
	// enough is the share of the smallest effect that the estimate must reach. An effect of exactly that size is
	// underestimated as often as overestimated.
	enough = 0.9
)

// judge updates the state of statistic i with the block that was judged last.
func (t *Tracker) judge(i int, now time.Time) {
	v, n := &t.verdicts[i], &t.current().Baseline.Of[i]
	last := t.recent[len(t.recent)-1]
	x := last.Shifts[i]
	middle := n.middle()
	for k, p := range t.plans[i] {
		// A block on the other side of the middle leaves a CUSUM at zero, so its score need not be known.
		if c := &v.Slower[k]; c.Value > 0 || x-p.reference >= middle {
			c.add(n.slower(x, p.reference), last.Slot, 2*p.slower)
		}
		if c := &v.Faster[k]; c.Value > 0 || x+p.reference <= middle {
			c.add(n.faster(x, p.reference), last.Slot, 2*p.faster)
		}
	}
	if !last.unsteady[i] {
		v.Slow.add(n.slowEvidence(last.Slow[i]), last.Slot, t.slowThreshold(i))
	}
	switch {
	case !v.found():
		t.judgeLevel(i, now)
	case v.Cause == record.BySlowRounds && !t.isTail(i) && x >= n.LargeAbove && t.rose(i, now): // slow rounds must not hide that all are far slower
	case t.worse(i):
		t.find(i, record.Regressed, record.ByLevel, slotTime(t.recent[len(t.recent)-worseBlocks].Slot), now)
	default:
		t.judgeBack(i, now)
	}
}

// worseBlocks is how many blocks in a row must be far slower than a drift was before, to be another drift with an onset of
// its own. The ratio since the first onset would hide it for hours.
const worseBlocks = 2

// worse reports whether statistic i, which has regressed, has just become far slower than when that was found, or than in the
// hour before, if it was less slow then. A creep also gets slower, but has one onset, so there must have been a jump.
func (t *Tracker) worse(i int) bool {
	v, n := &t.verdicts[i], &t.current().Baseline.Of[i]
	first := len(t.recent) - worseBlocks
	if t.isTail(i) { // a tail must last for a verdict, and a new onset would restart that time
		return false
	}
	if v.State != record.Regressed || v.Cause == record.BySlowRounds || v.Size == 0 || first < worseBlocks || slot(v.Since) >= t.recent[first].Slot {
		return false
	}
	before, now, jump := t.recent[first-worseBlocks:first], t.recent[first:], max(n.LargeAbove, n.beyondBlocks())
	size := v.Size
	if level, blocks := t.levelWithin(i, math.MinInt64, now[0].Slot, shownBlocks); blocks == shownBlocks {
		size = min(size, level)
	}
	return !slices.ContainsFunc(now, func(b judged) bool { return b.Shifts[i] < size+jump }) &&
		!slices.ContainsFunc(before, func(b judged) bool { return b.Shifts[i] > size+jump/2 })
}

// rose finds a slower level of statistic i, if its blocks are beyond all that is usual or a CUSUM has crossed its threshold.
func (t *Tracker) rose(i int, now time.Time) bool {
	if since, beyond := t.beyondRange(i); beyond {
		t.becameSlower(i, since, now)
		return true
	}
	for k := range references {
		if k == 0 && !t.current().final() {
			continue
		}
		if up := t.verdicts[i].Slower[k]; up.Value >= t.plans[i][k].slower && t.worth(i, up.Since, 1) {
			t.becameSlower(i, t.onset(i, up.Since), now)
			return true
		}
	}
	return false
}

// becameSlower finds a regression of statistic i, unless a change of conditions explains that it is slower.
func (t *Tracker) becameSlower(i int, onset, now time.Time) {
	if !t.explained(i, slot(onset), now) {
		t.find(i, record.Regressed, record.ByLevel, onset, now)
	}
}

// judgeLevel checks whether a CUSUM has crossed its threshold and the shift is large enough.
func (t *Tracker) judgeLevel(i int, now time.Time) {
	v := &t.verdicts[i]
	if !t.judgeable(i) || t.rose(i, now) {
		return
	}
	final := t.current().final()
	var suspect *time.Time // the onset, if there is one
	for k := range references {
		if k == 0 && !final {
			continue
		}
		p := t.plans[i][k]
		switch up, down := v.Slower[k], v.Faster[k]; {
		case final && down.Value >= p.faster && t.worth(i, down.Since, -1):
			// Before the baseline is final, faster blocks are only learned from: the first blocks were slow.
			t.find(i, record.Improved, record.ByLevel, t.onset(i, down.Since), now)
			return
		case up.Value >= p.slower/2 && suspect == nil && t.worth(i, up.Since, 1):
			onset := t.onset(i, up.Since)
			suspect = &onset
		}
	}
	if final {
		slow := t.slowBlocks(i, v.Slow.Since)
		switch {
		case v.Slow.Value >= t.slowThreshold(i) && slow >= minSlowBlocks:
			t.find(i, record.Regressed, record.BySlowRounds, slotTime(v.Slow.Since), now)
			return
		case v.Slow.Value >= t.slowThreshold(i)/2 && slow >= minSlowBlocks-1:
			onset := slotTime(v.Slow.Since)
			suspect = &onset
		}
	}
	switch {
	case suspect != nil && v.State == record.Stable:
		v.State, v.Since = record.Suspect, *suspect
	case suspect == nil && v.State == record.Suspect:
		v.State, v.Since = record.Stable, now
	}
}

// judgeable reports whether a statistic is judged with the current baseline. It takes a day to know what is normal
// for a tail.
func (t *Tracker) judgeable(i int) bool {
	e := t.current()
	n, day := &e.Baseline.Of[i], e.final()
	switch {
	case t.isTail(i):
		return day && n.knowsNoise() && (!e.Inherited || !e.Moved[i])
	case t.traffic(): // applications do things in a day that they did not do in its first hours
		return day && n.knowsNoise()
	}
	return n.learned()
}

// isTail reports whether statistic i is about the slowest I/Os of a round.
func (t *Tracker) isTail(i int) bool { return t.names[i].IsTail() }

// worth reports whether the shift since a slot, to the given side, is large enough for a verdict: beyond the least
// shift by half of its own standard error.
func (t *Tracker) worth(i int, since int64, side Shift) bool {
	size, blocks := t.level(i, since, recentBlocks)
	return blocks > 0 && side*size >= t.least(i)+t.current().Baseline.Of[i].error(blocks)/2
}

// least is the smallest shift that makes a verdict. Before the baseline is final it is
// large, and well outside what has been seen so far.
func (t *Tracker) least(i int) Shift {
	if b := t.current().Baseline; b.Maturity != record.Final {
		return max(ShiftOf(1+t.settings.Threshold), beyondSeldom(quantile(b.Of[i].Residuals, 0.975)))
	}
	return Shift(enough * 2 * float64(t.plans[i][0].reference))
}

// find records a drift, with its cause and onset.
func (t *Tracker) find(i int, state record.DriftState, cause record.Cause, onset, now time.Time) {
	v := &t.verdicts[i]
	switch below := t.below(i, slot(onset)); {
	case state != record.Regressed:
		v.Before = 0
	case v.State == record.Regressed: // it got worse
		v.Before = min(v.Before, below)
	default:
		v.Before = below
	}
	v.State, v.Since, v.Cause, v.Back = state, onset, cause, cusum{}
	v.BackReference, v.BackThreshold, v.Followed, v.Size = 0, 0, false, v.Fast.middle()
	v.Attribution = t.changesNear(onset)
	t.prepareBack(i)
	v.Fast = stretch{}
	t.current().forget(slot(onset), i, v.BackReference)
}

// prepareBack sets the evidence that ends a drift: the level must be back below half of
// the shift, or slow rounds must have become rare.
func (t *Tracker) prepareBack(i int) {
	v, n := &t.verdicts[i], &t.current().Baseline.Of[i]
	size := v.Fast.middle()
	switch v.Cause {
	case record.BySlowRounds:
		v.BackThreshold = -math.Log(backRarity)
		return
	case record.ByLevel:
		// Noise helped to cross the threshold, so the least that the shift may be counts.
		level, blocks := t.level(i, slot(v.Since), recentBlocks)
		size = max(level, -level) - 2*n.error(max(1, blocks))
		v.Size = level
	case record.ByLargeShift:
	}
	v.BackReference = max(t.settings.smallest(), size) / 2
	if n.knowsNoise() {
		// Seen from the shifted level, going back is a change the other way.
		v.BackThreshold = n.threshold(n.faster, v.BackReference, backRarity)
	}
}

// over ends a drift. Statistics that drifted with it have probably recovered, too, and need less evidence from now
// on.
func (t *Tracker) over(i int, now time.Time) {
	ended := t.verdicts[i]
	t.expectAgain(i)
	t.verdicts[i].begin(record.Stable, now)
	for k := range t.verdicts {
		v := &t.verdicts[k]
		if v.State == ended.State && v.Since.Sub(ended.Since).Abs() <= together && !v.Followed {
			v.BackThreshold *= math.Log(backLikelihood) / math.Log(backRarity)
			v.Followed = true
		}
	}
}

// expectAgain expects the drift that has just ended at the same time of the next days and weeks, if it lasted no longer than
// half a day. It ended where the evidence of its end began: noise may delay the verdict for hours.
func (t *Tracker) expectAgain(i int) {
	v, n := &t.verdicts[i], &t.current().Baseline.Of[i]
	from, end := slot(v.Since), v.Back.Since
	if v.State != record.Regressed || len(t.recent) == 0 || end-from > mostExpected {
		return
	}
	again := either(n.recurring)
	size := v.Size
	if level, blocks := t.levelWithin(i, from, end, recentBlocks); blocks > 0 {
		size = level
	}
	slack := int64(spellSlack)
	if end-from >= dailyRun {
		slack = jobSlack
	}
	for at := from; at < min(end, t.recent[0].Slot) && size > 0; at++ {
		again.expect(at, size+t.ownPast(i, at), slack)
	}
	for _, b := range t.recent {
		if x := b.Shifts[i]; b.Slot >= from && b.Slot < end && x.Known() && x >= ShiftOf(dailyLeast) {
			again.expect(b.Slot, max(x+t.ownPast(i, b.Slot), b.withDay[i]), slack)
		}
	}
	n.recurring = again.orWeekly(n.recurring)
}

// judgeBack checks whether a drift is over.
func (t *Tracker) judgeBack(i int, now time.Time) {
	v, n := &t.verdicts[i], &t.current().Baseline.Of[i]
	last := t.recent[len(t.recent)-1]
	if v.State == record.Regressed && last.Shifts[i] < v.BackReference && last.withDay[i] >= v.BackReference {
		return // only the expectation of the day brings it below the limit, and that may be too large
	}
	side := Shift(1)
	if v.State == record.Improved {
		side = -1
	}
	var evidence, threshold float64
	switch {
	case v.Cause == record.BySlowRounds && last.unsteady[i]:
		return
	case v.Cause == record.BySlowRounds:
		evidence, threshold = -n.slowEvidence(last.Slow[i]), v.BackThreshold
	case !n.knowsNoise(): // the baseline is early and knows no noise yet
		evidence, threshold = earlyEvidence, earlyBackThreshold
		if side*last.Shifts[i] >= v.BackReference {
			evidence = -earlyEvidence
		}
	case v.State == record.Regressed:
		evidence, threshold = -n.slower(last.Shifts[i], v.BackReference), v.BackThreshold
	default:
		evidence, threshold = -n.faster(last.Shifts[i], v.BackReference), v.BackThreshold
	}
	v.Back.add(evidence, last.Slot, 2*threshold)
	if v.Back.Value < threshold {
		return
	}
	level, _ := t.level(i, v.Back.Since, shownBlocks)
	level *= side
	if v.Cause == record.BySlowRounds || level < max(t.plans[i][0].reference, v.BackReference/4) || !n.knowsNoise() {
		t.over(i, now)
	}
}

const (
	// An early baseline needs four blocks without a shift to end a drift.
	earlyEvidence, earlyBackThreshold = 1, 4
)

// slowBlocks counts recent blocks with a slow round since a slot.
func (t *Tracker) slowBlocks(i int, since int64) int {
	count := 0
	for _, b := range t.recent {
		if b.Slot >= since && b.Slow[i] {
			count++
		}
	}
	return count
}

// onset returns when a change of level that a CUSUM found began: the recent block from
// which on the blocks lie highest above half of their shift. The slot where
// the CUSUM left zero is often too early, because noise had lifted it before.
func (t *Tracker) onset(i int, since int64) time.Time {
	size, _ := t.level(i, since, recentBlocks)
	side := Shift(1)
	if size < 0 {
		side = -1
	}
	n := &t.current().Baseline.Of[i]
	best, total, at := 0.0, 0.0, since
	for _, b := range slices.Backward(t.recent) {
		if b.Slot < since {
			break
		}
		if !b.Shifts[i].Known() {
			continue
		}
		total += n.score(side*b.Shifts[i] - side*size/2)
		if total >= best {
			best, at = total, b.Slot
		}
	}
	return slotTime(at)
}
