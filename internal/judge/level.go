package judge

import (
	"math/bits"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// minPeers is how many drives of the same model and size it takes to know their level for a verdict. A probe is
	// compared with fewer, and that is a finding only.
	minPeers = 3
	// farSpread is how many times the median absolute deviation of the peers is far from them, if that is
	// more than the ratios of far.
	farSpread = 6
	// levelBlocks are the blocks that say whether a drive is far slower, those of two hours, and
	// farBlocks how many of them have to.
	levelBlocks, farBlocks = 24, 18
	// reach is within how many slots of each other drives are compared, if their blocks do not take longer.
	reach = 6
)

// far is from how many times slower on statistic i of a source is far slower than that of the peers. Drives of a
// model differ by a few percent in the median; tails depend more on what else a drive does. Traffic says
// less, and still less where nobody knows the size of its I/Os; so do one or two peers.
func (s *source) far(i, peers int, sized bool) float64 {
	switch {
	case s.name != Traffic && statisticsOf(s.name)[i].IsTail():
		return 2
	case s.name != Traffic && peers >= minPeers:
		return 1.25
	case s.name != Traffic:
		return 1.3
	case sized:
		return 1.35
	}
	return 1.5
}

// levelsBy is by how many of its first statistics the levels of a source are compared: the latencies of a probe; reads
// and writes of traffic, as what a flush takes is what there is to flush.
func levelsBy(source string) int {
	if source == Traffic {
		return 2
	}
	return 3
}

// leastPeers is with how many peers a source is compared.
func leastPeers(source string) int {
	if source == Traffic {
		return minPeers
	}
	return 1
}

// level compares how fast a drive is with its peers by one statistic, whatever its past.
type level struct {
	// recent has a bit for each of the last blocks that were compared, the last one lowest: whether it was far slower.
	recent uint32
	since  int64 // slot of the first far one
	judged int64 // the last slot that was compared
	found  bool
	shift  drift.Shift // in the last far one
	peers  int         // with how many it was compared
	now    standing
	// past says that the drive was slower than its own past, too, while it was found.
	past bool
	// accepted is what somebody took as normal; nil when nobody did. below is for how many blocks in a row the drive
	// has been nearer to its peers than to that.
	accepted *AcceptedLevel
	below    int
}

// standing is where a drive was among its peers in a block.
type standing struct {
	shift drift.Shift // against the median of the peers
	far   drift.Shift // from where on it is far slower
	peers []string    // with whom it was compared
	place int         // how many of them were faster
	why   string      // it was not compared; empty when it was
}

// Why a level is not judged.
const (
	notMeasured = "too little was measured lately"
	fewPeers    = "too few other drives of its model and size on the node are measured"
	noLikeWork  = "no peer with like work"
)

// beside says where the drive stands among its peers by statistic i, in their last blocks before a slot.
func (s *source) beside(i int, slot int64) standing {
	if !s.measuredBy(i, slot) {
		return standing{why: s.whyUnmeasured()}
	}
	st := standing{peers: make([]string, 0, len(s.peers))}
	values := make([]drift.Shift, 0, len(s.peers))
	known, sized := 0, true
	for _, o := range s.peers {
		if !o.measuredBy(i, slot) {
			continue
		}
		known++
		x, ok := s.slowerThan(o, i)
		if !ok {
			continue
		}
		values, st.peers = append(values, x), append(st.peers, o.drive.ID)
		sized = sized && o.block.Work.Size(i) > 0
		if x > 0 {
			st.place++
		}
	}
	switch {
	case known < leastPeers(s.name):
		return standing{why: fewPeers}
	case len(values) < leastPeers(s.name):
		return standing{why: noLikeWork}
	}
	st.shift = lowerMedian(values) // of two in the middle, the slower peer counts
	for k := range values {
		if values[k] -= st.shift; values[k] < 0 {
			values[k] = -values[k]
		}
	}
	st.far = max(drift.ShiftOf(s.far(i, len(values), sized)), farSpread*lowerMedian(values))
	return st
}

// measuredBy reports whether statistic i of the drive is known of a block that is not older than reach.
func (s *source) measuredBy(i int, slot int64) bool {
	return slot-s.block.Slot < max(reach, 2*s.tracker.Slots()) && slot >= s.block.Slot && s.absolute[i].Known()
}

// measured takes the last block that is over.
func (s *source) measured(m drift.Measured) {
	s.block = m
	for i := range levelsBy(s.name) {
		s.absolute[i] = s.absoluteOf(i)
	}
}

