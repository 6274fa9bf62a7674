package judge

import (
	"github.com/ssdprobe/ssdprobe/internal/drift"
)

const (
	// minPeers is how many drives of the same model and size it takes to know their level.
	minPeers = 3
	// farLevel is how many times slower than the median of the peers a drive has to be, and
	// farSpread how many times their median absolute deviation. The larger counts.
	farLevel, farSpread = 1.25, 6
	// levelBlocks is how many blocks in a row it takes: two hours.
	levelBlocks = 24
	// levelStatistic is what levels are compared by: the median of a probe, the reads of traffic.
	levelStatistic = 0
)

// level compares how fast a drive is with its peers, whatever its past.
type level struct {
	far    int   // blocks in a row that were far slower; of a level that was found, that were not
	since  int64 // slot of the first
	found  bool
	shift  drift.Shift // beside the peers, in the last block
	peers  int
	judged int64 // the last slot
	// unknown counts blocks in a row without enough peers.
	unknown int
}

// beside is how much slower than the median of its peers the drive was in a slot, and from where on
// it counts as far.
func (s *source) beside(slot int64) (x, far drift.Shift, peers int) {
	mine := s.absolute(slot)
	if !mine.Known() {
		return drift.Missing, 0, 0
	}
	values := make([]drift.Shift, 0, 32)
	for _, o := range s.group.members {
		if o.drive.physical() == s.drive.physical() || !o.drive.alike(s.drive.Drive) {
			continue
		}
		if x := o.absolute(slot); x.Known() {
			values = append(values, x)
		}
	}
	if len(values) < minPeers {
		return drift.Missing, 0, len(values)
	}
	middle := lowerMedian(values)
	for i := range values {
		if values[i] -= middle; values[i] < 0 {
			values[i] = -values[i]
		}
	}
	return mine - middle, max(drift.ShiftOf(farLevel), farSpread*lowerMedian(values)), len(values)
}

// absolute is the level of a block without its load.
func (s *source) absolute(slot int64) drift.Shift {
	base, x := s.tracker.Level(levelStatistic), s.at(slot, levelStatistic)
	if !base.Known() || !x.Known() {
		return drift.Missing
	}
	return base + x
}

// judgeLevel judges the level beside the peers in a slot.
func (s *source) judgeLevel(slot int64) {
	l := &s.level
	if slot == l.judged || s.name == Traffic {
		return
	}
	l.judged = slot
	x, far, peers := s.beside(slot)
	if !x.Known() {
		l.unknown++
		if l.unknown >= levelBlocks {
			*l = level{judged: slot} // there is nobody to be slower than
		}
		return
	}
	l.unknown = 0
	l.shift, l.peers = x, peers
	limit := far
	if l.found {
		limit = far / 2 // a level that comes and goes at the limit is told once
	}
	if (x > limit) == l.found {
		l.far = 0
		return
	}
	if l.far == 0 && !l.found {
		l.since = slot
	}
	l.far++
	if l.far >= levelBlocks {
		l.found, l.far = !l.found, 0
	}
}
