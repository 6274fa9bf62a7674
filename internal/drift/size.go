package drift

import "slices"

// otherSize is the factor by which I/Os must be larger or smaller than all that were seen to be of another kind. Then
// the size may explain a longer latency.
const otherSize = 1.5

// otherRate is the factor by which the rate of I/Os must exceed what was seen for them to be other work.
const otherRate = 2

// of returns the kind of I/O that statistic i of traffic depends on: reads (0) or writes (1). The latency of a flush
// depends on how much was written.
func (w work) of(i int) int { return min(i, 1) }

// size returns the mean size, in bytes, of the reads or writes of others that statistic i depends on; 0 when there
// were none or their size is not known.
func (w work) size(i int) int {
	k := w.of(i)
	if !w.Known || w.Rates[k] == 0 {
		return 0
	}
	return int(w.Rates[2+k]) * 1024 / int(w.Rates[k])
}

// rate returns the rate of the reads or writes that statistic i depends on, in I/Os a second, or in KiB where only those are known.
func (w work) rate(i int) int {
	k := w.of(i)
	if w.Rates[k] == 0 {
		k += 2
	}
	return int(w.Rates[k])
}

// rareSizes is the share, in percent, of the smallest and of the largest sizes that are left out of what was seen.
// oddSizes is that share where a few blocks of other work do not count.
const rareSizes, oddSizes = 2, 10

// learnSizes learns which sizes and rates of I/Os were seen, without the rarest.
func (n *norm) learnSizes(blocks []block, i, rare int) {
	sizes, rates := make([]int, 0, len(blocks)), make([]int, 0, len(blocks))
	var unsized []int
	for _, b := range blocks {
		size, rate := b.Work.size(i), b.Work.rate(i)
		switch {
		case size > 0:
			sizes, rates = append(sizes, size), append(rates, rate)
		case rate > 0:
			unsized = append(unsized, rate)
		}
	}
	slices.Sort(sizes)
	if len(sizes) > 0 {
		n.LeastSize, n.MostSize = sizes[len(sizes)*rare/100], sizes[(len(sizes)-1)*(100-rare)/100]
	} else {
		rates = unsized
	}
	slices.Sort(rates)
	if len(rates) > 0 {
		n.LeastRate, n.MostRate = rates[len(rates)*rare/100], rates[(len(rates)-1)*(100-rare)/100]
	}
}

// fewerIOs is the factor by which I/Os must be rarer than seen for their mean latency to vary twice as much.
const fewerIOs = 4

// fewIOs reports whether the I/Os of a block are so rare that their mean latency may be slow by chance in some rounds.
func (n *norm) fewIOs(w work, i int) bool {
	return w.Known && fewerIOs*w.rate(i) < n.LeastRate
}

// likeWork reports whether the I/Os of a block are of a size that was seen, and not far more. Fewer I/Os are no other
// work, as a slower device gets less work. Where no sizes are known, as in many recorded histories, the rate alone decides.
func (n *norm) likeWork(w work, i int) bool {
	compared := n.MostRate > 0 && (w.size(i) > 0) == (n.MostSize > 0)
	return n.likeSize(w, i) && (!compared || w.rate(i) <= otherRate*n.MostRate)
}

// likeSize reports whether the I/Os of a block are of a size that was seen.
func (n *norm) likeSize(w work, i int) bool {
	size := w.size(i)
	return size == 0 || n.MostSize == 0 || float64(size) <= otherSize*float64(n.MostSize) && otherSize*float64(size) >= float64(n.LeastSize)
}

// MixedSizes reports whether statistic i of traffic was learned from I/Os of sizes so far apart that the drive may only do
// more of the larger ones when it looks slower. Kinds of work that take turns are all learned, but not apart.
func (t *Tracker) MixedSizes(i int) bool {
	if t.Maturity() == "" || !t.traffic() {
		return false
	}
	n := &t.current().Baseline.Of[i]
	return float64(n.MostSize) > otherSize*otherSize*float64(n.LeastSize)
}

// likeWork reports whether reads and writes of others are of a kind that was seen.
func (b *baseline) likeWork(w work) bool { return b.Of[0].likeWork(w, 0) && b.Of[1].likeWork(w, 1) }

// otherWork reports whether most blocks have I/Os of another kind than were seen.
func (n *norm) otherWork(blocks []block, i int) bool {
	others := 0
	for _, b := range blocks {
		if !n.likeWork(b.Work, i) {
			others++
		}
	}
	return 2*others > len(blocks)
}

