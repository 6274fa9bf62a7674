package judge

import (
	"math/bits"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// minPeers is how many other drives of the same model and size a verdict by level needs. A probe is also compared
	// with fewer, but the result is then only a finding.
	minPeers = 3
	// farSpread is the multiple of the peers' median absolute deviation that a drive must exceed to be far slower, in
	// addition to the ratio that far returns.
	farSpread = 6
	// levelBlocks is how many blocks (two hours) decide whether a drive is far slower, and farBlocks how many of them
	// must show it.
	levelBlocks, farBlocks = 24, 18
	// reach is the age, in slots, from which on the last block of a drive is too old to be compared. Where two blocks
	// take longer, that time counts.
	reach = 6
)

// far returns the ratio from which on statistic i of a source is far slower than that of the peers. The medians of
// drives of one model differ by a few percent; tails depend more on what else a drive does. Traffic is less
// conclusive, even more so where the size of its I/Os is unknown. So is a comparison with only one or two peers.
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

// levelsBy returns how many of the first statistics of a source are compared with the peers: the latencies of a
// probe, or the reads and writes of traffic. The latency of a flush depends on how much there is to flush.
func levelsBy(source string) int {
	if source == Traffic {
		return 2
	}
	return 3
}

// leastPeers returns how many peers a source needs to be compared.
func leastPeers(source string) int {
	if source == Traffic {
		return minPeers
	}
	return 1
}

// level compares how fast a drive is with its peers by one statistic, whatever its past.
type level struct {
	// recent has a bit for each of the last blocks that were compared, the latest in the lowest bit: set when the
	// drive was far slower.
	recent uint32
	since  int64 // slot of the first block that was far slower
	judged int64 // slot of the last block that was compared
	found  bool
	shift  drift.Shift // in the last block that was far slower
	peers  int         // with how many it was compared; while found, the most so far
	now    standing
	// past says that the drive was also slower than its own past at some time since the level was found.
	past bool
	// accepted is the level that an operator accepted as normal; nil when there is none. below counts the blocks in a
	// row in which the drive was nearer to its peers than to that level.
	accepted *AcceptedLevel
	below    int
}

// standing is where a drive was among its peers in a block.
type standing struct {
	shift drift.Shift // against the median of the peers
	far   drift.Shift // beyond this it is far slower
	peers []string    // with whom it was compared
	place int         // how many of them were faster
	why   string      // why it was not compared; empty when it was
}

// Reasons why a level is not judged.
const (
	notMeasured = "too little was measured lately"
	fewPeers    = "too few other drives of its model and size on the node are measured"
	noLikeWork  = "no peer with similar work"
)

