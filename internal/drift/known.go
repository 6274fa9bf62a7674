package drift

import (
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// What was not compared lately is not known: neither stable, nor as fast as ever. The verdicts of the detector do not
// change because of that. They say what the evidence has shown so far, and go on when there is more of it.

const (
	// staleAfter is how long a comparison says how fast something is. Where blocks are long, it does so for
	// staleBlocks blocks if that is longer.
	staleAfter  = time.Hour
	staleBlocks = 2
)

// compared is when a statistic was last compared.
type compared struct {
	// At is the end of the last block that was compared.
	At time.Time `json:"at,omitzero"`
	// Until is when that comparison becomes stale. Planned pauses put it off.
	Until time.Time `json:"until,omitzero"`
	// Why says why the last block was not compared; empty when it was.
	Why record.UnjudgedReason `json:"why,omitempty"`
}

// Every sets the planned interval between rounds, where they are rare.
func (t *Tracker) Every(interval time.Duration) { t.interval = interval }

// BlocksOf sets how many slots a block takes. It is for trackers of NewBlockTracker.
func (t *Tracker) BlocksOf(slots int64) { t.Every(time.Duration(slots) * blockLength / minBlockRounds) }

// Slots returns how many slots a block takes: enough for minBlockRounds rounds, an hour at most. All possible numbers
// divide an hour, so that the blocks of drives that are probed equally often begin together.
func (t *Tracker) Slots() int64 {
	for _, slots := range []int64{1, 2, 3, 4, 6} {
		if time.Duration(slots)*blockLength >= minBlockRounds*t.interval {
			return slots
		}
	}
	return maxBlockSlots
}

// blockSlot returns the slot at which the block that contains a slot begins.
func (t *Tracker) blockSlot(slot int64) int64 { return slot - slot%t.Slots() }

// stale returns after how long a comparison says nothing more about now.
func (t *Tracker) stale() time.Duration {
	return max(staleAfter, staleBlocks*time.Duration(t.Slots())*blockLength)
}

// know notes that statistic i was compared in a block or round that ended at a time.
func (t *Tracker) know(i int, at time.Time) {
	c := &t.compared[i]
	if c.Why = ""; at.After(c.At) {
		c.At = at
	}
	if until := at.Add(t.stale()); until.After(c.Until) {
		c.Until = until
	}
}

// knowBlock notes which statistics a block compared, and why not the others.
func (t *Tracker) knowBlock(b block, j judged) {
	for i := range t.names {
		n := &t.current().Baseline.Of[i]
		switch {
		case j.Shifts[i].Known():
			t.know(i, t.blockEnd(b.Slot))
		case !b.Level[i].Known(), !n.learned(), t.traffic() && !n.likeWork(b.Work, i):
			t.compared[i].Why = record.ReasonNoLike
		default:
			t.compared[i].Why = record.ReasonLoad
		}
	}
}

// blockEnd returns when the block at a slot ends.
func (t *Tracker) blockEnd(slot int64) time.Time { return slotTime(slot + t.Slots()) }

// Pause says that no rounds were planned for a time: what was known before stays known.
func (t *Tracker) Pause(from, to time.Time) {
	for i := range t.compared {
		if c := &t.compared[i]; c.Until.After(from) && to.After(from) {
			c.Until = c.Until.Add(to.Sub(from))
		}
	}
}

// fresh reports whether the last comparison of statistic i still says something about now.
func (t *Tracker) fresh(i int, now time.Time) bool { return now.Before(t.compared[i].Until) }

// Known reports whether it is known how fast the device is now, by at least one statistic.
func (t *Tracker) Known(now time.Time) bool {
	for i := range t.names {
		if s, _ := t.stateAt(i, now); s.Judged() && t.fresh(i, now) {
			return true
		}
	}
	return false
}

// AssumedAt returns when the last statistic was learned whose level may be that of a slower device; zero if there is none.
func (t *Tracker) AssumedAt() time.Time {
	if len(t.epochs) == 0 || t.current().Pinned || t.current().Anchored {
		return time.Time{}
	}
	if last := slices.Max(t.current().Assumed[:]); last > 0 {
		return slotTime(last)
	}
	return time.Time{}
}

// Assumed reports whether all that is known now is compared with levels that may be those of a slower device. Confirm ends that.
func (t *Tracker) Assumed(now time.Time) bool {
	if t.AssumedAt().IsZero() {
		return false
	}
	for i := range t.names {
		if s, _ := t.stateAt(i, now); s.Judged() && t.fresh(i, now) && t.current().Assumed[i] == 0 {
			return false
		}
	}
	return t.Known(now)
}

// Confirm says that the device was as fast as ever when its levels were learned.
func (t *Tracker) Confirm() { t.current().Assumed = [statistics]int64{} }

// Unjudged returns why nothing is known now; nil when something is.
func (t *Tracker) Unjudged(now time.Time) *record.WhyUnjudged {
	if t.Known(now) {
		return nil
	}
	_, why := t.stateAt(0, now)
	return why
}

// UnjudgedOf returns why statistic i is not judged now, or is no longer compared; nil when it is.
func (t *Tracker) UnjudgedOf(i int, now time.Time) *record.WhyUnjudged {
	_, why := t.stateAt(i, now)
	return why
}

// stateAt returns the state of statistic i now, and the reason if it is not judged. A regression stays until it is
// seen to be over.
func (t *Tracker) stateAt(i int, now time.Time) (record.DriftState, *record.WhyUnjudged) {
	v := &t.verdicts[i]
	wait := func(r record.UnjudgedReason) *record.WhyUnjudged {
		return &record.WhyUnjudged{Reason: r, Since: record.NotAfter(v.Since, now)}
	}
	switch {
	case v.State == record.Learning:
		return record.Learning, wait(record.ReasonLearning)
	case v.State == record.Regressed && t.fresh(i, now):
		return record.Regressed, nil
	case v.State == record.Regressed:
		return record.Regressed, t.unknown(i, now)
	case !t.current().Baseline.Of[i].learned() && len(has(t.current().Late, i)) == 0:
		return record.Waiting, wait(record.ReasonNoLike)
	case !t.judgeable(i), t.waits(i):
		return record.Waiting, wait(record.ReasonFirstDay)
	case t.current().Baseline.hides(i):
		return record.Waiting, wait(record.ReasonLearning)
	case !t.fresh(i, now):
		return record.Unknown, t.unknown(i, now)
	}
	return v.State, nil
}

// unknown returns why statistic i is no longer compared.
func (t *Tracker) unknown(i int, now time.Time) *record.WhyUnjudged {
	c := t.compared[i]
	why := &record.WhyUnjudged{Reason: record.ReasonNoRounds, Since: c.At}
	if now.Sub(t.last) < t.stale() { // there are rounds
		why.Reason = record.ReasonFewRounds
		if c.Why != "" {
			why.Reason = c.Why
		}
	}
	if why.Since.IsZero() { // never compared, as with a baseline that was imported
		why.Since = record.NotAfter(t.verdicts[i].Since, now)
		if why.Reason == record.ReasonFewRounds && now.Sub(why.Since) < t.stale() {
			why.Reason = record.ReasonLearning
		}
	}
	return why
}

// EndRefuted ends regressions that nothing here shows, because another source has shown for an hour that they are over. Some
// statistics are not compared any more. Others learned their level with other work, as if the device were still as slow: if that
// hour shows them as slow as before, the level was wrong, and is corrected.
func (t *Tracker) EndRefuted(now time.Time) []Event {
	before := t.states()
	for i := range t.names {
		v := &t.verdicts[i]
		if v.State != record.Regressed {
			continue
		}
		e := t.current()
		assumed := e.Anew[i] && !e.Pinned && v.Since.Before(e.Learned)
		by, blocks := t.level(i, slot(now.Add(-staleAfter)), recentBlocks)
		switch {
		case !assumed && !t.fresh(i, now):
			v.begin(record.Stable, now)
		case assumed && blocks > minEffectBlocks && by >= v.BackReference:
			t.moveBaseline(i, by, now)
			e.Anew[i] = false
			t.prepare()
			v.begin(record.Stable, now)
		}
	}
	return t.changed(before, now)
}

// restoreCompared puts back when the statistics were compared. In the state of an older version, the recent blocks
// tell.
func (t *Tracker) restoreCompared(stored map[record.Statistic]compared) {
	t.compared = [statistics]compared{}
	for i, name := range t.names {
		if c, ok := stored[name]; ok {
			t.compared[i] = c
			continue
		}
		for _, b := range t.recent {
			if b.Shifts[i].Known() {
				t.know(i, t.blockEnd(b.Slot))
			}
		}
	}
}

func (c compared) validate() error {
	if c.Why != "" && !slices.Contains(record.UnjudgedReasons(), c.Why) {
		return fmt.Errorf("unknown reason %q", c.Why)
	}
	return nil
}

// DriftAt returns what is known at a time. A statistic that was not compared lately has no ratio and, unless it has
// regressed, is unknown.
func (t *Tracker) DriftAt(now time.Time) []record.Drift {
	list := t.drift()
	for i := range list {
		d := &list[i]
		state, why := t.stateAt(i, now)
		if state != d.State {
			d.State, d.Cause, d.Attribution = state, "", nil
		}
		d.Unjudged = why
		if why != nil && state == record.Unknown {
			d.Since = why.Since
		}
		d.Since = record.NotAfter(d.Since, now)
		if !t.fresh(i, now) {
			d.Ratio, d.Lower, d.Upper, d.Now, d.Over = 0, 0, 0, 0, nil
		}
	}
	return list
}