// absoluteOf is the level of the last block by statistic i: that of traffic as it was, that of a probe
// without its load.
func (s *source) absoluteOf(i int) drift.Shift {
	if s.name == Traffic {
		return s.block.Levels[i]
	}
	base, x := s.tracker.Level(i), s.at(s.block.Slot, i)
	if !base.Known() || !x.Known() {
		return drift.Missing
	}
	return min(base+x, s.block.Levels[i]) // a curve that was learned under much else may say that load makes a drive faster
}

// slowerThan is how much slower than another drive this one was, beyond what its work explains; false where their
// work is not alike.
func (s *source) slowerThan(o *source, i int) (drift.Shift, bool) {
	x := s.absolute[i] - o.absolute[i]
	if s.name != Traffic {
		return x, true
	}
	larger, more, ok := moreWork(s.block.Work, o.block.Work, i)
	if ok && x > 0 {
		x -= explains(larger, more, o.block.Utilisation)
	}
	return x, ok
}

// hasPeers reports whether there are enough drives to be compared with, whether they are measured now or not.
func (s *source) hasPeers() bool { return len(s.peers) >= leastPeers(s.name) }

// whyUnmeasured says why the level of a drive that has not been measured lately is not judged: without peers, more
// measuring would change nothing.
func (s *source) whyUnmeasured() string {
	if !s.hasPeers() {
		return fewPeers
	}
	return notMeasured
}

// judgeLevels judges the levels beside the peers in the blocks that are over before the end of a slot.
func (s *source) judgeLevels(slot int64) {
	for i := range levelsBy(s.name) {
		l := &s.levels[i]
		l.now = s.beside(i, slot)
		state := s.tracker.StateOf(i)
		l.past = l.found && (l.past || state == record.Regressed)
		if l.now.why != "" || s.block.Slot == l.judged {
			slots := s.tracker.Slots()
			if slot-l.judged >= max(levelBlocks, 3*slots) && (!l.found || !s.hasPeers()) {
				*l = level{now: l.now, accepted: l.accepted} // it is too long ago, or there is nobody to be slower than
			}
			if l.now.why != "" && l.past && (state == record.Stable || state == record.Improved) {
				*l = level{now: l.now, accepted: l.accepted} // it ended as it began
			}
			if gap := slot - l.judged; l.found && l.recent&1 == 0 && gap >= 2*slots && gap%slots == 0 {
				l.count(false, l.judged) // what was no longer so when it was last compared is not so
			}
			continue
		}
		l.judged = s.block.Slot
		if !l.found || len(l.now.peers) > l.peers { // what was found with many stands beside few
			l.peers = len(l.now.peers)
		}
		l.add(s.block.Slot)
	}
}

// add takes a block that was compared.
func (l *level) add(slot int64) {
	l.outgrow()
	limit := l.now.far
	if l.found {
		limit /= 2 // a level that comes and goes at the limit is told once
	}
	far := l.now.shift-l.taken() > limit
	if far {
		l.shift = l.now.shift
	}
	l.count(far, slot)
}

// count finds a level, or ends it, by one more block.
func (l *level) count(far bool, slot int64) {
	l.recent = l.recent << 1 & (1<<levelBlocks - 1)
	if far {
		if l.recent == 0 {
			l.since = slot
		}
		l.recent |= 1
	}
	switch many := bits.OnesCount32(l.recent); {
	case !l.found && many >= farBlocks:
		l.found, l.recent = true, 1<<levelBlocks-1
	case l.found && many <= levelBlocks-farBlocks:
		l.found, l.recent = false, 0
	}
}

// weighLevels adds what the levels of a source say. Users whose I/O takes longer do something else when the
// probes are as fast as those of the peers. Tails, and what one or two peers say, are findings and no verdicts.
func (d *drive) weighLevels(v *record.Judgement, s *source) {
	state := record.Degraded
	if s.name == Traffic && d.probesAreLevel() {
		state = record.Watch
	}
	for i, l := range s.levels {
		if l.found && l.peers >= minPeers && !statisticsOf(s.name)[i].IsTail() {
			add(v, s, state, record.Ratio{Ratio: l.shift.Ratio()}, drift.SlotTime(l.since))
			v.Peers = max(v.Peers, l.peers)
		}
	}
}

// probesAreLevel reports whether a probe says that the drive is about as fast as its peers.
func (d *drive) probesAreLevel() bool {
	level := false
	for _, s := range d.sources {
		l := s.levels[0]
		if s.name == Traffic || l.now.why != "" || l.peers < minPeers {
			continue
		}
		if l.found || l.now.shift >= drift.ShiftOf(agrees) {
			return false
		}
		level = true
	}
	return level
}
