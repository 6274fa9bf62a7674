package judge

import (
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Of three drives, the two that agree show what the host does. Of two, either may be the sick one: the host's part is
// what both do, and what one alone has done for long belongs to that one.

// isPair reports whether the group has two drives.
func (g *group) isPair() bool { return g.quorum == minVoters }

// alone returns how much slower a drive has been by statistic i, in a slot, for longer than a host takes to make two drives
// slower; 0 when it has not.
func (s *source) alone(i int, slot int64) drift.Shift {
	if i >= len(s.tracker.Statistics()) || s.tracker.StateOf(i) != record.Regressed {
		return 0
	}
	mine := s.tracker.DriftOf(i)
	if mine.Ratio < toldOfHost || drift.SlotTime(slot).Sub(mine.Since) < together || s.group.slowerSince(i, mine) {
		return 0
	}
	return drift.ShiftOf(mine.Ratio)
}

// slowerSince reports whether the host is slower by statistic i since about the onset of a drift.
func (g *group) slowerSince(i int, x record.Drift) bool {
	return g.host != nil && judgesHost(g.name, i) && g.host.StateOf(i) == record.Regressed &&
		g.host.DriftOf(i).Since.Sub(x.Since).Abs() <= together
}

// shared returns how much of x, by which the drive was slower in a slot, the host may have done. Of a pair, that leaves out
// what one drive has done alone. It is Missing when both have: then nobody can tell what is whose.
func (s *source) shared(i int, slot int64, x drift.Shift) drift.Shift {
	if !s.group.isPair() || !x.Known() {
		return x
	}
	alone := s.alone(i, slot)
	if alone > 0 && slices.ContainsFunc(s.group.voters, func(o *source) bool { return !s.isSame(o) && o.alone(i, slot) > 0 }) {
		return drift.Missing
	}
	return x - max(0, min(x, alone))
}

// inCommon returns what a drive has in common with the other one of its pair, which is slower by theirs. Within the host's
// noise that is all of theirs. Beyond, it is no more than mine, by which this one is slower: a sick drive makes the other
// one no faster. While a drive learns its baseline, mine is not known.
func (g *group) inCommon(i int, theirs, mine drift.Shift) drift.Shift {
	noise := g.anchor[i] + g.slower[i]
	if theirs <= noise || !mine.Known() {
		return theirs
	}
	return max(noise, min(theirs, mine))
}
