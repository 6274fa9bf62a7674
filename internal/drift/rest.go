package drift

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// drifted returns how much slower statistic i is because of a regression that was found.
func (t *Tracker) drifted(i int) Shift {
	if t.verdicts[i].State != record.Regressed {
		return 0
	}
	return t.Shift(i)
}

// healthyLoad returns what an observed load would be without a regression that was found: a slower device is busy for
// longer with the same work.
func (t *Tracker) healthyLoad(observed int) int {
	var by Shift
	for i := range t.names {
		if !t.isTail(i) {
			by = max(by, t.drifted(i))
		}
	}
	if by <= 0 || observed == unseen {
		return observed
	}
	return longer(min(mostBusy, observed), 1/by.Ratio())
}

// withoutDrift returns a block without the statistics that have regressed or are suspect: a drift is no part of a
// baseline. The traffic of other work cannot show yet whether it is slower, so the regression that was found is taken
// off it. If it is only more I/Os of a size that was seen, no more is taken off than they are slower than the baseline and
// than a queue explains: more I/Os are not faster than fewer.
func (t *Tracker) withoutDrift(b block) block {
	base := t.current().Baseline
	for i := range t.names {
		switch n := &base.Of[i]; {
		case !t.verdicts[i].slower() || !b.Level[i].Known():
		case t.traffic() && !n.likeWork(b.Work, i):
			by := t.drifted(i)
			loaded := b
			loaded.Load = base.load(b.Work, b.Load)
			if most := t.atMost(loaded, i); most.Known() {
				by = max(0, min(by, base.beyondDoubt(most, loaded.Load, i))) // 0 when it is missing, as all of it is in doubt
			}
			b.Level[i], b.Worst[i] = b.Level[i]-by, b.Worst[i]-by
		default:
			b.Level[i], b.Worst[i] = missing, missing
		}
	}
	return b
}

// besideHost returns a block without what the host did beyond what it did while the baseline was learned. A host that
// has become slower, or has recovered, must not look like a load curve.
func (t *Tracker) besideHost(b block) block {
	host := t.host.At(b.Slot)
	for i := range t.names {
		if b.Level[i].Known() && host[i].Known() {
			by := host[i] - t.current().Baseline.Of[i].Host
			b.Level[i], b.Worst[i] = b.Level[i]-by, b.Worst[i]-by
		}
	}
	return b
}

// judged returns the block as it is judged: with the effects of load, host and what recurs taken out. It is false
// when nothing in the block can be judged.
func (t *Tracker) judged(b block) (judged, bool) {
	base, host := t.current().Baseline, t.host.At(b.Slot)
	j, ok := judged{Slot: b.Slot, Shifts: Unmeasured(), Alone: Unmeasured(), withDay: Unmeasured()}, false
	for i := range t.names {
		n, x := &base.Of[i], t.against(b, i)
		if x.Known() {
			if alone := base.beyondDoubt(x, b.Load, i); alone.Known() {
				j.Alone[i] = alone - max(0, min(alone, t.ofDay(i, b.Slot, alone)+t.expectedOfHost(i, b.Slot, alone)))
			}
			// Take off the host's part first: a drive that was learned while the host was slow is now faster by as much
			// as the others.
			if sure := base.beyondDoubt(x-t.hostPart(i, b.Slot, host[i], x), b.Load, i); sure.Known() {
				j.Shifts[i], j.withDay[i] = sure-t.ofDay(i, b.Slot, sure), sure
				j.unsteady[i] = t.traffic() && n.fewIOs(b.Work, i)
				j.Slow[i] = !j.unsteady[i] && n.knowsNoise() && base.knows(b.Load) && n.excess(b, i) > n.SlowAbove
			}
		}
		ok = ok || j.Shifts[i].Known()
	}
	return j, ok
}

// against returns how much slower than the baseline statistic i of a block is; missing when the block cannot be judged under its
// load, or has work of a kind that was not learned.
func (t *Tracker) against(b block, i int) Shift {
	base := t.current().Baseline
	if !base.judges(b.Load) || t.traffic() && !base.Of[i].likeWork(b.Work, i) {
		return missing
	}
	return base.against(b, i)
}

