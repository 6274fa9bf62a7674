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

// moreWork is how many times larger than those of another drive the reads (0) or writes (1) of a drive are, and how many
// times more it does, at least 1. It is false where their work is not alike: the drive does more of
// either kind than twice as much, or its I/Os are of another size. What it does less says nothing:
// a slower drive gets less. How many are in flight is no work, it is what the slowness comes to (Little's law).
// What nobody knows, the size or the rate, decides nothing.
func moreWork(mine, theirs drift.Work, i int) (larger, more float64, ok bool) {
	larger, more = 1, 1
	if !mine.Known || !theirs.Known {
		return larger, more, true
	}
	if a, b := mine.Size(i), theirs.Size(i); a > 0 && b > 0 {
		if larger = a / b; larger > likeWork || larger < 1/likeWork {
			return 0, 0, false
		}
	}
	for _, kind := range [...]struct{ mine, all, theirs float64 }{
		{mine.Reads, mine.Reads + mine.Writes, theirs.Reads},
		{mine.Writes, mine.Reads + mine.Writes, theirs.Writes},
		{mine.ReadBytes, mine.ReadBytes + mine.WrittenBytes, theirs.ReadBytes},
		{mine.WrittenBytes, mine.ReadBytes + mine.WrittenBytes, theirs.WrittenBytes},
	} {
		if kind.mine <= hardlyAny*kind.all {
			continue
		}
		if kind.mine > likeWork*kind.theirs {
			return 0, 0, false
		}
		more = max(more, kind.mine/kind.theirs)
	}
	return max(1, larger), more, true
}

// explains is how much slower than another drive of some utilisation a drive may be at most because of its
// work: larger I/Os take as many times longer.
func explains(larger, more, utilisation float64) drift.Shift {
	return drift.ShiftOf(larger) + queue(utilisation, more)
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
