package drift

import (
	"math"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// provisionalBlocks make a baseline provisional: two hours.
	provisionalBlocks = 24
	// finalBlocks make it final: a day. A day with gaps is enough too, when at
	// least minFinalBlocks of it are there.
	finalBlocks    = 288
	minFinalBlocks = finalBlocks / 2

	// largeShift is how many times slower a single round has to be for the fast path,
	// and largeShiftEarly before the baseline is final: a drive may do in its second
	// hour what it did not do in the first.
	largeShift, largeShiftEarly = 1.5, 1.7
	// loadMargin is how much load beyond the highest seen still counts as seen, in
	// thousandths.
	loadMargin = 30

	// slowLeast is how many times slower than the usual slowest round of a block a
	// round must be to be called slow, and slowQuartiles how many times the usual
	// spread above it.
	slowLeast, slowQuartiles = 1.3, 5
	// slowCommon is the share of blocks with a slow round that the search for slow
	// rounds expects to find: every tenth of a block's five to ten rounds.
	slowCommon = 0.3
	// slowPrior is how many slow blocks are assumed beyond those seen, because a
	// day without one does not prove that they never come.
	slowPrior = 2
)

// baseline is what is learned from the blocks of an epoch.
type baseline struct {
	Maturity record.Maturity `json:"maturity"`
	Blocks   int             `json:"blocks"`
	// MinLoad and MaxLoad bound the load, in thousandths, under which the baseline
	// knows what is normal.
	MinLoad int `json:"min_load"`
	MaxLoad int `json:"max_load"`
	// Costs make loads of work, and bound them while the baseline is not final; all 0 where no work was counted.
	Costs costs            `json:"costs,omitzero"`
	Of    [statistics]norm `json:"statistics"` // in the order of the source's statistics
}

// norm is the normal behaviour of one statistic.
type norm struct {
	Curve curve `json:"curve,omitempty"`
	noise
	// Host is how much slower than usual the other devices were meanwhile: that much of the
	// host is in the level.
	Host Shift `json:"host,omitempty"`
	// Daily is what is expected at a time of the day.
	Daily daily `json:"daily,omitempty"`
	// LeastSize and MostSize bound the size of the I/Os, in bytes; 0 when it is not known.
	LeastSize int `json:"least_size,omitempty"`
	MostSize  int `json:"most_size,omitempty"`
	// MostRate bounds how many there are a second; 0 when it is not known.
	MostRate int `json:"most_rate,omitempty"`
	// LargeAbove is where a single round counts as far too slow, for the fast path.
	LargeAbove Shift `json:"large_above"`
	// SlowAbove is where the excess of a block is more than any normal one, and
	// SlowShare the share of the baseline's blocks that have such a round.
	SlowAbove Shift   `json:"slow_above"`
	SlowShare float64 `json:"slow_share"`
	// SlowAutocorrelation is the factor for slow rounds: above 1 when they come in spells.
	SlowAutocorrelation float64 `json:"slow_autocorrelation_factor"`
	// SlowAccepted says that somebody accepted that slow rounds are common: a few in a row are no shift then.
	SlowAccepted bool `json:"slow_accepted,omitempty"`
}

// learnEarly makes a baseline of the rounds that made the reference.
func learnEarly(points []point) *baseline {
	blocks, loads := make([]block, len(points)), make([]int, len(points))
	for i, p := range points {
		blocks[i], loads[i] = block{Load: p.Load, Work: p.Work, Level: p.Shifts}, p.Load
	}
	b := &baseline{Maturity: record.Early, Costs: learnCosts(blocks)}
	b.knowLoads(loads)
	for i := range statistics {
		b.Of[i].learnSizes(has(blocks, i), i)
		column := make([]Shift, 0, len(points))
		for _, p := range points {
			if p.Shifts[i].Known() {
				column = append(column, p.Shifts[i])
			}
		}
		if len(column) >= len(points)/2 {
			slices.Sort(column)
			b.Of[i].LargeAbove = b.largeAbove(quantile(column, 0.95))
		}
	}
	return b
}

// knowLoads sets the bounds of load from what was seen, without the few highest: a
// curve is worst at its end. In the first day the upper
// quarter does not count: while load is on the rise, its upper end is known from a
// few blocks only, and tomorrow's peak is still to come.
func (b *baseline) knowLoads(loads []int) {
	if len(loads) == 0 {
		return
	}
	slices.Sort(loads)
	b.MinLoad, b.MaxLoad = loads[0], loads[(len(loads)-1)*98/100]
	if b.Maturity != record.Final {
		b.MaxLoad = loads[len(loads)*3/4]
	}
}

// largeAbove sets the limit for single rounds: well outside of what rounds or blocks
// hardly ever are.
func (b *baseline) largeAbove(seldom Shift) Shift {
	if b.Maturity != record.Final {
		return max(ShiftOf(largeShiftEarly), beyondSeldom(seldom))
	}
	return max(ShiftOf(largeShift), 2*seldom)
}

// beyondSeldom is well outside of what is seldom while little is known: twice as far out, and at most largeShiftEarly beyond
// it. A few slow minutes of the first hours square no limit.
func beyondSeldom(seldom Shift) Shift { return min(2*seldom, seldom+ShiftOf(largeShiftEarly)) }

