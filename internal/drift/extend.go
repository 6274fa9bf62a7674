package drift

import (
	"cmp"
	"math"
	"slices"
)

// Load may rise for good, or the day of the baseline may have been a calm one. Loads beyond those that the baseline
// knows are learned later, so that the device does not stay unwatched. What the baseline already knows does not
// change.
const (
	// extendBlocks is how many blocks are needed for that, and extendSlots how many slots they must span: most of a
	// day.
	extendBlocks = 72
	extendSlots  = finalBlocks - 12
)

// beyond gathers a block under a load that is not known, and extends the baseline when there are enough. Statistics
// that have become slower are missing from it, and learn nothing.
func (e *epoch) beyond(b block) bool {
	if !slices.ContainsFunc(b.Level[:], Shift.Known) {
		return false
	}
	if e.Beyond = append(e.Beyond, b); len(e.Beyond) > finalBlocks {
		e.Beyond = slices.Delete(e.Beyond, 0, 1)
	}
	if len(e.Beyond) < extendBlocks || b.Slot-e.Beyond[0].Slot < extendSlots {
		return false
	}
	e.Baseline = e.Baseline.extended(e.Beyond)
	e.Beyond = nil
	return true
}

// extended returns the baseline with its load curves extended through blocks under loads that were not known. A curve
// rises no further than a queue or an idle host explains: what is slower than that would be a drift, and is left to
// be found.
func (b *baseline) extended(blocks []block) *baseline {
	out := *b
	above := slices.DeleteFunc(slices.Clone(blocks), func(one block) bool { return one.Load <= b.MaxLoad })
	below := slices.DeleteFunc(slices.Clone(blocks), func(one block) bool { return one.Load >= b.MinLoad })
	if len(above) >= extendBlocks/2 {
		loads := sortedLoads(above)
		out.MaxLoad = max(b.MaxLoad, loads[(len(loads)-1)*98/100])
	}
	if len(below) >= extendBlocks/2 {
		loads := sortedLoads(below)
		out.MinLoad = min(b.MinLoad, loads[(len(loads)-1)*2/100])
	}
	for i := range statistics {
		if len(b.Of[i].Curve) == 0 {
			continue
		}
		if out.MaxLoad > b.MaxLoad {
			more := curve{{out.MaxLoad, math.MaxInt32}} // too little is known, so as much as a queue explains
			if known := has(above, i); len(known) >= extendBlocks/2 {
				more = learnCurve(known, i)
			}
			out.Of[i].Curve = b.extendedCurve(out.Of[i].Curve, more)
		}
		if more := has(below, i); len(more) >= extendBlocks/2 {
			out.Of[i].Curve = b.loweredCurve(out.Of[i].Curve, learnCurve(more, i))
		}
	}
	return &out
}

func sortedLoads(blocks []block) []int {
	loads := make([]int, len(blocks))
	for i, b := range blocks {
		loads[i] = b.Load
	}
	slices.Sort(loads)
	return loads
}

// loweredCurve extends a curve below the least load known. There it rises no further than an idle host explains.
func (b *baseline) loweredCurve(known, more curve) curve {
	first := known.at(b.MinLoad)
	var out curve
	for _, k := range more {
		if k.Load < b.MinLoad {
			out = append(out, knot{k.Load, min(k.Shift, first+ShiftOf(idleAllowance))})
		}
	}
	out = append(out, knot{b.MinLoad, first})
	for _, k := range known {
		if k.Load > b.MinLoad {
			out = append(out, k)
		}
	}
	return out
}

func (b *baseline) extendedCurve(known, more curve) curve {
	// Cut off the margin by which the curve was extended before.
	known = known.until(b.MaxLoad)
	last := known[len(known)-1]
	for _, k := range more {
		if k.Load <= last.Load {
			continue
		}
		highest := known.at(b.MaxLoad) + b.allowance(k.Load)
		last = knot{k.Load, min(max(k.Shift, last.Shift), max(highest, last.Shift))}
		known = append(known, last)
	}
	return known
}

// until returns a copy of the curve that ends with a knot at load.
func (c curve) until(load int) curve {
	i, _ := slices.BinarySearchFunc(c, load, func(k knot, load int) int { return cmp.Compare(k.Load, load) })
	return append(slices.Clone(c[:i]), knot{load, c.at(load)})
}
