package judge

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// witness returns the kind of I/O that a source looks at. Sources that look at the same I/O are one witness.
func (s *source) witness() string { return witnessOf(s.name) }

func witnessOf(source string) string {
	if source == Traffic {
		return record.WitnessTraffic
	}
	return record.WitnessProbes
}

// lately is the maximum age of the last round of a source that says something about now. Where rounds are rare, it is two
// of its blocks.
const lately = 15 * time.Minute

func (s *source) lately() time.Duration {
	return max(lately, 2*time.Duration(s.tracker.Slots())*drift.BlockLength)
}

// agrees is the ratio from which on a probe agrees that the traffic is slower because of the drive.
const agrees = 1.15

// probesAreFine reports whether a probe says that the drive has been about as fast as ever since the onset of what
// its users feel. Their I/O then takes longer because they do something else.
func (d *drive) probesAreFine(onset, now time.Time) bool {
	fine := false
	for _, s := range d.sources {
		if !s.isFinalProbe() || s.last.Before(onset) || !s.saysOf(d.traffic(), onset, now) {
			continue
		}
		if s.lastRoundsAreSlow(onset) {
			return false
		}
		fine = true
		for x := range s.tracker.Drifted() {
			if !x.Statistic.IsTail() && x.State == record.Regressed && x.Ratio >= agrees && !s.isBrief(x, now) {
				return false
			}
		}
	}
	return fine
}

// probesRefute reports whether probes say that drives have been about as fast as ever since the onset of what the users of all of
// them feel: then it is not the host, but what the users do. Most of those that say something must, and half of the drives, or as
// many as tell what the host does.
func (n *Node) probesRefute(g *group, drives []string, onset time.Time) bool {
	if g.name != Traffic {
		return false
	}
	fine, slow := 0, 0
	for _, id := range drives {
		d := n.byID[id]
		if d == nil {
			continue
		}
		switch x := d.probedSince(onset); {
		case !x.Known():
		case x >= drift.ShiftOf(agrees):
			slow++
		case d.probesAreFine(onset, n.now):
			fine++
		}
	}
	return fine >= min(enoughVoters, (len(drives)+1)/2) && fine > slow
}

// probedSince returns how much slower the probes of the drive were in their last hour since an onset, the host's part included;
// Missing when that is not known. The slowest one counts.
func (d *drive) probedSince(onset time.Time) drift.Shift {
	most := drift.Missing
	for _, s := range d.sources {
		first := max(drift.Slot(onset), s.block.Slot-recently) + 1 // part of the block of the onset is from before it
		if x := s.between(0, first, s.block.Slot); s.name != Traffic && x.Known() {
			most = max(most, x)
		}
	}
	return most
}

// probesAreSlow reports whether a probe has found that the drive is slower.
func (d *drive) probesAreSlow(now time.Time) bool {
	for _, s := range d.sources {
		for x := range s.tracker.Drifted() {
			if s.name != Traffic && x.State == record.Regressed && !isTail(x) && !s.isBrief(x, now) {
				return true
			}
		}
	}
	return false
}

// isBrief reports whether few slow I/Os explain a drift of IOPS that has not lasted for as long as a tail must. On the first day it
// is not known yet what is normal for a tail.
func (s *source) isBrief(x record.Drift, now time.Time) bool {
	return s.isOfFew(x) && (s.seen(x, now) < tailLasts || s.tracker.Maturity() != record.Final)
}

// probesAreFast reports whether the probes have been as fast as ever over the last hour. What the users of the drive felt
// before they turned to other work is over then.
func (d *drive) probesAreFast(now time.Time) bool {
	fast := false
	for _, s := range d.sources {
		if !s.isFinalProbe() {
			continue
		}
		for x := range s.tracker.Drifted() {
			if isSpeed(x.Statistic) && x.Ratio >= agrees {
				return false
			}
		}
		block := time.Duration(s.tracker.Slots()) * drift.BlockLength
		span := max(time.Hour, (refuted+1)*block)
		by, blocks := s.tracker.ShiftSince(0, now.Add(-span))
		fast = fast || by < drift.ShiftOf(agrees) && time.Duration(blocks+2)*block >= span // the last may not be over
	}
	return fast
}

const (
	// refuted is how many blocks since an onset a source must have compared for that to count after its last round.
	refuted = 3
	// grown is how much slower, as a ratio, something must have become since for that to count no longer.
	grown = 1.3
)

// saysOf reports whether s says something about what o sees since an onset. It does so while its rounds run. If it has
// seen for long enough since the onset that the drive is about as fast as ever, it goes on to do so as long as o sees no
// more than it did then. A drive that is too busy for rounds is not slower because of that. If neither had rounds for a time, s
// gets as long to say something again, and until then says what it said before.
func (s *source) saysOf(o *source, onset, now time.Time) bool {
	if o.resumed.After(s.last) && now.Sub(o.resumed) <= s.lately() {
		now = o.before
	}
	if now.Sub(s.last) <= s.lately() {
		return s.tracker.Known(now)
	}
	by, blocks := s.tracker.ShiftSince(0, onset)
	return blocks >= refuted && by < drift.ShiftOf(agrees) && o.isAsSlowAs(s.last)
}

// isAsSlowAs reports whether the source is no slower than it was at a time of the last day, or less than grown.
func (s *source) isAsSlowAs(at time.Time) bool {
	known, span := false, refuted*s.tracker.Slots()
	until := func(i int, slot int64) drift.Shift { return s.between(i, slot-span+1, slot) }
	for i := range s.speeds() {
		then, last := until(i, drift.Slot(at)), until(i, s.block.Slot)
		if then.Known() && last.Known() {
			known = true
			if last-then > drift.ShiftOf(grown) {
				return false
			}
		}
	}
	return known
}

// lastRoundsAreSlow reports whether the few rounds since an onset, of which there is no block yet, were far slower than the
// noise of the drive explains. The others may have been refused because the drive is so busy.
func (s *source) lastRoundsAreSlow(onset time.Time) bool {
	_, noise := s.tracker.Noise(0)
	_, blocks := s.tracker.ShiftSince(0, onset)
	x := s.tracker.LastShifts(onset)[0]
	return blocks == 0 && x.Known() && x >= max(drift.ShiftOf(beyondDoubt), noise+drift.ShiftOf(agrees))
}