// beside returns where the drive stands among its peers by statistic i, in their last blocks up to a slot.
func (s *source) beside(i int, slot int64) standing {
	if !s.measuredBy(i, slot) {
		return standing{why: s.whyUnmeasured()}
	}
	most := len(s.group.alike[s.drive.kind()])
	st := standing{peers: make([]string, 0, most)}
	values := make([]drift.Shift, 0, most)
	known, sized, recurs := 0, true, s.recurs(i)
	for o := range s.peers() {
		if !o.measuredBy(i, slot) {
			continue
		}
		known++
		x, ok := s.slowerThan(o, i)
		if !ok {
			continue
		}
		x = max(min(0, x), x-recurs)
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
	st.shift = lowerMedian(values) // of the two values in the middle, that against the slower peer counts
	for k := range values {
		if values[k] -= st.shift; values[k] < 0 {
			values[k] = -values[k]
		}
	}
	st.far = max(drift.ShiftOf(s.far(i, len(values), sized)), farSpread*lowerMedian(values))
	return st
}

// recurs returns how much slower the drive was by statistic i in its last block, beyond its host, because of what recurs at that time
// of the day or the week: a nightly job of one drive is told once, as by its own past. It is 0 while the drive is slower anyway.
func (s *source) recurs(i int) drift.Shift {
	slot := s.block.Slot
	expected, x := s.tracker.Expected(i, slot), s.at(slot, i)
	if expected <= 0 || !x.Known() || s.tracker.StateOf(i) == record.Regressed {
		return 0
	}
	if host := s.At(slot)[i]; host.Known() {
		x -= max(0, host)
	}
	return max(0, min(x, expected))
}

// measuredBy reports whether the last block of the drive has statistic i and is not older than reach.
func (s *source) measuredBy(i int, slot int64) bool {
	return slot-s.block.Slot < max(reach, 2*s.tracker.Slots()) && slot >= s.block.Slot && s.absolute[i].Known()
}

// measured takes the last completed block.
func (s *source) measured(m drift.Measured) {
	s.block = m
	for i := range levelsBy(s.name) {
		s.absolute[i] = s.absoluteOf(i)
	}
}

// absoluteOf returns the level of the last block by statistic i, against one second. Traffic counts as it was
// measured; the effect of the load is taken out of a probe.
func (s *source) absoluteOf(i int) drift.Shift {
	if s.name == Traffic {
		return s.block.Levels[i]
	}
	base, x := s.tracker.Level(i), s.at(s.block.Slot, i)
	if !base.Known() || !x.Known() {
		return drift.Missing
	}
	return min(base+x, s.block.Levels[i]) // a curve learned while much else happened may say that load makes a drive faster
}

// slowerThan returns how much slower this drive was than another, beyond what its work or its load explains. It is false
// when their work or their loads are not alike.
func (s *source) slowerThan(o *source, i int) (drift.Shift, bool) {
	x := s.absolute[i] - o.absolute[i]
	if s.name != Traffic {
		return s.atLikeLoad(o, i, x)
	}
	larger, more, ok := moreWork(s.block.Work, o.block.Work, i)
	if ok && x > 0 {
		x -= max(explains(larger, more, o.block.Utilisation), o.tracker.SlowerUnder(i, s.block.Work, o.block.Work))
	}
	return x, ok
}

// atLikeLoad corrects x, how much slower a probe of this drive was than that of another by statistic i. A drive that is
// always busy is compared with what the other one is at as much load. It is false when too little is known of that.
func (s *source) atLikeLoad(o *source, i int, x drift.Shift) (drift.Shift, bool) {
	least := s.tracker.LeastLoadAs(o.tracker, i, s.block.Work)
	if least <= o.tracker.LeastLoad(i) {
		return x, true
	}
	rise, doubt, ok := o.tracker.Rise(i, least)
	x -= max(0, rise)
	return x, ok && (x > 0 || x+doubt <= 0) // between those, it is all in doubt
}

// hasPeers reports whether there are enough peers to compare with, whether they are measured now or not.
func (s *source) hasPeers() bool {
	peers := 0
	for range s.peers() {
		peers++
		if peers >= leastPeers(s.name) {
			return true
		}
	}
	return false
}

// whyUnmeasured returns why the level of a drive that was not measured lately is not judged. Without enough peers
// that is the reason, since more measurements would change nothing.
func (s *source) whyUnmeasured() string {
	if !s.hasPeers() {
		return fewPeers
	}
	return notMeasured
}

// judgeLevels compares the drive with its peers by the last blocks up to a slot.
func (s *source) judgeLevels(slot int64) {
	for i := range levelsBy(s.name) {
		l := &s.levels[i]
		l.now = s.beside(i, slot)
		state := s.tracker.StateOf(i)
		l.past = l.found && (l.past || state == record.Regressed)
		if l.now.why != "" || s.block.Slot == l.judged {
			slots := s.tracker.Slots()
			if slot-l.judged >= max(levelBlocks, 3*slots) && (!l.found || !s.hasPeers() || s.isOutlived(slot)) {
				*l = level{now: l.now, accepted: l.accepted} // too old, and not found, or no peers are left, or the users have left
			}
			if l.now.why != "" && l.past && (state == record.Stable || state == record.Improved) {
				*l = level{now: l.now, accepted: l.accepted} // the own past showed the slowdown, and now shows its end
			}
			if gap := slot - l.judged; l.found && l.recent&1 == 0 && gap >= 2*slots && gap%slots == 0 {
				l.count(false, l.judged) // the last comparison refuted the level, so the gap since then counts against it
			}
			continue
		}
		l.judged = s.block.Slot
		if !l.found || len(l.now.peers) > l.peers { // a level that was found with many peers stands when few are left
			l.peers = len(l.now.peers)
		}
		l.add(s.block.Slot)
	}
}

// isOutlived reports whether the traffic has had no block in the day before a slot, while a probe of the drive had some for half
// of it: the users have left a drive that is still probed. Then nothing refutes any more how slow it was for them. Rounds that are
// refused end nothing: a drive may be too busy for them because it is slow.
func (s *source) isOutlived(slot int64) bool {
	if s.name != Traffic || slot-s.block.Slot < dayBlocks {
		return false
	}
	for _, o := range s.drive.sources {
		worked := int64(0)
		for n := slot - dayBlocks + 1; n <= slot && o != s; n++ {
			if slices.ContainsFunc(slices.Collect(o.speeds()), func(i int) bool { return o.at(n, i).Known() }) {
				worked += o.tracker.Slots()
			}
		}
		if worked >= dayBlocks/2 {
			return true
		}
	}
	return false
}

// add takes a block that was compared with the peers.
func (l *level) add(slot int64) {
	l.outgrow()
	l.since = min(l.since, slot) // the clock may have been set back
	limit := l.now.far
	if l.found {
		limit /= 2 // a level that comes and goes at the limit is reported once
	}
	far := l.now.shift-l.taken() > limit
	if far {
		l.shift = l.now.shift
	}
	l.count(far, slot)
}

// count adds a block to the evidence, and finds or ends the level.
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

// weighLevels adds the levels of a source to the verdict. While the probes are as fast as those of the peers, the
// level of traffic is no more than watch: the users do something else. Tails, and comparisons with one or two peers,
// are findings and no verdicts.
func (d *drive) weighLevels(v *record.Judgement, s *source, now time.Time) {
	state := record.Degraded
	if s.name == Traffic && d.probesAreLevel() {
		state = record.Watch
	}
	for i, l := range s.levels {
		if l.found && l.peers >= minPeers && !statisticsOf(s.name)[i].IsTail() {
			add(v, s, state, record.Ratio{Ratio: l.shift.Ratio()}, drift.SlotTime(l.since), l.unjudged(s, now))
			v.Peers = max(v.Peers, l.peers)
		}
	}
}

// unjudged returns why the level has not been compared for an hour, or for two blocks of rare rounds; nil when it has.
func (l *level) unjudged(s *source, now time.Time) *record.WhyUnjudged {
	slots := s.tracker.Slots()
	if drift.Slot(now)-l.judged <= max(recently, 2*slots)+slots {
		return nil
	}
	why := record.WhyUnjudged{Reason: record.ReasonFewRounds}
	switch past := s.tracker.Unjudged(now); {
	case l.now.why == noLikeWork:
		why.Reason = record.ReasonNoLike
	case past == nil && l.now.why == notMeasured:
		return nil // no rounds were planned
	case past == nil:
	case s.name != Traffic || past.Reason == record.ReasonNoRounds:
		why = *past
	case now.Sub(s.last) >= recently*drift.BlockLength:
		why.Reason = record.ReasonNoRounds // what its past waits for does not matter: traffic is compared as it was measured
	}
	why.Since = drift.SlotTime(l.judged + slots)
	return &why
}

// probesAreLevel reports whether the drive is about as fast as its peers by the median latency of its probes. At
// least one probe must have been compared with minPeers drives, and none of those may be slower.
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
