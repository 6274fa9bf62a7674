package judge

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// What a drive alone has done for long belongs to that drive: it is no part of what the host does. Otherwise the median of a node
// with as many sick drives as sound ones would be that of a sound one that happens to be slow just then, or of a sick one.

// alone returns how much slower a drive has been by statistic i, in a slot, for longer than a host takes to make its drives
// slower; 0 when it has not. What it has become faster by does not count: on a host that wanders, that is the host's.
func (s *source) alone(i int, slot int64) drift.Shift {
	if i >= len(s.tracker.Statistics()) || s.tracker.StateOf(i) != record.Regressed {
		return 0
	}
	onset := s.tracker.Onset(i)
	if drift.SlotTime(slot).Sub(onset) < together || s.group.slowerSince(i, onset) {
		return 0
	}
	by, blocks := s.tracker.ShiftSince(i, onset) // not Shift: that asks what the other one does during the block under way
	if blocks == 0 || by < drift.ShiftOf(toldOfHost) {
		return 0
	}
	return by
}

// slowerSince reports whether the host is slower by statistic i since about an onset.
func (g *group) slowerSince(i int, onset time.Time) bool {
	return g.host != nil && judgesHost(g.name, i) && g.host.StateOf(i) == record.Regressed && g.host.Onset(i).Sub(onset).Abs() <= together
}

// shared returns how much of x, by which the drive was slower in a slot, the host may have done. That leaves out what the drive
// has done alone, but for what the host does already: when the sick one recovers, the host has not. It is Missing when both
// drives of a pair have: then nobody can tell what is whose.
func (s *source) shared(i int, slot int64, x drift.Shift) drift.Shift {
	if x = s.onSlowHost(i, x); !x.Known() {
		return x
	}
	alone := s.alone(i, slot)
	if alone == 0 { // as of nearly all drives
		return x
	}
	switch host := s.group.stays(i); {
	case host > 0:
		return max(x-alone, min(x, host))
	case s.group.isPair() && slices.ContainsFunc(s.group.voters, func(o *source) bool { return !s.isSame(o) && o.alone(i, slot) > 0 }):
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
