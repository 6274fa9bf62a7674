package judge

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// span is a stretch of time.
type span struct{ from, to time.Time }

// pause tells the host of the time for which none of the voters had rounds planned. The drives report their pauses one after
// another, so the first to do so waits for the others.
func (g *group) pause() {
	if g.host == nil || len(g.voters) == 0 {
		return
	}
	all := g.voters[0].paused
	for _, s := range g.voters[1:] {
		if s.paused.from.After(all.from) {
			all.from = s.paused.from
		}
		if s.paused.to.Before(all.to) {
			all.to = s.paused.to
		}
	}
	if all.from.Before(g.paused) {
		all.from = g.paused
	}
	if all.to.After(all.from) {
		g.host.Pause(all.from, all.to)
		g.paused = all.to
	}
}

// unknown returns why the host is not known now.
func (g *group) unknown(now time.Time) *record.WhyUnjudged {
	why := g.host.Unjudged(now)
	if why == nil { // it is compared with what was assumed
		return &record.WhyUnjudged{Reason: record.ReasonAssumed}
	}
	for _, s := range g.members {
		if why.Reason == record.ReasonNoRounds && now.Sub(s.tracker.LastRound()) < recently*drift.BlockLength {
			why.Reason = record.ReasonFewRounds // of too few drives
		}
	}
	return why
}
