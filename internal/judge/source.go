package judge

import (
	"iter"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// source is one source of what is known of a drive, a probe or its traffic, with its last day.
type source struct {
	name    string
	drive   *drive
	group   *group
	tracker *drift.Tracker

	// day has how much slower than the baseline each block of the last day was, the host's part included. slots has
	// the slot of each block.
	day   [dayBlocks]drift.Shifts
	slots [dayBlocks]int64
	last  time.Time // time of the last round
	// before is the last round before the last gap between rounds, after which they went on at resumed.
	before, resumed time.Time
	// asked is the last block of which the others have asked what the host may have done in it; see sharedIn.
	asked struct {
		slot   int64
		shared drift.Shifts
	}
	// paused is the last time for which no rounds were planned.
	paused span
	// block is the last completed block. absolute is how slow it was by the first statistics (see levelsBy), against
	// one second, and levels compares that with the peers.
	block    drift.Measured
	absolute [3]drift.Shift
	levels   [3]level
}

// took notes the time of the last round.
func (s *source) took(last time.Time) {
	if !s.last.IsZero() && last.Sub(s.last) > s.lately() {
		s.before, s.resumed = s.last, last
	}
	s.last = last
}

// note stores a block of the last day.
func (s *source) note(slot int64, x drift.Shifts) {
	s.day[slot%dayBlocks], s.slots[slot%dayBlocks] = x, slot
}

// in returns a block of the last day; Missing when there was none. After a gap, older ones are still there, but are not stored.
func (s *source) in(slot int64) drift.Shifts {
	if slot < 0 || slot <= s.block.Slot-dayBlocks || s.slots[slot%dayBlocks] != slot {
		return drift.Unmeasured()
	}
	return s.day[slot%dayBlocks]
}

// at returns a statistic of a block of the last day; Missing when there was none.
func (s *source) at(slot int64, statistic int) drift.Shift { return s.in(slot)[statistic] }

// clockSetBack forgets the blocks from a slot on, which lie in the future now. The last one was measured just before that.
func (s *source) clockSetBack(slot int64) {
	for i, at := range &s.slots {
		if at >= slot {
			s.slots[i] = 0
		}
	}
	s.block.Slot = slot - 1
	for i := range s.levels {
		s.levels[i].judged = min(s.levels[i].judged, s.block.Slot)
	}
}

// At implements drift.Host.
func (s *source) At(slot int64) drift.Shifts {
	return s.orTraffic(s.others(func(o *source) (did, shared drift.Shifts) { return o.in(slot), o.sharedIn(slot) }), func(t *source) drift.Shifts {
		var reads []drift.Shift
		for k := range s.tracker.Slots() { // blocks of traffic are short
			if x := t.At(slot + k)[0]; x.Known() {
				reads = append(reads, x)
			}
		}
		if len(reads) == 0 {
			return drift.Unmeasured()
		}
		return drift.Shifts{lowerMedian(reads)}
	})
}

// Now implements drift.Host.
func (s *source) Now(since time.Time) drift.Shifts {
	did := s.others(func(o *source) (did, shared drift.Shifts) {
		did = o.tracker.LastShifts(since)
		return did, o.sharedOf(drift.Slot(since), did)
	})
	return s.orTraffic(did, func(t *source) drift.Shifts { return t.Now(since) })
}

// orTraffic returns what the others did by this source. Where too few of them were probed, as when the host makes
// them too busy for rounds, it returns what their reads did.
func (s *source) orTraffic(did drift.Shifts, of func(*source) drift.Shifts) drift.Shifts {
	if t := s.drive.traffic(); t != nil && t != s && !did[0].Known() {
		reads := of(t)[0]
		return drift.Shifts{reads, reads, reads, reads}
	}
	return did
}

// traffic returns the source of the drive's own traffic; nil when there is none.
func (d *drive) traffic() *source {
	for _, s := range d.sources {
		if s.name == Traffic {
			return s
		}
	}
	return nil
}

// sharedOf is shared for all statistics; Missing where x is.
func (s *source) sharedOf(slot int64, x drift.Shifts) drift.Shifts {
	for i := range x {
		if x[i].Known() {
			x[i] = s.shared(i, slot, x[i])
		}
	}
	return x
}

// sharedIn is sharedOf for a block of the last day. While the node settles, all others ask for that of the same block, mostly: it is
// kept until one asks for that of another block.
func (s *source) sharedIn(slot int64) drift.Shifts {
	if !s.group.settling {
		return s.sharedOf(slot, s.in(slot))
	}
	if s.asked.slot != slot {
		s.asked.slot, s.asked.shared = slot, s.sharedOf(slot, s.in(slot))
	}
	return s.asked.shared
}

// others returns the median of what the other drives did, by statistic; Missing where it is known of too few. shared is the part of
// what one did that the host may have done.
func (s *source) others(of func(*source) (did, shared drift.Shifts)) drift.Shifts {
	out := drift.Unmeasured()
	var values [len(out)][]drift.Shift
	for i := range values {
		values[i] = make([]drift.Shift, 0, len(s.group.voters))
	}
	for _, o := range s.group.voters {
		if s.isSame(o) {
			continue
		}
		did, shared := of(o)
		for i, x := range did {
			if x.Known() {
				values[i] = append(values[i], shared[i])
			}
		}
	}
	var own *drift.Shifts // of few drives only
	mine := func(i int) drift.Shift {
		if own == nil {
			_, shared := of(s)
			own = &shared
		}
		return own[i]
	}
	for i, theirs := range values {
		switch {
		case len(theirs) < s.group.quorum-1:
			out[i] = s.group.left(i, theirs, mine(i))
		case s.group.isPair() && len(theirs) < minVoters: // with more, the two are others of a third drive, and neither is this one
			out[i] = s.group.inCommon(i, lowerMedian(theirs), mine(i))
		default:
			out[i] = lowerMedian(theirs)
		}
	}
	return out
}

// index returns the index of the statistic of a drift of this source.
func (s *source) index(x record.Drift) int { return slices.Index(s.tracker.Statistics(), x.Statistic) }

// peers yields the same source of the other drives of its model and size.
func (s *source) peers() iter.Seq[*source] {
	return func(yield func(*source) bool) {
		for _, o := range s.group.alike[s.drive.kind()] {
			if !s.isSame(o) && !yield(o) {
				return
			}
		}
	}
}

// isSame reports whether o belongs to the same physical drive.
func (s *source) isSame(o *source) bool { return s.drive.physical == o.drive.physical }

// Part implements drift.Host.
func (s *source) Part(i int, others drift.Shift) drift.Shift { return s.group.part(i, others) }

// measuredYesterday reports whether each block of the hour that followed this time yesterday was measured. Those are
// the oldest blocks that are still kept.
func (s *source) measuredYesterday(slot int64) bool {
	slots := s.tracker.Slots()
	for k := range max(recently, slots) {
		if at := slot - dayBlocks + 1 + k; at%slots == 0 && !s.at(at, 0).Known() {
			return false
		}
	}
	return true
}

// yesterday returns how much slower statistic i was in the hour that followed this time yesterday; Missing when that
// is unknown.
func (s *source) yesterday(i int, slot int64) drift.Shift {
	return s.between(i, slot-dayBlocks+1, slot-dayBlocks+recently)
}

// between returns the median of statistic i in the blocks of the last day that began from one slot to another; Missing when
// there are none.
func (s *source) between(i int, first, last int64) drift.Shift {
	var values []drift.Shift
	for slot := first; slot <= last; slot++ {
		if x := s.at(slot, i); x.Known() {
			values = append(values, x)
		}
	}
	if len(values) == 0 {
		return drift.Missing
	}
	return lowerMedian(values)
}

// ExpectedOfOtherIO implements drift.Host.
func (s *source) ExpectedOfOtherIO(slot int64) drift.Shift {
	most := drift.Shift(0)
	if s.measuredYesterday(slot) {
		return most // the source has an expectation of its own
	}
	for _, o := range s.drive.sources {
		if o != s {
			most = max(most, o.tracker.Expected(0, slot))
		}
	}
	return most
}

// Expected implements drift.Host. The effect of the host on tails is not known separately; that on the median counts.
// Its effect on rounds is not known where they are refused; that on traffic counts, too.
func (s *source) Expected(i int, slot int64) drift.Shift {
	if !judgesHost(s.name, i) {
		i = 0
	}
	most := drift.Shift(0)
	if s.group.host != nil {
		most = s.group.host.Expected(i, slot)
	}
	if t := s.drive.traffic(); t != nil && t != s && t.group.host != nil {
		most = max(most, t.group.host.Expected(0, slot))
	}
	return most
}

// lowerMedian returns the median; of an even number of values, the lower of the two in the middle. Then one sick
// drive of two others says nothing about the host. It sorts values.
func lowerMedian(values []drift.Shift) drift.Shift {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}
