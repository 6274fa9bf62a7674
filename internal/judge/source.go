package judge

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

// source is one source of what is known of a drive, with its last day.
type source struct {
	name    string
	drive   *drive
	group   *group
	tracker *drift.Tracker

	// day has how much slower each block of the last day was than the baseline, the host's part
	// included, by the slot.
	day   [dayBlocks]drift.Shifts
	slots [dayBlocks]int64
	last  time.Time // of the last round
	peers []*source // of the other drives of its model and size
	// block is the last that is over, absolute how slow it was by the first statistics, against one second,
	// and levels what that says beside the peers, by levelsBy.
	block    drift.Measured
	absolute [3]drift.Shift
	levels   [3]level
}

// note keeps a block of the last day.
func (s *source) note(slot int64, x drift.Shifts) {
	s.day[slot%dayBlocks], s.slots[slot%dayBlocks] = x, slot
}

// at returns a block of the last day; Missing when there was none.
func (s *source) at(slot int64, statistic int) drift.Shift {
	if slot < 0 || s.slots[slot%dayBlocks] != slot {
		return drift.Missing
	}
	return s.day[slot%dayBlocks][statistic]
}

// At implements drift.Host.
func (s *source) At(slot int64) drift.Shifts {
	return s.orTraffic(s.others(func(o *source, i int) drift.Shift { return o.at(slot, i) }), func(t *source) drift.Shifts {
		var reads []drift.Shift
		for k := range s.tracker.Slots() { // its blocks are short
			if x := t.At(slot + k)[0]; x.Known() {
				reads = append(reads, x)
			}
		}
		if len(reads) == 0 {
			return nothing()
		}
		return drift.Shifts{lowerMedian(reads)}
	})
}

// Now implements drift.Host.
func (s *source) Now(since time.Time) drift.Shifts {
	return s.orTraffic(s.others(func(o *source, i int) drift.Shift { return o.tracker.LastShift(i, since) }), func(t *source) drift.Shifts { return t.Now(since) })
}

// orTraffic is what the others did or, where too few of them were probed, as when the host makes them too busy for rounds,
// what their reads did.
func (s *source) orTraffic(did drift.Shifts, of func(*source) drift.Shifts) drift.Shifts {
	if t := s.drive.traffic(); t != nil && t != s && !did[0].Known() {
		reads := of(t)[0]
		return drift.Shifts{reads, reads, reads, reads}
	}
	return did
}

// traffic is the source of that name; nil when there is none.
func (d *drive) traffic() *source {
	for _, s := range d.sources {
		if s.name == Traffic {
			return s
		}
	}
	return nil
}

// others is the median of what the other drives did, by statistic; Missing where too few did.
func (s *source) others(did func(o *source, i int) drift.Shift) drift.Shifts {
	var out drift.Shifts
	values := make([]drift.Shift, 0, 32)
	for i := range out {
		out[i], values = drift.Missing, values[:0]
		for _, o := range s.group.voters {
			if x := did(o, i); x.Known() && !s.isSame(o) {
				values = append(values, x)
			}
		}
		if len(values) >= minOthers {
			out[i] = lowerMedian(values)
		}
	}
	return out
}

// isSame reports whether the other is of the same physical drive.
func (s *source) isSame(o *source) bool { return s.drive.physical == o.drive.physical }

// Off implements drift.Host.
func (s *source) Off(i int, others drift.Shift) drift.Shift { return s.group.part(i, others) }

// measuredYesterday reports whether there was each block of the hour after this time of yesterday, which are still kept.
func (s *source) measuredYesterday(slot int64) bool {
	slots := s.tracker.Slots()
	for k := range max(recently, slots) {
		if at := slot - dayBlocks + 1 + k; at%slots == 0 && !s.at(at, 0).Known() {
			return false
		}
	}
	return true
}

// yesterday is how much slower statistic i was in the hour after this time of yesterday; Missing when that is not known.
func (s *source) yesterday(i int, slot int64) drift.Shift {
	var values []drift.Shift
	for k := range int64(recently) {
		if x := s.at(slot-dayBlocks+1+k, i); x.Known() {
			values = append(values, x)
		}
	}
	if len(values) == 0 {
		return drift.Missing
	}
	return lowerMedian(values)
}

// OfDay implements drift.Host.
func (s *source) OfDay(slot int64) drift.Shift {
	most := drift.Shift(0)
	if s.measuredYesterday(slot) {
		return most // it has an expectation of its own
	}
	for _, o := range s.drive.sources {
		if o != s {
			most = max(most, o.tracker.Expected(0, slot))
		}
	}
	return most
}

// Expected implements drift.Host. What the host does to tails is not known by itself, and what it does to rounds not where
// they are refused.
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

// lowerMedian is the median, of an even number the lower of the two in the middle: of two
// others, one that is sick says nothing about the host.
func lowerMedian(values []drift.Shift) drift.Shift {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}
