package judge

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Traffic is compared with what it learned itself. Users who turn to other work may keep the drive too busy for rounds while that
// is learned. Then it is only assumed that the drive is as fast as before: it may have become slow with them. Until a probe shows
// how fast it is, or peers with like work do, its traffic does not make it healthy, and does not dispute a probe.

// halfDay is half of the day from which a baseline is learned. A probe that was compared in its second half has seen enough of it.
const halfDay = 12 * time.Hour

// assume notes whether the traffic of the drive has just learned what nothing else confirms, or whether probes have confirmed it.
func (d *drive) assume(now time.Time) {
	t := d.traffic()
	if t == nil {
		return
	}
	if learned := t.tracker.Learned(); !learned.Equal(t.learned) {
		t.learned, t.assumed = learned, d.unseen(t, now)
	}
	if !t.assumed.IsZero() && d.probedFastSince(t.assumed) {
		t.assumed = time.Time{}
	}
}

// probedFastSince reports whether a probe has found since an onset, in refuted blocks or more, that the drive is as fast as ever.
func (d *drive) probedFastSince(onset time.Time) bool {
	for _, s := range d.sources {
		by, blocks := s.tracker.ShiftSince(0, onset)
		if s.name != Traffic && s.tracker.Maturity() == record.Final && blocks >= refuted && by < drift.ShiftOf(agrees) {
			return true
		}
	}
	return false
}

// unseen returns when a probe was compared last, if that was too long before its traffic learned all that it knows; else zero.
func (d *drive) unseen(traffic *source, now time.Time) time.Time {
	var last time.Time
	for _, s := range d.sources {
		if at := s.tracker.Compared(); s != traffic && s.tracker.Maturity() == record.Final && at.After(last) {
			last = at
		}
	}
	if last.IsZero() || !traffic.tracker.LearnedAnewSince(last.Add(halfDay), now) {
		return time.Time{}
	}
	return last
}

// unconfirmed returns why the source says nothing about whether the drive is as fast as before; nil when it does.
func (s *source) unconfirmed() *record.WhyUnjudged {
	if s.assumed.IsZero() {
		return nil
	}
	for _, l := range s.levels {
		if !l.found && l.now.why == "" && len(l.now.peers) >= minPeers {
			return nil
		}
	}
	return &record.WhyUnjudged{Reason: record.ReasonAssumed, Since: s.assumed}
}
