package judge

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// A verdict that comes and goes is one finding. A drive that is slow every afternoon, or whose slowness is just at a
// limit, is reported once or twice and then held: an alert that fires every day is switched off.

const (
	// longestHold bounds how long a verdict is held without new evidence, and how long its end is remembered.
	longestHold = 7 * 24 * time.Hour
	// A verdict that was away for longer than rareAfter is held for no more than heldPer times as long as there was evidence: a
	// quarter of an hour in a week does not make a drive slow all week.
	rareAfter = 2 * 24 * time.Hour
	heldPer   = 48
)

// recurrence is the history of the verdicts of one severity about a drive.
type recurrence struct {
	rare  time.Time     // when the verdict began, if it was away for longer than rareAfter
	seen  time.Time     // when there was last evidence
	ended time.Time     // when the verdict last ended
	hold  time.Duration // how long the verdict stands without evidence
}

// goesOn reports whether the verdict stands now, because there is evidence or because it is held. told says whether
// it stood before. A verdict that comes back within a week is held for twice as long as it was away, but if that is long, not for
// much longer than it then lasted.
func (r *recurrence) goesOn(told, evidence bool, now time.Time) bool {
	if r.seen.After(now) { // the clock was set back
		r.rare, r.seen = r.rare.Add(now.Sub(r.seen)), now
	}
	switch {
	case evidence:
		if away := now.Sub(r.ended); !told {
			r.rare, r.hold = time.Time{}, min(longestHold, max(r.hold, 2*away))
			if away > rareAfter {
				r.rare = now
			}
			if away > longestHold {
				r.hold = 0
			}
		}
		r.seen = now
		return true
	case !told:
		return false
	case now.Sub(r.seen) < r.hold && now.Sub(r.seen)/heldPer < r.seen.Sub(r.rare):
		return true
	}
	r.ended = now
	return false
}

// held returns v, or the earlier verdict where that one still stands. It stands even while nothing is known, because
// nobody has seen that it is over.
func (d *drive) held(v record.Judgement, now time.Time) record.Judgement {
	before := d.told
	before.Held, before.Unjudged = true, v.Unjudged
	severe := d.severe.goesOn(before.Verdict == record.Severe, v.Verdict == record.Severe, now)
	degraded := d.degraded.goesOn(before.Verdict.Blames(), v.Verdict.Blames(), now)
	if why := before.Unjudged; why != nil && why.Since.Before(d.degraded.seen) {
		// It is the reason of one source, and another one still saw that the drive was slow.
		later := *why
		later.Since = d.degraded.seen
		before.Unjudged = &later
	}
	switch {
	case severe && v.Verdict != record.Severe:
		return before
	case degraded && !v.Verdict.Blames():
		before.Verdict = record.Degraded
		return before
	}
	return v
}
