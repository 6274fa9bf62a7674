package drift

import (
	"cmp"
	"slices"
)

// curve is how much slower a statistic is at a given load from others, as seen within the baseline. Above its lowest
// part it never falls: more load does not make a drive faster. It is linear between knots and constant beyond them.
type curve []knot

type knot struct {
	Load  int   `json:"load"` // thousandths
	Shift Shift `json:"shift"`
}

const (
	// binLoad is the least width of a bin in thousandths: an idle host's flutter
	// between 1 % and 5 % is no load to learn a slope from.
	binLoad = 50
	// A bin has at least one in binShare of all blocks, and at least binBlocks of them: with fewer, its median is
	// mostly noise.
	binShare, binBlocks = 10, 6
	// A nightly job takes less than that share of a day. It has a bin of its own if no load lies within jumpLoad, in
	// thousandths, below those that it brings.
	jumpLoad = 100
)

// learnCurve returns the curve through the medians of bins, made monotone. A straight line would not do: latency over
// load bends upwards, and a line would leave a daily wave behind that looks like drift.
func learnCurve(blocks []block, statistic int) curve {
	sorted := slices.Clone(blocks)
	slices.SortStableFunc(sorted, func(a, b block) int { return cmp.Compare(a.Load, b.Load) })
	bin := max(binBlocks, len(sorted)/binShare)
	jumps := func(from, to int) bool {
		return to-from >= binBlocks && len(sorted)-to >= binBlocks && sorted[to].Load-sorted[to-1].Load >= jumpLoad
	}
	var c curve
	var weights []int
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && !jumps(from, to) && (to-from < bin || sorted[to].Load-sorted[from].Load < binLoad || sorted[to].Load == sorted[to-1].Load) {
			to++
		}
		if len(sorted)-to < bin && !jumps(from, to) {
			to = len(sorted) // too few are left for a bin of their own
		}
		loads, levels := make([]int, 0, to-from), make([]Shift, 0, to-from)
		for _, b := range sorted[from:to] {
			loads, levels = append(loads, b.Load), append(levels, b.Level[statistic])
		}
		c = append(c, knot{Load: median(loads), Shift: median(levels)})
		weights = append(weights, to-from)
		from = to
	}
	c = c.rising(weights).noSteeper(statistic)
	return c.stretched(max(0, sorted[0].Load-loadMargin), min(1000, sorted[len(sorted)-1].Load+loadMargin))
}

// steepestRise bounds the slope of a curve, as a multiple of that of the waiting time in a queue. A steeper rise has
// another cause than load, such as a nightly job that runs at the time of the highest load.
const steepestRise = 3

// noSteeper returns the curve of statistic i with its slope bounded by steepestRise.
func (c curve) noSteeper(i int) curve {
	for k := 1; k < len(c); k++ {
		rise := steepestRise * queue(c[k-1].Load, c[k].Load)
		if risesFaster(i) {
			rise *= 2
		}
		c[k].Shift = min(c[k].Shift, c[k-1].Shift+rise)
	}
	return c
}

// risesFaster reports whether statistic i may rise faster with load than the first one does: p95 and p99 of a probe. The
// writes and flushes of traffic have the same places.
func risesFaster(i int) bool { return i == 1 || i == 2 }

// queue returns how much longer the waiting time in a queue, 1/(1-load), is at a load, in thousandths, than at another.
func queue(from, to int) Shift {
	free := func(load int) float64 { return 1 - min(0.98, float64(load)/1000) }
	return ShiftOf(max(1, free(from)/free(to)))
}

// stretched extends the first and the last slope to the ends of what is judged: the knots lie in the middle of their
// bins. The lowest part of a curve may fall; it is not extended below. Downwards, the slope reaches no further than between
// the first two knots: a drive that was idle for a few minutes of its first day shows nothing about the loads between.
func (c curve) stretched(low, high int) curve {
	n := len(c)
	if n < 2 {
		return c
	}
	beyond := func(a, b knot, load int) knot {
		return knot{load, a.Shift + Shift(int(b.Shift-a.Shift)*(load-a.Load)/(b.Load-a.Load))}
	}
	out := c
	low = max(low, 2*c[0].Load-c[1].Load)
	if low < c[0].Load && c[0].Shift <= c[1].Shift {
		out = append(curve{beyond(c[0], c[1], low)}, out...)
	}
	if high > c[n-1].Load {
		out = append(out, beyond(c[n-2], c[n-1], high))
	}
	return out
}

// rising makes the curve monotone, except that its lowest part may be higher than the next: the CPUs and the
// controller of an idle host sleep deeply, and take time to wake.
func (c curve) rising(weights []int) curve {
	if len(c) < 3 || c[0].Shift <= c[1].Shift {
		return c.monotone(weights)
	}
	return append(curve{c[0]}, c[1:].monotone(weights[1:])...)
}

// monotone pools neighbours that fall into their weighted mean (the pool
// adjacent violators algorithm of isotonic regression).
func (c curve) monotone(weights []int) curve {
	type pool struct{ sum, weight, knots int }
	var pools []pool
	for i, k := range c {
		pools = append(pools, pool{int(k.Shift) * weights[i], weights[i], 1})
		for n := len(pools); n > 1; n = len(pools) {
			a, b := pools[n-2], pools[n-1]
			if a.sum*b.weight <= b.sum*a.weight {
				break
			}
			pools = append(pools[:n-2], pool{a.sum + b.sum, a.weight + b.weight, a.knots + b.knots})
		}
	}
	i := 0
	for _, p := range pools {
		for range p.knots {
			c[i].Shift = Shift(p.sum / p.weight)
			i++
		}
	}
	return c
}

// at returns the shift that a load explains.
func (c curve) at(load int) Shift {
	n := len(c)
	if n == 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(c, load, func(k knot, load int) int { return cmp.Compare(k.Load, load) })
	switch i {
	case 0:
		return c[0].Shift
	case n:
		return c[n-1].Shift
	}
	a, b := c[i-1], c[i]
	return a.Shift + Shift(int(b.Shift-a.Shift)*(load-a.Load)/(b.Load-a.Load))
}

// raised returns the curve moved by s.
func (c curve) raised(s Shift) curve {
	out := slices.Clone(c)
	for i := range out {
		out[i].Shift += s
	}
	return out
}
