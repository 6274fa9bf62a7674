package judge

import (
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Of three drives, the two that agree show what the host does. Of two, either may be the sick one: the host's part is
// what both do.

// isPair reports whether two drives at most tell what the host does.
func (g *group) isPair() bool { return g.quorum == minVoters }

// stays returns how much slower by statistic i the host is at most, while nothing shows that it is well again; 0 if it is not
// slower.
func (g *group) stays(i int) drift.Shift {
	if !judgesHost(g.name, i) {
		i = 0 // a slow host makes tails slower, too
	}
	if g.host == nil || g.host.StateOf(i) != record.Regressed {
		return 0
	}
	return g.anchor[i] + g.slower[i]
}

// left returns how much of mine, by which a drive is slower, the host did last, where too few others tell what it does now. Until
// that is over, the drive is not blamed for it. Those of the others that are measured may show that it is over.
func (g *group) left(i int, others []drift.Shift, mine drift.Shift) drift.Shift {
	host := g.stays(i)
	if host <= 0 || !mine.Known() || len(g.voters) > 1 && g.name == Traffic && !judgesHost(g.name, i) { // a flush does not follow the host
		return drift.Missing
	}
	if len(others) > 0 {
		host = min(host, lowerMedian(others))
	}
	return min(mine, host)
}

// inCommon returns what a drive has in common with the other one of its pair, which is slower by theirs. Within the host's
// noise that is all of theirs. Beyond, it is no more than mine, by which this one is slower: a sick drive makes the other
// one no faster. While a drive learns its first baseline, mine is not known.
func (g *group) inCommon(i int, theirs, mine drift.Shift) drift.Shift {
	noise := g.anchor[i] + g.slower[i]
	if theirs <= noise || !mine.Known() {
		return theirs
	}
	return max(noise, min(theirs, mine))
}