// learn makes a baseline of blocks in the order of time; what the host did meanwhile is
// taken out of its noise. An anchored one keeps its level at the reference and learns load
// and noise only. Of a statistic that too few blocks have, what the baseline before knew stays.
func learn(blocks []block, maturity record.Maturity, anchored bool, before *baseline, host Host) *baseline {
	b := &baseline{Maturity: maturity, Blocks: len(blocks), Costs: learnCosts(blocks)}
	if before != nil {
		b.Of = before.Of
	}
	if maturity == record.Final { // the first hours say too little of what work takes
		blocks = b.Costs.loaded(blocks)
	}
	loads := make([]int, len(blocks))
	for i, one := range blocks {
		loads[i] = one.Load
	}
	b.knowLoads(loads)
	for i := range statistics {
		of := has(blocks, i)
		if len(of) < provisionalBlocks {
			continue
		}
		b.Of[i] = learnNorm(of, i, anchored, host, b.Of[i].Daily)
		b.Of[i].SlowAccepted = before != nil && before.Of[i].SlowAccepted
		b.Of[i].wanderWith(b.Of[0].noise)
		b.Of[i].LargeAbove = b.largeAbove(quantile(b.Of[i].Residuals, 0.99))
	}
	return b
}

func learnNorm(blocks []block, statistic int, anchored bool, host Host, expected daily) norm {
	n := norm{}
	blocks, n.Host = withoutHost(blocks, statistic, host)
	n.Curve = learnCurve(blocks, statistic)
	residuals, excess := make([]Shift, len(blocks)), make([]Shift, len(blocks))
	for i, b := range blocks {
		residuals[i], excess[i] = b.Level[statistic]-n.Curve.at(b.Load), n.excess(b, statistic)
	}
	n.Daily = expected
	if len(blocks) >= minFinalBlocks {
		n.Daily = learnDaily(blocks, residuals).and(expected)
	}
	for i, b := range blocks {
		residuals[i] -= n.Daily.off(b.Slot, residuals[i])
	}
	n.noise = learnNoise(blocks, residuals)
	n.learnSizes(blocks, statistic)
	slices.Sort(excess)
	middle, upper := quantile(excess, 0.5), quantile(excess, 0.75)
	n.SlowAbove = middle + max(ShiftOf(slowLeast), slowQuartiles*(upper-middle))
	n.learnSlow(blocks, statistic)
	if anchored {
		levels := make([]Shift, len(blocks))
		for i, b := range blocks {
			levels[i] = n.Curve.at(b.Load)
		}
		n.Curve = n.Curve.raised(-median(levels))
	}
	return n
}

// hostParts are how much slower the others were in each block, and the median of what is known of it.
func hostParts(blocks []block, statistic int, host Host) (parts []Shift, middle Shift) {
	parts = make([]Shift, len(blocks))
	var known []Shift
	for i, b := range blocks {
		if parts[i] = host.At(b.Slot)[statistic]; parts[i].Known() {
			known = append(known, parts[i])
		}
	}
	if len(known) > 0 {
		middle = median(known)
	}
	return parts, middle
}

// withoutHost returns the blocks without what the host did to statistic i, but for the median of that: a host that is slow
// under load is no load curve.
func withoutHost(blocks []block, i int, host Host) ([]block, Shift) {
	parts, middle := hostParts(blocks, i, host)
	out := slices.Clone(blocks)
	for k := range out {
		if parts[k].Known() {
			out[k].Level[i] -= parts[k] - middle
			out[k].Worst[i] -= parts[k] - middle
		}
	}
	return out, middle
}

// learned reports whether anything is known of the statistic.
func (n *norm) learned() bool { return n.LargeAbove > 0 }

// excess is how much slower than the others of its block, and than normal, the
// slowest round of a block is. What made all of them slow is a matter of level.
func (n *norm) excess(b block, statistic int) Shift {
	return b.Worst[statistic] - max(b.Level[statistic], n.Curve.at(b.Load))
}

// learnSlow learns how often blocks have a slow round.
func (n *norm) learnSlow(blocks []block, statistic int) {
	marks, count := make([]float64, len(blocks)), 0.0
	for i, b := range blocks {
		if n.excess(b, statistic) > n.SlowAbove {
			marks[i] = 1
			count++
		}
	}
	n.SlowAutocorrelation = 1
	if count >= minSlowBlocks {
		deviations := make([]float64, len(marks))
		for i := range marks {
			deviations[i] = marks[i] - count/float64(len(marks))
		}
		n.SlowAutocorrelation = autocorrelation(blocks, deviations)
	}
	n.SlowShare, _ = slowShare(marks, n.SlowAutocorrelation)
}

// slowShare is the share of blocks with a slow round, of which each mark is 1 or 0, erring on the high side by one
// standard error and by slowPrior. It is false when none had one.
func slowShare(marks []float64, autocorrelation float64) (share float64, seen bool) {
	count, total := 0.0, float64(len(marks))
	for _, m := range marks {
		count += m
	}
	return min(0.95, (count+slowPrior+math.Sqrt(count*autocorrelation))/(total+slowPrior)), count > 0
}

