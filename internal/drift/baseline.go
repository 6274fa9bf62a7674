package drift

import (
	"math"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// provisionalBlocks is how many blocks make a baseline provisional: two hours.
	provisionalBlocks = 24
	// finalBlocks is how many blocks make it final: a day. A day with gaps is enough, too, when at least
	// minFinalBlocks of it are there.
	finalBlocks    = 288
	minFinalBlocks = finalBlocks / 2

	// largeShift is how many times slower a single round has to be for the fast path,
	// and largeShiftEarly before the baseline is final: a drive may do in its second
	// hour what it did not do in the first.
	largeShift, largeShiftEarly = 1.5, 1.7
	// hiddenFrom is the ratio above which a limit of an early baseline hides too much for a drive to be called healthy.
	hiddenFrom = 4
	// loadMargin is how much load beyond the highest seen still counts as seen, in
	// thousandths.
	loadMargin = 30

	// slowLeast and slowQuartiles say how far above the usual slowest round of a block a round must be to be slow: by
	// a ratio, and by a multiple of the usual spread. Both must be exceeded.
	slowLeast, slowQuartiles = 1.3, 5
	// slowCommon is the share of blocks with a slow round that the search for slow rounds expects to find when about
	// every tenth of a block's five to ten rounds is slow.
	slowCommon = 0.3
	// slowPrior is how many slow blocks are assumed beyond those seen, because a
	// day without one does not prove that they never come.
	slowPrior = 2
)

// baseline is what is learned from the blocks of an epoch.
type baseline struct {
	Maturity record.Maturity `json:"maturity"`
	Blocks   int             `json:"blocks"`
	// MinLoad and MaxLoad bound the load, in thousandths, that the baseline knows.
	MinLoad int `json:"min_load"`
	MaxLoad int `json:"max_load"`
	// Costs turn work into load. While the baseline is not final, they only bound the observed load, if there is one. They
	// are all 0 where no work was counted.
	Costs costs `json:"costs,omitzero"`
	// Unobserved says that the utilisation of no block was known, so that loads come from the work on the first day, too.
	Unobserved bool             `json:"unobserved,omitempty"`
	Of         [statistics]norm `json:"statistics"` // in the order of the source's statistics
}

// norm is the normal behaviour of one statistic.
type norm struct {
	Curve curve `json:"curve,omitempty"`
	noise
	// Host is how much slower than usual the other devices were while the baseline was learned: the level contains
	// that much of the host's part.
	Host Shift `json:"host,omitempty"`
	recurring
	// LeastSize and MostSize bound the sizes of the I/Os that were seen, in bytes; 0 when not known.
	LeastSize int `json:"least_size,omitempty"`
	MostSize  int `json:"most_size,omitempty"`
	// LeastRate and MostRate bound the rates of I/Os that were seen, a second; 0 when not known.
	LeastRate int `json:"least_rate,omitempty"`
	MostRate  int `json:"most_rate,omitempty"`
	// LargeAbove is the shift above which a single round is far too slow, for the fast path.
	LargeAbove Shift `json:"large_above"`
	// Spells are how much slower than the blocks around it a block was at most in the month SpellMonth and in the one before;
	// see learnSpell.
	Spells     [2]Shift `json:"spells,omitzero"`
	SpellMonth int64    `json:"spell_month,omitempty"`
	// SlowAbove is the excess above which a block has a slow round, and SlowShare the share (0 to 1) of blocks that
	// may have one.
	SlowAbove Shift   `json:"slow_above"`
	SlowShare float64 `json:"slow_share"`
	// SlowAutocorrelation is the autocorrelation factor of slow rounds: above 1 when they come in spells.
	SlowAutocorrelation float64 `json:"slow_autocorrelation_factor"`
	// SlowAccepted says that an operator accepted that slow rounds are common: a few in a row are no shift then.
	SlowAccepted bool `json:"slow_accepted,omitempty"`
}