// inDoubt takes a block in which the load may explain all by which statistic i is slower. It counts as one that is no slower. If only
// the blocks counted that are slower beyond doubt, a tail that varies would look slower under any load that was not seen.
func (t *Tracker) inDoubt(b block, i int) {
	v, n := &t.verdicts[i], &t.current().Baseline.Of[i]
	if v.found() || !n.knowsNoise() || !t.against(b, i).Known() {
		return
	}
	for k, p := range t.plans[i] {
		v.Slower[k].add(n.slower(0, p.reference), b.Slot, 2*p.slower)
	}
}

// bound takes a block in which statistic i, which has regressed, could not be judged. Even so, it ends the regression if blocks show
// for long enough that all that they are slower, be it by the load, is less than half of it.
func (t *Tracker) bound(b block, i int, now time.Time) {
	v, n := &t.verdicts[i], &t.current().Baseline.Of[i]
	if v.State != record.Regressed || v.Cause == record.BySlowRounds || !n.knowsNoise() {
		return
	}
	most, gathered := t.atMost(b, i), t.ofOtherSizes(b, i)
	if gathered {
		most = t.current().atMost(b, i, slot(v.Since))
	}
	if !most.Known() {
		return
	}
	v.Back.add(-n.slower(most, v.BackReference), b.Slot, 2*v.BackThreshold)
	if v.Back.Value >= v.BackThreshold && most < v.BackReference {
		if gathered {
			t.current().forgetStatistic(i, slot(v.Since))
		}
		t.over(i, now)
	}
}

// ofOtherSizes reports whether a block of traffic has I/Os of other sizes than the baseline of statistic i.
func (t *Tracker) ofOtherSizes(b block, i int) bool {
	return t.traffic() && !t.current().Baseline.Of[i].likeSize(b.Work, i)
}

// atMost returns how much slower than the baseline statistic i of a block is, whatever the load contributes to that; missing where
// that bounds nothing, as there is less load than was seen, or I/Os of other sizes.
func (t *Tracker) atMost(b block, i int) Shift {
	base := t.current().Baseline
	if b.Load < base.MinLoad || t.ofOtherSizes(b, i) {
		return missing
	}
	return base.against(b, i)
}

// hostPart returns what to take off statistic i, which was slower by x in a slot, when the others are so much slower.
// Where that is not known, it is what the host does at this time of the day or the week. More than the others' own shift may be
// taken off, but only as far as x reaches: that makes no drive faster. A tail hardly becomes faster with its host, as what
// made it may be the drive's own.
func (t *Tracker) hostPart(i int, slot int64, others, x Shift) Shift {
	if !others.Known() {
		return t.expectedOfHost(i, slot, x)
	}
	usual := t.current().Baseline.Of[i].Host
	most := t.host.Part(i, others) - usual
	if t.isTail(i) {
		most = max(-t.settings.smallest()/2, most)
	}
	return min(most, max(x, min(most, max(0, others-usual))))
}

// ofDay returns the part of x that recurs at this time of every day or week. What slows the median also slows the tail, and
// what slows other I/O of the device also slows this one, whose rounds are often refused just then.
func (t *Tracker) ofDay(i int, slot int64, x Shift) Shift {
	return max(0, min(x, max(t.ownPast(i, slot), t.host.ExpectedOfOtherIO(slot))))
}

// ownPast returns what this source expects in a slot, by its own past.
func (t *Tracker) ownPast(i int, slot int64) Shift {
	of := &t.current().Baseline.Of
	if t.isTail(i) {
		return max(of[i].at(slot), of[0].at(slot))
	}
	return of[i].at(slot)
}

// expectedOfHost returns the part of x that the host causes at this time of every day or week.
func (t *Tracker) expectedOfHost(i int, slot int64, x Shift) Shift {
	return max(0, min(x, t.host.Expected(i, slot)))
}
