package judge

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// severeRatio is the ratio from which on a drive is severe. A drive at half its speed is measured as a little
	// less than 2 times slower.
	severeRatio = 1.85
	// severeAlone is how long one witness alone must see a drive at severeRatio for severe. The whole interval must
	// then be at least beyondDoubt, and no other witness may dispute it.
	severeAlone = 10 * time.Minute
	beyondDoubt = 1.5
	// certainRatio is the ratio from which on neither garbage collection nor other work nor a nightly job explains it.
	certainRatio = severeRatio * beyondDoubt
	// severeTogether is how long two witnesses that agree must see it, and spellLasts how long a drive must be slow that has
	// had such spells before: both witnesses see it when the drive collects garbage. From certainRatio on, neither counts.
	severeTogether = 8 * time.Minute
	spellLasts     = 30 * time.Minute
)

// isSevere reports whether a drift of at least limit, the ratio from which on it is severe, makes the drive severe without
// another witness. If the drift has lasted for long enough, the witness is added to far: whether it is beyond doubt.
func (s *source) isSevere(x record.Drift, limit float64, now time.Time, far map[string]bool) bool {
	stands, seen := s.drive.standing() == record.Severe, s.seen(x, now)
	// Severe stands under other work, too: whoever takes a sick drive out of use reads all of it.
	if !stands && (x.Ratio < limit*s.otherWork() || seen < s.lastsFor(x) || !s.isStillSlow(x, now)) {
		return false
	}
	far[s.witness()] = far[s.witness()] || doubtless(x)
	proven := seen >= severeAlone && (doubtless(x) || s.isFar(x, now)) && !s.mayBeWork(x)
	stands = stands && (x.Lower >= beyondDoubt*held || doubtless(x)) // it was proven already
	return (stands || proven) && !s.disputed(x.Since, now)
}

// severeFrom returns the ratio from which on a drift is severe. It is lower if the drive was faster than its baseline before.
func (s *source) severeFrom(x record.Drift) float64 {
	return severeRatio * s.tracker.Before(s.index(x)).Ratio()
}

// isStillSlow reports whether the last rounds, however rare they are, or the last block were nearer to a drift than to the
// baseline. What is slow for some minutes of each block may be fast in the rounds that a block ends with. A block from
// before a time without rounds does not count, and nothing does after an hour without rounds.
func (s *source) isStillSlow(x record.Drift, now time.Time) bool {
	if !s.tracker.Known(now) {
		return false
	}
	i := s.index(x)
	last := s.tracker.LastShifts(time.Time{})[i]
	if slots := s.tracker.Slots(); drift.Slot(s.last)-s.block.Slot <= 2*slots {
		last = max(last, s.at(s.block.Slot, i))
	}
	return last.Known() && 2*last >= drift.ShiftOf(x.Ratio)
}

// seen returns for how long a statistic was compared since the onset of a drift, up to a little more than tailLasts. Time
// without rounds shows nothing.
func (s *source) seen(x record.Drift, now time.Time) time.Duration {
	i, slots := s.index(x), s.tracker.Slots()
	block := time.Duration(slots) * drift.BlockLength
	if latest := s.last.Add(settleAfter); latest.Before(now) {
		now = latest
	}
	open := drift.Slot(now) - drift.Slot(now)%slots // the block under way
	began := func(slot int64) time.Time { return time.Unix(0, 0).Add(time.Duration(slot) * drift.BlockLength) }
	since := func(slot int64) time.Duration { return max(0, min(block, began(slot).Add(block).Sub(x.Since))) }
	total := min(now.Sub(began(open)), max(0, now.Sub(x.Since)))
	for slot := open - slots; total < tailLasts+block && since(slot) > 0; slot -= slots {
		if s.at(slot, i).Known() || slot > s.block.Slot && slot == open-slots { // a block that has just ended is not judged yet
			total += since(slot)
		} else if open-slot > dayBlocks/2 {
			break
		}
	}
	return total
}

// lastsFor returns how long the drive must have been that slow to be severe.
func (s *source) lastsFor(x record.Drift) time.Duration {
	i, onset := s.index(x), drift.Slot(x.Since)
	before := max(0, s.between(i, onset-recently, onset-1)) // a drive that is slow has its spells on top of that
	switch {
	case x.Ratio >= certainRatio:
		return 0
	case drift.ShiftOf(x.Ratio) < before+s.tracker.Beyond(i):
		return spellLasts
	}
	return severeTogether
}

