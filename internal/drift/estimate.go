package drift

import (
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// minIntervalBlocks is how many blocks are needed to bound their median with 95 % confidence by order statistics: of
// fewer than six, no two do.
const minIntervalBlocks = 6

// estimate is the shift over some blocks: the median block, and the bounds of the
// 95 % interval of the true median. blocks is 0 when there was none.
type estimate struct {
	middle, lower, upper Shift
	blocks               int
	bounded              bool
	over                 *record.Span // the time that it covers; nil when there is no block
}

// ratios returns the estimate as times slower; the bounds are 0 when there are none.
func (e estimate) ratios() (ratio, lower, upper float64) {
	if e.blocks == 0 {
		return 0, 0, 0
	}
	if !e.bounded {
		return e.middle.Ratio(), 0, 0
	}
	return e.middle.Ratio(), e.lower.Ratio(), e.upper.Ratio()
}

// level returns the median shift of statistic i over the recent blocks from slot since on, and how many blocks those
// are: the latest ones, no more than most.
func (t *Tracker) level(i int, since int64, most int) (Shift, int) {
	return t.levelWithin(i, since, math.MaxInt64, most)
}

// levelWithin is like level, but leaves out blocks from slot end on.
func (t *Tracker) levelWithin(i int, since, end int64, most int) (Shift, int) {
	values := make([]Shift, 0, recentBlocks)
	for _, b := range slices.Backward(t.recent) {
		if b.Slot < since || len(values) == most {
			break
		}
		if b.Slot < end && b.Shifts[i].Known() {
			values = append(values, b.Shifts[i])
		}
	}
	if len(values) == 0 {
		return 0, 0
	}
	return median(values), len(values)
}

// estimate bounds the median by order statistics if there are enough values. Otherwise it uses the spread of the
// baseline's blocks, if that is known. Blocks that resemble their predecessors count for fewer.
func (n noise) estimate(values []Shift) estimate {
	e := estimate{blocks: len(values)}
	if len(values) == 0 {
		return e
	}
	slices.Sort(values)
	e.middle = median(values)
	independent := float64(len(values)) / max(1, n.Autocorrelation)
	switch {
	case independent >= minIntervalBlocks:
		low, high := medianBounds(int(independent))
		// The same ranks among all values as among the independent ones.
		scale := float64(len(values)-1) / float64(int(independent)-1)
		e.lower = values[int(float64(low)*scale)]
		e.upper = values[min(len(values)-1, int(math.Ceil(float64(high)*scale)))]
		e.bounded = true
	case n.knowsNoise():
		// A median's error is about 1.25 times that of a mean.
		widen := func(s Shift) Shift { return Shift(1.25 * float64(s) / math.Sqrt(max(1, independent))) }
		e.lower = e.middle - widen(max(0, quantile(n.Residuals, 0.975)))
		e.upper = e.middle - widen(min(0, quantile(n.Residuals, 0.025)))
		e.bounded = true
	}
	return e
}

// medianBounds returns the indices of the two order statistics of n values that
// hold the true median between them with at least 95 % certainty, whatever the
// values' distribution (each value is above the median with probability 1/2, so
// how many are is binomial). n is at least minIntervalBlocks.
func medianBounds(n int) (low, high int) {
	// term is the probability that exactly low+1 are below, sum that no more are.
	term := math.Pow(0.5, float64(n)) * float64(n)
	sum := math.Pow(0.5, float64(n)) + term
	for low = 0; low+1 < n/2 && sum <= 0.025; low++ {
		term *= float64(n-low-1) / float64(low+2)
		sum += term
	}
	return low, n - 1 - low
}

// underWay is what is known of the block under way.
type underWay struct {
	judged
	over record.Span
	ok   bool // enough rounds of it are there, and something of them was judged
}

// underWay judges the block under way.
func (t *Tracker) underWay() (u underWay) {
	if t.Maturity() == "" || len(t.open.Points) < minBlockRounds {
		return u
	}
	b := t.open.close()
	b.Load = t.current().Baseline.load(b.Work, b.Load)
	u.judged, u.ok = t.judged(b)
	u.over = record.Span{From: later(slotTime(b.Slot), time.Unix(t.open.Points[0].Time, 0)), To: t.last.UTC()}
	return u
}

// now returns the shift of statistic i to show: over the last hour that was compared or, for a drift, since its
// onset, but over at most recentBlocks. The block under way counts.
func (t *Tracker) now(i int, open underWay) estimate {
	v := &t.verdicts[i]
	drifts := v.found() || v.State == record.Suspect
	since, most := int64(math.MinInt64), shownBlocks
	if drifts {
		since, most = slot(v.Since), recentBlocks
		if v.Since.After(slotTime(since)) {
			since++ // part of the block of the onset is from before it
		}
	}
	values := make([]Shift, 0, min(most, len(t.recent)+1))
	var over record.Span
	e := t.current()
	if open.ok && open.Slot >= since && open.Shifts[i].Known() {
		values, over = append(values, open.Shifts[i]), open.over
	}
	for _, b := range slices.Backward(t.recent) {
		if b.Slot < since || len(values) == most {
			break
		}
		if !b.Shifts[i].Known() {
			continue
		}
		from, to := later(slotTime(b.Slot), e.Started), t.blockEnd(b.Slot)
		if len(values) == 0 {
			over.To = to
		}
		if !drifts && over.To.Sub(from) > t.stale() {
			break // what was before a gap says nothing about now
		}
		values, over.From = append(values, b.Shifts[i]), from
	}
	if v.State == record.Regressed && len(values) == 0 && v.Size != 0 {
		return estimate{middle: v.Size, blocks: 1, over: &record.Span{From: record.NotAfter(v.Since, t.last), To: t.last}} // there is no block since the onset yet
	}
	out := e.Baseline.Of[i].estimate(values)
	if len(values) > 0 {
		out.over = &over
	}
	return out
}

// later returns the later of two times, in UTC: a block begins by the clock, and its rounds may begin after that.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b.UTC()
	}
	return a.UTC()
}

// valueAt returns statistic i of the baseline at its usual load, made slower by an estimate; 0 when there is none.
func (e *epoch) valueAt(i int, now estimate) float64 {
	if now.blocks == 0 {
		return 0
	}
	var by Shifts
	by[i] = now.middle
	return valuesOf(e.names, e.Values).moved(by)[i]
}