// atMost returns how much slower statistic i of a block of traffic may be than in the blocks gathered since a regression began with
// I/Os like these and no more of them, without the lowest tenth. More I/Os are not faster than fewer, but for what was not learned of
// them: they may be sequential, or a little smaller. It is missing if there are too few blocks. The regression was taken off them. It
// was not taken off those from before: they may be as slow, as nobody could tell.
func (e *epoch) atMost(b block, i int, since int64) Shift {
	levels := levelsLike(e.Blocks, b, i, func(o block) bool {
		return o.Slot >= since && o.Work.Rates[0] <= b.Work.Rates[0] && o.Work.Rates[1] <= b.Work.Rates[1]
	})
	if len(levels) < otherWorkBlocks || !b.Level[i].Known() {
		return missing
	}
	return b.Level[i] - quantile(levels, 0.1) + ShiftOf(doubted)
}

// levelsLike returns the levels of statistic i, in rising order, in those blocks that have I/Os of the size of those in b.
func levelsLike(blocks []block, b block, i int, which func(block) bool) []Shift {
	var levels []Shift
	for _, o := range blocks {
		n := norm{LeastSize: o.Work.size(i), MostSize: o.Work.size(i)}
		if o.Level[i].Known() && n.likeSize(b.Work, i) && which(o) {
			levels = append(levels, o.Level[i])
		}
	}
	slices.Sort(levels)
	return levels
}

const (
	// failedBy is how many times slower a device must have become to have failed while other work is learned.
	failedBy = 2
	// failedBlocks is for how many blocks: two hours. What takes less time may be a job of the new users.
	failedBlocks = provisionalBlocks
)

// failed reports whether a device has failed while other work is learned from its traffic. A day with both would make both normal. In
// each of the last blocks, I/Os took far longer than in most blocks before that are like it: they have I/Os of the same size, no
// more load, and hardly less work. A device that is less busy may only be asleep.
func (e *epoch) failed() bool {
	at := len(e.Blocks) - failedBlocks
	if !isTraffic(e.names) || at < 0 {
		return false
	}
	before, since := e.Blocks[:at], e.Blocks[at:]
	return slices.ContainsFunc([]int{0, 1}, func(i int) bool {
		if len(has(before, i)) < provisionalBlocks || !e.Baseline.Of[i].otherWork(before, i) {
			return false
		}
		return !slices.ContainsFunc(since, func(b block) bool {
			mine := usualCosts().time(b.Work)
			levels := levelsLike(before, b, i, func(o block) bool { return o.Load <= b.Load && usualCosts().time(o.Work) >= mine/muchLikeWork })
			return len(levels) < otherWorkBlocks || b.Level[i] < quantile(levels, 0.9)+ShiftOf(failedBy)
		})
	})
}

// otherWorkBlocks is for how many blocks in a row others must do other work before it is learned: an hour.
const otherWorkBlocks = 12

// otherWorkStays counts blocks of other work in a row, and reports whether there are otherWorkBlocks.
func (e *epoch) otherWorkStays(b block) bool {
	if e.Baseline.likeWork(b.Work) {
		e.OtherWork = 0
		return false
	}
	e.OtherWork++
	return e.OtherWork >= otherWorkBlocks
}

// forgetOtherSizes drops all gathered blocks but those of the last hour if the I/Os of that hour are of sizes that were not
// seen before. Such I/Os take longer or shorter under any load. A load curve through blocks of both kinds would have a
// step where one kind ends and the other begins. Work of sizes that were dropped before is not dropped again: kinds of work
// that take turns are all learned.
func (e *epoch) forgetOtherSizes() {
	if len(e.Blocks) <= otherWorkBlocks || len(e.Dropped) == mostDropped {
		return
	}
	before, last := e.Blocks[:len(e.Blocks)-otherWorkBlocks], e.Blocks[len(e.Blocks)-otherWorkBlocks:]
	var usual sizes
	for i := range usual {
		var n norm
		n.learnSizes(before, i, oddSizes)
		usual[i] = [2]int{n.LeastSize, n.MostSize}
	}
	for _, known := range append([]sizes{usual}, e.Dropped...) {
		if slices.ContainsFunc(last, known.have) {
			return
		}
	}
	e.Blocks, e.Dropped = slices.Clone(last), append(e.Dropped, usual)
}

// sizes are the least and the most size of reads and of writes, in bytes; 0 when not known.
type sizes [2][2]int

// mostDropped is how many kinds of work may be dropped while a baseline is learned.
const mostDropped = 4

// have reports whether the I/Os of a block are of these sizes.
func (s sizes) have(b block) bool {
	for i, x := range s {
		if n := (norm{LeastSize: x[0], MostSize: x[1]}); !n.likeSize(b.Work, i) {
			return false
		}
	}
	return true
}

// learnAgain makes the epoch learn within a day what others' work takes now, as after a change of conditions. The
// level stays, except that of traffic, which has none yet for such work.
func (e *epoch) learnAgain() {
	e.OtherWork, e.Inherited, e.Chained, e.Moved = 0, true, true, [statistics]bool{}
	e.Blocks, e.Beyond, e.Late, e.Dropped = nil, nil, nil, nil
}