// doubtless reports whether the whole interval of a statistic is far slower. Where there is no interval, as all
// rounds since were refused, a larger ratio is needed.
func doubtless(x record.Drift) bool {
	if x.Lower == 0 {
		return x.Ratio >= certainRatio
	}
	return x.Lower >= beyondDoubt
}

// otherWork returns how many times slower the drive may be because of work that the source or the traffic has not
// learned.
func (s *source) otherWork() float64 {
	most := s.tracker.OtherWork()
	if t := s.drive.traffic(); t != nil {
		most = max(most, t.tracker.OtherWork())
	}
	return most
}

// isSpeed reports whether a statistic says how fast the drive is. A tail says too little, and a flush takes as long as
// there is data to flush.
func isSpeed(s record.Statistic) bool { return !s.IsTail() && s != record.OthersFlushLatency }

// speeds yields the statistics of the source that say how fast the drive is.
func (s *source) speeds() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, statistic := range s.tracker.Statistics() {
			if isSpeed(statistic) && !yield(i) {
				return
			}
		}
	}
}

// beyondAll reports whether statistic i was slower by a ratio in the last blocks, more clearly than ever before: see drift.Far.
func (s *source) beyondAll(i int, ratio float64, now time.Time) (since time.Time, by drift.Shift, far bool) {
	return s.tracker.Far(i, drift.ShiftOf(ratio*s.otherWork()), func() drift.Shift { return s.yesterday(i, drift.Slot(now)) }, now)
}

// isFar reports the same for a drift.
func (s *source) isFar(x record.Drift, now time.Time) bool {
	_, _, far := s.beyondAll(s.index(x), severeRatio, now)
	return far
}

// agree makes the verdict severe when two witnesses agree: each has found that the drive is at half its speed, and for
// how long is enough (see lastsFor), or has seen so in two blocks, more clearly than ever before. At least one of them has
// to be beyond doubt, because both see the noise of the drive and of its host. Each alone would need more time.
func (d *drive) agree(v *record.Judgement, far map[string]bool, now time.Time) {
	felt, severe := record.Judgement{}, severeRatio
	if d.standing() == record.Severe {
		severe *= held
	}
	for _, s := range d.sources {
		for i := range s.speeds() {
			if since, by, ok := s.beyondAll(i, severe, now); ok && !s.ofFew(i, since, by) {
				far[s.witness()] = true
				add(&felt, s, record.Severe, record.Ratio{Ratio: by.Ratio()}, since, nil)
			}
		}
	}
	if len(far) < 2 || d.standing() != record.Severe && !slices.Contains(slices.Collect(maps.Values(far)), true) {
		return
	}
	v.Verdict, v.Witnesses = record.Severe, slices.Sorted(maps.Keys(far))
	v.ThanBefore = slices.Clone(v.Witnesses)
	if felt.Ratio.Ratio > v.RatioNow().Ratio {
		v.Ratio, v.Source, v.Unjudged = felt.Ratio, felt.Source, nil
	}
	for witness, since := range felt.Onsets {
		v.Began(witness, since)
	}
}

// mayBeWork reports whether other work may explain what the traffic shows: its I/Os were of very different sizes before, or
// its reads are far slower and its writes of the last hour are not, or the other way round. A drive that got slower mostly
// slows both; other work often slows one of them.
func (s *source) mayBeWork(x record.Drift) bool {
	if s.name != Traffic || x.Ratio >= certainRatio {
		return false
	}
	if s.tracker.MixedSizes(s.index(x)) {
		return true
	}
	for i := range s.speeds() {
		by, blocks := s.tracker.ShiftSince(i, x.Since)
		measured := s.between(i, s.block.Slot-recently+1, s.block.Slot).Known()
		if s.tracker.Statistics()[i] != x.Statistic && blocks > 0 && measured && by < drift.ShiftOf(beyondDoubt) {
			return true
		}
	}
	return false
}

// disputed reports whether another witness has looked since an onset, says something about now, and has seen less than
// beyondDoubt.
func (s *source) disputed(onset, now time.Time) bool {
	for _, o := range s.drive.sources {
		if o.witness() == s.witness() || o.tracker.Maturity() != record.Final || o.assumed(now) != nil || !o.saysOf(s, onset, now) {
			continue
		}
		seen, most := false, drift.Shift(0)
		for i := range o.speeds() {
			if x, blocks := o.tracker.ShiftSince(i, onset); blocks > 0 {
				seen, most = true, max(most, x)
			}
		}
		if seen && most < drift.ShiftOf(beyondDoubt) {
			return true
		}
	}
	return false
}
