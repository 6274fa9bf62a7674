package drift

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// attributable is the longest time between an onset and a change of conditions that is named as its cause.
const attributable = time.Hour

// change is the changes of conditions at one time.
type change struct {
	Time    time.Time       `json:"time"`
	Changes []record.Change `json:"changes"`
}

// maxChanges is how many changes of conditions are remembered.
const maxChanges = 8

func (t *Tracker) noteChanges(now time.Time, changes []record.Change) {
	t.changes = append(t.changes, change{now, changes})
	if n := len(t.changes); n > maxChanges {
		t.changes = slices.Delete(t.changes, 0, n-maxChanges)
	}
}

// changesNear returns all changes of conditions within an hour of an onset.
func (t *Tracker) changesNear(onset time.Time) []record.Change {
	var near []record.Change
	for _, c := range t.changes {
		if onset.Sub(c.Time).Abs() <= attributable {
			near = append(near, c.Changes...)
		}
	}
	return near
}

// minEffectBlocks is how many blocks are needed to tell what a change did.
const minEffectBlocks = 3

// effect compares the first blocks of the current epoch with the baseline of the
// one before: what the change of conditions did. It is nil when that cannot be told.
func (t *Tracker) effect() *record.Effect {
	e := t.current()
	if e.Previous == nil {
		return nil
	}
	i := slices.IndexFunc(t.epochs, func(old epoch) bool { return old.Conditions == *e.Previous })
	if i < 0 || !t.epochs[i].learned() {
		return nil
	}
	old := &t.epochs[i]
	between := e.Reference.from(old.Reference)
	out := &record.Effect{Time: e.Started, Changes: e.Previous.Changes(e.Conditions), Ratios: map[record.Statistic]record.Ratio{}}
	for i, statistic := range t.names {
		n := &old.Baseline.Of[i]
		if !n.learned() || !between[i].Known() {
			continue
		}
		var values []Shift
		for _, b := range old.Baseline.loaded(has(e.Blocks, i)) {
			if old.Baseline.knows(b.Load) {
				values = append(values, between[i]+b.Level[i]-n.Curve.at(b.Load))
			}
		}
		if len(values) < minEffectBlocks {
			continue
		}
		ratio, lower, upper := n.estimate(values).ratios()
		out.Ratios[statistic] = record.Ratio{Ratio: ratio, Lower: lower, Upper: upper}
	}
	if len(out.Ratios) == 0 {
		return nil
	}
	return out
}