// level is what the baseline says of a statistic at its usual load.
func (b *baseline) level(blocks []block) Shifts {
	blocks = b.loaded(blocks)
	var out Shifts
	for i := range statistics {
		levels := make([]Shift, len(blocks))
		for j, one := range blocks {
			levels[j] = b.Of[i].Curve.at(one.Load)
		}
		out[i] = median(levels)
	}
	return out
}

// levels are between what the baseline says of a statistic at most and at least in blocks that may be under other
// loads than it knows.
func (b *baseline) levels(blocks []block) (least, most Shifts) {
	blocks = b.loaded(blocks)
	for i := range statistics {
		low, high := make([]Shift, len(blocks)), make([]Shift, len(blocks))
		for j, one := range blocks {
			x, doubt := b.Of[i].Curve.at(one.Load), min(b.doubt(one.Load, i), ShiftOf(mostAllowance))
			low[j], high[j] = x-doubt, x+doubt
		}
		least[i], most[i] = median(low), median(high)
	}
	return least, most
}

// copied returns a baseline that stays as it is. What is inside is replaced and never written to.
func (b *baseline) copied() *baseline {
	if b == nil {
		return nil
	}
	out := *b
	return &out
}

// moveTo moves the curves so that the baseline says what it is to say at its usual load.
func (b *baseline) moveTo(wanted Shifts, blocks []block) {
	for i, level := range b.level(blocks) {
		if wanted[i].Known() {
			b.Of[i].Curve = b.Of[i].Curve.raised(wanted[i] - level)
		}
	}
}

// knows reports whether the baseline knows what is normal under this load.
func (b *baseline) knows(load int) bool {
	return load >= b.MinLoad-loadMargin && load <= b.MaxLoad+loadMargin
}

// allowance is how much slower than at the highest load seen a drive may rightly
// be at a load beyond it: a queue makes waiting times grow like 1/(1-load).
func (b *baseline) allowance(load int) Shift {
	free := func(load int) float64 { return 1 - min(0.98, float64(load)/1000) }
	return ShiftOf(max(1, free(b.MaxLoad)/free(load)))
}

const (
	// idleAllowance is how much slower a device may rightly be under less load than was
	// seen: its host and its controller sleep more deeply.
	idleAllowance = 1.15
	// mostAllowance is the allowance beyond which a block says too little to be judged.
	mostAllowance = 2
)

// doubt is how much slower than at the nearest load seen statistic i may rightly be under this
// load; 0 under one that was seen. A tail grows faster than the median.
func (b *baseline) doubt(load, i int) Shift {
	var doubt Shift
	switch {
	case load < b.MinLoad-loadMargin:
		doubt = ShiftOf(idleAllowance)
	case load > b.MaxLoad+loadMargin:
		doubt = b.allowance(load)
	}
	if i == 1 || i == 2 {
		doubt *= 2
	}
	return doubt
}

// judges reports whether a block under this load says enough to be judged.
func (b *baseline) judges(load int) bool { return b.doubt(load, 0) <= ShiftOf(mostAllowance) }

// shift is how much slower statistic i of a block is than the baseline at its load, as far
// as that is beyond doubt; missing when it is all in doubt.
func (b *baseline) shift(one block, i int) Shift {
	return b.beyondDoubt(b.against(one, i), one.Load, i)
}

// against is how much slower statistic i of a block is than the baseline says, whatever it knows of its load; missing
// when it knows nothing of the statistic.
func (b *baseline) against(one block, i int) Shift {
	n := &b.Of[i]
	if !one.Level[i].Known() || !n.learned() {
		return missing
	}
	return one.Level[i] - n.Curve.at(one.Load)
}

// beyondDoubt is what is sure of a shift under a load; missing when it is all in doubt.
func (b *baseline) beyondDoubt(x Shift, load, i int) Shift {
	doubt := b.doubt(load, i)
	switch {
	case !x.Known():
		return missing
	case doubt == 0 || x > doubt:
		return x - doubt
	case x > 0:
		return missing
	}
	return 0 // no slower; how much faster it should be is not known
}

// references are subtracted from a block before it is scored: half of the shift that
// each CUSUM is quickest to find. The first finds the smallest effect of interest; the
// others find larger shifts sooner on noisy statistics. None is smaller than twice the
// error of the baseline's own level, because that error looks like a small shift.
func (n norm) references(smallest Shift) [references]Shift {
	knots := max(1, len(n.Curve))
	first := max(smallest/2, 2*n.error(max(1, len(n.Residuals)/knots)))
	return [references]Shift{first, 3 * first, 9 * first}
}

// slowEvidence is the logarithm of how much likelier a block is when slow rounds
// have become common (about every tenth round) than when they are as in the baseline.
func (n norm) slowEvidence(isSlow bool) float64 {
	common := n.SlowShare + slowCommon*(1-n.SlowShare)
	if isSlow {
		return math.Log(common / n.SlowShare)
	}
	return math.Log((1 - common) / (1 - n.SlowShare))
}
