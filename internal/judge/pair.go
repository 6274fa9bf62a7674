package judge

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Of three drives, the two that agree show what the host does. Of two, either may be the sick one: the host's part is
// what both do, and what one alone has done for long belongs to that one.

// isPair reports whether two drives at most tell what the host does.
func (g *group) isPair() bool { return g.quorum == minVoters }

// lasts returns for how long a host must be slower, if no conditions changed, to be reported. The spells of two drives that
// collect garbage coincide for minutes.
func (g *group) lasts() time.Duration {
	if g.isPair() {
		return tailLasts
	}
	return 0
}

// alone returns how much slower a drive has been by statistic i, in a slot, for longer than a host takes to make two drives
// slower; 0 when it has not. What it has become faster by does not count: on a host that wanders, that is the host's.
func (s *source) alone(i int, slot int64) drift.Shift {
	if i >= len(s.tracker.Statistics()) || s.tracker.StateOf(i) != record.Regressed {
		return 0
	}
	onset := s.tracker.Onset(i)
	if drift.SlotTime(slot).Sub(onset) < together || s.group.slowerSince(i, onset) {
		return 0
	}
	by, blocks := s.tracker.ShiftSince(i, onset) // not DriftOf: it asks what the other one does during the block under way
	if blocks == 0 || by < drift.ShiftOf(toldOfHost) {
		return 0
	}
	return by
}

// slowerSince reports whether the host is slower by statistic i since about an onset.
func (g *group) slowerSince(i int, onset time.Time) bool {
	return g.host != nil && judgesHost(g.name, i) && g.host.StateOf(i) == record.Regressed && g.host.Onset(i).Sub(onset).Abs() <= together
}

// shared returns how much of x, by which the drive was slower in a slot, the host may have done. Of a pair, that leaves out
// what one drive has done alone, but for what the host does already: when the sick one recovers, the host has not. It is Missing
// when both have: then nobody can tell what is whose.
func (s *source) shared(i int, slot int64, x drift.Shift) drift.Shift {
	if x = s.onSlowHost(i, x); !s.group.isPair() || !x.Known() {
		return x
	}
	switch alone, host := s.alone(i, slot), s.group.stays(i); {
	case alone == 0:
		return x
	case host > 0:
		return max(x-alone, min(x, host))
	case slices.ContainsFunc(s.group.voters, func(o *source) bool { return !s.isSame(o) && o.alone(i, slot) > 0 }):
		return drift.Missing
	default:
		return x - max(0, min(x, alone))
	}
}

// onSlowHost returns x, by which the drive was slower than its baseline, as if that had been learned on a host as fast as usual.
func (s *source) onSlowHost(i int, x drift.Shift) drift.Shift {
	by := s.tracker.LearnedBeside(i)
	// Hardly any drive learned beside a slow host. For the others, a logarithm would be most of what it takes to ask them.
	if by > 0 && x.Known() && by >= drift.ShiftOf(toldOfHost) {
		return x + by
	}
	return x
}

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

// left returns how much of mine, by which the only drive that is left is slower, the host did last. Until that is over, the
// drive is not blamed for it.
func (g *group) left(i int, mine drift.Shift) drift.Shift {
	host := g.stays(i)
	if len(g.voters) != 1 || host <= 0 || !mine.Known() {
		return drift.Missing
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
