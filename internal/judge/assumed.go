package judge

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Traffic is compared with what it learned itself. Users who turn to other work may keep the drive too busy for rounds while that
// is learned. If the work is little, it is only assumed that the drive is as fast as before: it may have become slow with them. Until
// a probe shows how fast it is, or peers with like work do, its traffic does not make it healthy, and does not dispute a probe.

// unseen is how long before its traffic has learned a probe may have been compared last. What a drive does for less of the day from
// which a baseline is learned does not become normal.
const unseen = 5 * time.Hour

// confirm makes what the traffic of a drive has learned count once a probe of the same physical drive has found it as fast as ever by
// then, or later.
func (n *Node) confirm(d *drive) {
	t := d.traffic()
	if t == nil || t.tracker.AssumedAt().IsZero() {
		return
	}
	for _, o := range n.drives {
		if o.physical == d.physical && o.probedFastSince(t.tracker.AssumedAt().Add(-unseen)) {
			t.tracker.Confirm()
			return
		}
	}
}

// probedFastSince reports whether a probe has found since an onset, in refuted blocks or more, that the drive is as fast as ever, or
// has learned since then how fast that is.
func (d *drive) probedFastSince(onset time.Time) bool {
	return slices.ContainsFunc(d.sources, func(s *source) bool {
		by, blocks := s.tracker.ShiftSince(0, onset)
		return s.isFinalProbe() && (blocks >= refuted || s.tracker.Learned().After(onset)) && by < drift.ShiftOf(agrees)
	})
}

// isFinalProbe reports whether the source is a probe that knows what is normal for the drive.
func (s *source) isFinalProbe() bool {
	return s.name != Traffic && s.tracker.Maturity() == record.Final
}

// assumed returns why what the source knows now does not say that the drive is as fast as before; nil when it does. A drive that no
// probe knows is judged by its traffic alone.
func (s *source) assumed(now time.Time) *record.WhyUnjudged {
	if s.name != Traffic || !s.tracker.Assumed(now) || !slices.ContainsFunc(s.drive.sources, (*source).isFinalProbe) {
		return nil
	}
	for _, l := range s.levels {
		if l.now.why == "" && !l.found && l.now.shift < drift.ShiftOf(agrees) && s.sure(l.now.peers, now) >= minPeers {
			return nil
		}
	}
	return &record.WhyUnjudged{Reason: record.ReasonAssumed, Since: record.NotAfter(s.tracker.AssumedAt(), now)}
}

// Explain returns what is behind the states of a source of a drive. A statistic is not stable if it is only assumed that the drive is
// as fast as before. The explanation is empty when there is no such drive.
func (n *Node) Explain(id, source string, now time.Time) drift.Explanation {
	s := n.source(id, source)
	if s == nil {
		return drift.Explanation{}
	}
	x := s.tracker.Explain(now)
	if why := s.assumed(now); why != nil {
		for i := range x.Statistics {
			if d := &x.Statistics[i].Drift; d.State == record.Stable {
				d.State, d.Unjudged = record.Unknown, why
			}
		}
	}
	return x
}

// confirmed reports whether a quorum of the voters knows more than what was assumed: else they may have become slow together, with
// their host.
func (g *group) confirmed(now time.Time) bool {
	sure := 0
	for _, s := range g.voters {
		if s.assumed(now) == nil {
			sure++
		}
	}
	return sure >= min(g.quorum, len(g.voters))
}

// sure returns how many of some peers do not know themselves only what was assumed.
func (s *source) sure(peers []string, now time.Time) (many int) {
	for o := range s.peers() {
		if slices.Contains(peers, o.drive.ID) && !o.tracker.Assumed(now) {
			many++
		}
	}
	return many
}
