package judge

import (
	"math"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

const (
	// likeWork is how many times larger or smaller, and how many times more, the I/Os of two drives may be for
	// their latencies to be compared.
	likeWork = 2.0
	// hardlyAny is the share of a drive's work below which one kind of it does not count.
	hardlyAny = 0.05
	// mostBusy bounds the utilisation that a queue is reckoned from.
	mostBusy = 0.98
)

// explains is how much slower than another drive a drive may be because of its work, by the latency of
// its reads (0) or writes (1). It is false where their work is not alike: the drive does more of
// either kind than twice as much, or its I/Os are of another size. What it does less says nothing:
// a slower drive gets less. How many are in flight is no work, it is what the slowness comes to (Little's law).
// What nobody knows, the size or the rate, decides nothing.
func explains(mine, theirs drift.Measured, i int) (drift.Shift, bool) {
	if !mine.Work.Known || !theirs.Work.Known {
		return 0, true
	}
	larger := 1.0
	if a, b := mine.Work.Size(i), theirs.Work.Size(i); a > 0 && b > 0 {
		if larger = a / b; larger > likeWork || larger < 1/likeWork {
			return 0, false
		}
	}
	more := 1.0
	a, b := mine.Work, theirs.Work
	for _, kind := range []struct{ mine, all, theirs float64 }{
		{a.Reads, a.Reads + a.Writes, b.Reads},
		{a.Writes, a.Reads + a.Writes, b.Writes},
		{a.ReadBytes, a.ReadBytes + a.WrittenBytes, b.ReadBytes},
		{a.WrittenBytes, a.ReadBytes + a.WrittenBytes, b.WrittenBytes},
	} {
		if kind.mine <= hardlyAny*kind.all {
			continue
		}
		if kind.mine > likeWork*kind.theirs {
			return 0, false
		}
		more = max(more, kind.mine/kind.theirs)
	}
	return drift.ShiftOf(max(1, larger)) + queue(theirs.Utilisation, more), true
}

// queue is how much slower a drive of some utilisation is at most that does so many times more: waiting times
// grow like 1/(1-u), and -ln(1-u) is the work.
func queue(utilisation, more float64) drift.Shift {
	if utilisation <= 0 || more <= 1 {
		return 0
	}
	free := 1 - min(mostBusy, utilisation)
	return drift.ShiftOf(math.Pow(free, 1-more))
}
