package judge

import (
	"math"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

const (
	// likeWork is how many times larger or smaller the I/Os of a drive may be, and how many times more, for its
	// latencies to be compared with those of another.
	likeWork = 2.0
	// hardlyAny is the share of a drive's I/Os or bytes up to which one kind of them does not count.
	hardlyAny = 0.05
	// mostBusy bounds the utilisation that queueing is computed from.
	mostBusy = 0.98
)

// moreWork returns how many times larger the reads (0) or writes (1) of a drive are than those of another, and how
// many times more work it does, both at least 1. It is false when their work is not alike: the drive does more than
// twice as much of either kind, or its I/Os are of another size. Doing less proves nothing, as a slower drive gets
// less work. The I/Os in flight are not compared, because a slower drive has more of them in flight (Little's law). A
// size or rate that is unknown decides nothing.
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

// explains returns how much slower than another drive of some utilisation a drive may be at most because of its work.
// Larger I/Os take longer in proportion to their size.
func explains(larger, more, utilisation float64) drift.Shift {
	return drift.ShiftOf(larger) + queue(utilisation, more)
}

// queue returns how much slower a drive is at most because it does more times the work of a drive of some utilisation
// u: waiting times grow like 1/(1-u), and the work is -ln(1-u).
func queue(utilisation, more float64) drift.Shift {
	if utilisation <= 0 || more <= 1 {
		return 0
	}
	free := 1 - min(mostBusy, utilisation)
	return drift.ShiftOf(math.Pow(free, 1-more))
}