// learnEarly makes a baseline from the rounds that made the reference.
func learnEarly(points []point) *baseline {
	blocks, loads := make([]block, len(points)), make([]int, len(points))
	for i, p := range points {
		blocks[i], loads[i] = block{Load: p.Load, Work: p.Work, Level: p.Shifts}, max(0, p.Load)
	}
	b := &baseline{Maturity: record.Early, Costs: learnCosts(blocks)}
	b.knowLoads(loads)
	for i := range statistics {
		b.Of[i].learnSizes(has(blocks, i), i, rareSizes)
		column := make([]Shift, 0, len(points))
		for _, p := range points {
			if p.Shifts[i].Known() {
				column = append(column, p.Shifts[i])
			}
		}
		if len(column) >= len(points)/2 {
			slices.Sort(column)
			b.Of[i].LargeAbove = earlyLargeAbove(quantile(column, 0.95))
		}
	}
	return b
}

// knowLoads sets the bounds of load from the loads that were seen, without the highest 2 %: a curve is worst at its
// end. Before the baseline is final, the upper quarter does not count. While load is on the rise, its upper end is
// known from a few blocks only, and tomorrow's peak is still to come.
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

// earlyLargeAbove returns the limit for single rounds while the baseline is not final: well above seldom, which rounds
// or blocks hardly ever reach.
func earlyLargeAbove(seldom Shift) Shift {
	return max(ShiftOf(largeShiftEarly), beyondSeldom(seldom))
}

// hides reports whether the baseline is early and its rounds varied so much that a drive may be far slower unnoticed.
func (b *baseline) hides(i int) bool {
	return b.Maturity == record.Early && b.Of[i].LargeAbove > ShiftOf(hiddenFrom)
}

// largeAbove returns the limit for single rounds of a final baseline: twice as far out as what is seldom. On a drive whose
// slowest blocks are all about equally slow, such as those in which it collects garbage, the limit lies just beyond them
// instead: twice as far out would be beyond what the drive does at half its speed.
func (n *norm) largeAbove() Shift {
	return max(ShiftOf(largeShift), min(2*quantile(n.Residuals, 0.99), n.beyondRange()))
}

// beyondSeldom returns a limit well above what is seldom, while little is known: twice as far out, but at most
// largeShiftEarly beyond it, so that a few slow minutes in the first hours do not square the ratio.
func beyondSeldom(seldom Shift) Shift { return min(2*seldom, seldom+ShiftOf(largeShiftEarly)) }

// learn makes a baseline from blocks in order of time. What the host did meanwhile is taken out of the noise. An
// anchored baseline keeps its level at the reference and learns only load and noise. A statistic that too few blocks
// have keeps what the baseline before knew.
func learn(names []record.Statistic, blocks []block, maturity record.Maturity, anchored bool, before *baseline, host Host) *baseline {
	b := &baseline{Maturity: maturity, Blocks: len(blocks), Costs: learnCosts(blocks), Unobserved: noneObserved(blocks)}
	if before != nil {
		b.Of = before.Of
	}
	if b.byWork() {
		blocks = b.Costs.loaded(blocks)
	} else { // the first hours say too little about what work takes; what was observed is better
		blocks = costs{}.loaded(blocks)
	}
	loads := make([]int, len(blocks))
	for i, one := range blocks {
		loads[i] = one.Load
	}
	b.knowLoads(loads)
	host = askOnce(host)
	for i, name := range names {
		if of := has(blocks, i); len(of) >= provisionalBlocks {
			b.learnNorm(i, name, of, anchored, host)
		}
	}
	return b
}

// byWork reports whether the loads of the baseline come from the work.
func (b *baseline) byWork() bool { return b.Maturity == record.Final || b.Unobserved }

// noneObserved reports whether the utilisation of no block is known.
func noneObserved(blocks []block) bool {
	return !slices.ContainsFunc(blocks, func(b block) bool { return b.Load != unseen })
}

