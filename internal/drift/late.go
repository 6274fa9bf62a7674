package drift

import "slices"

// A statistic may be missing from the day of the baseline: the drive was slower for most of it, or others did no such I/O. It is
// learned on a later day, and what the baseline knows of the others does not change.

// waits reports whether statistic i still waits for its day, though the baseline is final.
func (t *Tracker) waits(i int) bool {
	return t.current().final() && !t.current().Baseline.Of[i].knowsNoise()
}

// learnLate learns from a block what the final baseline does not know.
func (t *Tracker) learnLate(b block) {
	learned := t.current().learnLate(t.withoutDrift(b), t.host)
	for _, i := range learned {
		t.learnedAnew(i)
	}
	if len(learned) > 0 {
		t.prepare()
	}
}

// learnLate takes a block of an epoch whose baseline is final. It returns the statistics whose day the block completed.
func (e *epoch) learnLate(b block, host Host) (learned []int) {
	if !e.isLate(b) {
		return nil
	}
	e.Late = append(e.Late, b)
	for i, name := range e.names {
		of := has(e.Late, i)
		if e.Baseline.Of[i].knowsNoise() || len(of) < provisionalBlocks || of[len(of)-1].Slot-of[0].Slot < finalBlocks {
			continue
		}
		of = of[max(0, len(of)-finalBlocks):]
		busier := e.Baseline.Costs.busier(of)
		of = e.Baseline.loaded(of)
		e.Baseline.learnNorm(i, name, of, e.Anchored, host)
		if e.takeLevel(i, of) {
			e.assume(i, b.Slot, busier)
		}
		learned = append(learned, i)
	}
	e.Late = slices.DeleteFunc(e.Late, func(b block) bool { return !e.isLate(b) })
	if len(e.Late) > finalBlocks {
		e.Late = slices.Delete(e.Late, 0, 1)
	}
	return learned
}

// takeLevel makes the level of statistic i in the blocks its value, or keeps the value that was fixed. It reports which.
func (e *epoch) takeLevel(i int, blocks []block) (taken bool) {
	level := e.Baseline.level(blocks)
	values := valuesOf(e.names, e.Values)
	if (e.Pinned || e.Chained || e.Anchored) && values[i] > 0 {
		n := &e.Baseline.Of[i]
		n.Curve = n.Curve.raised(values.from(e.Reference)[i] - level[i])
		return false
	}
	values[i] = valuesOf(e.names, e.values(level))[i]
	e.Values = named(e.names, values)
	return true
}

// isLate reports whether a block has a statistic that the baseline does not know yet.
func (e *epoch) isLate(b block) bool {
	for i := range e.names {
		if b.Level[i].Known() && !e.Baseline.Of[i].knowsNoise() {
			return true
		}
	}
	return false
}
