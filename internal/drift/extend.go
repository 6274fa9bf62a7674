package drift

import (
	"cmp"
	"slices"
)

// Load may rise for good, or the day of the baseline may have been a calm one.
// What lies beyond the loads that the baseline knows is learned later, so that the
// device is not left unwatched; what it knows already stays as it is.
const (
	// extendBlocks are needed for that, over extendSlots at least: most of a day.
	extendBlocks = 72
	extendSlots  = finalBlocks - 12
)

// beyond gathers a block under more load than is known, and extends the baseline
// when there are enough. It is called only while nothing is suspected.
func (e *epoch) beyond(b block) bool {
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

// extended returns the baseline with its load curves carried on through blocks
// under more load. A curve rises no faster than a queue explains: what is slower
// than that would be a drift, and is left to be found.
func (b *baseline) extended(blocks []block) *baseline {
	out := *b
	loads := make([]int, len(blocks))
	for i, one := range blocks {
		loads[i] = one.Load
	}
	slices.Sort(loads)
	out.MaxLoad = max(b.MaxLoad, loads[(len(loads)-1)*98/100])
	for i := range statistics {
		out.Of[i].Curve = b.extendedCurve(b.Of[i].Curve, learnCurve(blocks, i))
	}
	return &out
}

func (b *baseline) extendedCurve(known, more curve) curve {
	// The curve ends where it is known; it was carried on by a margin before.
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