// learnNorm learns statistic i from blocks that have it.
func (b *baseline) learnNorm(i int, name record.Statistic, of []block, anchored bool, host Host) {
	known := b.Of[i]
	b.Of[i] = b.norm(i, name, of, anchored, host)
	b.Of[i].Spells, b.Of[i].SpellMonth, b.Of[i].SlowAccepted = known.Spells, known.SpellMonth, known.SlowAccepted
	b.Of[i].wanderWith(b.Of[0].noise)
	if b.Maturity == record.Final {
		b.Of[i].LargeAbove = b.Of[i].largeAbove()
	} else {
		b.Of[i].LargeAbove = earlyLargeAbove(quantile(b.Of[i].Residuals, 0.99))
	}
}

// norm returns what is normal for a statistic. Half an hour in which only the tail of the latencies is slower recurs at no time
// of day, so it counts as noise: a nightly job makes the median slower, too.
func (b *baseline) norm(statistic int, name record.Statistic, blocks []block, anchored bool, host Host) norm {
	expected, n := b.Of[statistic].recurring, norm{}
	blocks, n.Host = withoutHost(blocks, statistic, host)
	n.Curve = learnCurve(expected.without(blocks, statistic), statistic)
	residuals, excess := make([]Shift, len(blocks)), make([]Shift, len(blocks))
	for i, b := range blocks {
		residuals[i], excess[i] = b.Level[statistic]-n.Curve.at(b.Load), n.excess(b, statistic)
	}
	n.recurring = expected
	ofDay := n.recurring
	switch {
	case name.IsTail():
		ofDay = either(n.recurring, b.Of[0].recurring)
	case len(blocks) >= minFinalBlocks:
		n.recurring = either(learnDaily(blocks, residuals), expected)
		ofDay = n.recurring
	}
	for i, b := range blocks {
		residuals[i] -= ofDay.off(b.Slot, residuals[i])
	}
	n.noise = learnNoise(blocks, residuals)
	n.learnSizes(blocks, statistic, rareSizes)
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

// hostParts returns how much slower the others were in each block, and the median where that is known.
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

// withoutHost returns the blocks without what the host did to statistic i, except for the median of that. Otherwise a
// host that is slow under load would look like a load curve. It also returns that median. What makes the others far slower, such
// as a backup, need not slow this drive: no more is taken off such a block than it was slower than the other blocks.
func withoutHost(blocks []block, i int, host Host) ([]block, Shift) {
	parts, middle := hostParts(blocks, i, host)
	var usual []block
	for k, b := range blocks {
		if parts[k].Known() && parts[k]-middle <= ShiftOf(farOfHost) {
			usual = append(usual, b)
		}
	}
	var normal curve
	if len(usual) >= provisionalBlocks {
		normal = learnCurve(usual, i)
	}
	out := slices.Clone(blocks)
	for k := range out {
		if !parts[k].Known() {
			continue
		}
		by := parts[k] - middle
		if by > ShiftOf(farOfHost) && normal != nil {
			by = min(by, max(0, out[k].Level[i]-normal.at(out[k].Load)))
		}
		out[k].Level[i] -= by
		out[k].Worst[i] -= by
	}
	return out, middle
}

// farOfHost is how many times slower than the median of the day the others are in blocks in which they are far slower.
const farOfHost = 1.25

// learned reports whether anything is known of the statistic.
func (n *norm) learned() bool { return n.LargeAbove > 0 }

// excess returns how much slower the slowest round of a block is than the others of its block, and than normal. What
// slowed all of them is a matter of level.
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

// slowShare returns the share of blocks with a slow round, given a mark of 1 or 0 for each. It errs on the high side
// by one standard error and by slowPrior. It is false when no block had one.
func slowShare(marks []float64, autocorrelation float64) (share float64, seen bool) {
	count, total := 0.0, float64(len(marks))
	for _, m := range marks {
		count += m
	}
	return min(0.95, (count+slowPrior+math.Sqrt(count*autocorrelation))/(total+slowPrior)), count > 0
}

// level returns what the baseline says of each statistic at the usual load of the blocks.
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

// levels returns the least and the most that the baseline says of each statistic in blocks that may be under other
// loads than it knows.
func (b *baseline) levels(blocks []block) (least, most Shifts) {
	blocks = b.loaded(blocks)
	for i := range statistics {
		low, high := make([]Shift, len(blocks)), make([]Shift, len(blocks))
		for j, one := range blocks {
			x, doubt := b.Of[i].Curve.at(one.Load), min(b.doubt(one.Load, i), mostAllowance)
			low[j], high[j] = x-doubt, x+doubt
		}
		least[i], most[i] = median(low), median(high)
	}
	return least, most
}

// copied returns a shallow copy, which stays as it is: maps and slices inside are replaced and never written to.
func (b *baseline) copied() *baseline {
	if b == nil {
		return nil
	}
	out := *b
	return &out
}

// moveTo moves the curves so that the baseline says what is wanted at the usual load of the blocks.
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

// allowance returns how much slower than at the highest load seen a drive may rightly be at a load beyond it.
func (b *baseline) allowance(load int) Shift { return queue(b.MaxLoad, load) }

const (
	// idleAllowance is how many times slower a device may rightly be under less load than was seen: its host and its
	// controller sleep more deeply.
	idleAllowance = 1.15
	// mostAllowance is the doubt beyond which a block says too little to be judged: a ratio of 2. As a number it takes no logarithm.
	mostAllowance Shift = 6931
)

// doubt returns how much slower than at the nearest load seen statistic i may rightly be under this load; 0 under a
// load that was seen. A tail grows faster than the median.
func (b *baseline) doubt(load, i int) Shift {
	var doubt Shift
	switch {
	case load < b.MinLoad-loadMargin:
		doubt = ShiftOf(idleAllowance)
	case load > b.MaxLoad+loadMargin:
		doubt = b.allowance(load)
	}
	if risesFaster(i) {
		doubt *= 2
	}
	return doubt
}

// continued returns statistic i of the load curve at a load. Beyond the highest load seen, it goes on as a queue explains.
func (b *baseline) continued(load, i int) Shift {
	return b.Of[i].Curve.at(min(load, b.MaxLoad)) + b.doubt(max(load, b.MinLoad), i)
}

// judges reports whether a block under this load says enough to be judged.
func (b *baseline) judges(load int) bool { return b.doubt(load, 0) <= mostAllowance }

// shift returns how much slower statistic i of a block is than the baseline at its load, as far as that is beyond
// doubt; missing when all of it is in doubt.
func (b *baseline) shift(one block, i int) Shift {
	return b.beyondDoubt(b.against(one, i), one.Load, i)
}

// against returns how much slower statistic i of a block is than the baseline says, whether or not it knows the load;
// missing when it knows nothing of the statistic.
func (b *baseline) against(one block, i int) Shift {
	n := &b.Of[i]
	if !one.Level[i].Known() || !n.learned() {
		return missing
	}
	return one.Level[i] - n.Curve.at(one.Load)
}

// beyondDoubt returns the part of a shift that is sure under a load; missing when all of it is in doubt.
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

// references returns what is subtracted from a block before it is scored: half of the shift that each CUSUM is
// quickest to find. The first finds the smallest effect of interest; the others find larger shifts sooner on noisy
// statistics. None is smaller than twice the error of the baseline's own level, because that error looks like a small
// shift.
func (n norm) references(smallest Shift) [references]Shift {
	knots := max(1, len(n.Curve))
	first := max(smallest/2, 2*n.error(max(1, len(n.Residuals)/knots)))
	return [references]Shift{first, 3 * first, 9 * first}
}

// slowEvidence returns the logarithm of how many times likelier a block is when slow rounds have become common (about
// every tenth round) than when they are as in the baseline.
func (n norm) slowEvidence(isSlow bool) float64 {
	common := n.SlowShare + slowCommon*(1-n.SlowShare)
	if isSlow {
		return math.Log(common / n.SlowShare)
	}
	return math.Log((1 - common) / (1 - n.SlowShare))
}
