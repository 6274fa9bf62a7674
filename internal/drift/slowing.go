package drift

import (
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The baseline follows each change of conditions to a slower level. What each change cost is therefore kept until something
// made up for it or somebody accepted it, however many changes follow that cost nothing.

// slowing returns the effects of the changes that still make the device slower, up to the one that began the epoch.
func (e *epoch) slowing() []record.Effect {
	all := slices.Clone(e.Earlier)
	if len(e.Effect.Slowed()) > 0 {
		all = append(all, *e.Effect)
	}
	return all[max(0, len(all)-maxChanges):]
}

// came takes the effect of the change that began the epoch. What it made faster makes up for what earlier changes made
// slower: first for those that it takes back, then for the newest.
func (e *epoch) came(effect *record.Effect) {
	e.Effect = effect
	if effect == nil || len(e.Earlier) == 0 {
		return
	}
	earlier := slices.Clone(e.Earlier)
	var takenBack, others []*record.Effect
	for i := range slices.Backward(earlier) {
		old := &earlier[i]
		old.Ratios = maps.Clone(old.Ratios) // other epochs keep theirs
		if takesBack(effect.Changes, old.Changes) {
			takenBack = append(takenBack, old)
		} else {
			others = append(others, old)
		}
	}
	for statistic, r := range effect.Ratios {
		if r.Upper <= 0 || r.Upper >= 1 { // not certainly faster
			continue
		}
		gain := r.Ratio
		for _, old := range slices.Concat(takenBack, others) {
			if was := old.Ratios[statistic]; was.Ratio > 1 {
				left := max(1, was.Ratio*gain) / was.Ratio
				old.Ratios[statistic] = record.Ratio{Ratio: was.Ratio * left, Lower: was.Lower * left, Upper: was.Upper * left}
				gain /= left
			}
		}
	}
	e.Earlier = slices.DeleteFunc(earlier, func(old record.Effect) bool { return len(old.Slowed()) == 0 })
}

// takesBack reports whether changes set each condition that old changed to what it was before.
func takesBack(changes, old []record.Change) bool {
	for _, was := range old {
		if !slices.ContainsFunc(changes, func(c record.Change) bool { return c.Condition == was.Condition && c.To == was.From }) {
			return false
		}
	}
	return true
}

// acceptEffects accepts what changes made slower: changes of one condition, or all if it is empty. It returns how many times
// slower each statistic became by those that nobody had accepted.
func (t *Tracker) acceptEffects(condition string, now time.Time) map[record.Statistic]float64 {
	ratios := map[record.Statistic]float64{}
	if len(t.epochs) == 0 {
		return ratios
	}
	told := t.current().slowing()
	untold := record.SlowedUntold(t.current().lifetime(), told)
	for _, effect := range told {
		if condition != "" && !effect.Of(condition) {
			continue
		}
		for _, statistic := range effect.Slowed() {
			ratios[statistic] = max(1, ratios[statistic]) * effect.Ratios[statistic].Ratio
		}
		for i := range t.epochs { // also in those of earlier conditions, which may return
			t.epochs[i].accept(effect)
		}
	}
	if condition == "" {
		for statistic, l := range untold {
			ratios[statistic] = l.Ratio.Ratio // with what is told
		}
		for i := range t.epochs {
			t.epochs[i].renewLifetime(now)
		}
	}
	return ratios
}

// accept marks an effect as accepted. It no longer counts as ageing.
func (e *epoch) accept(effect record.Effect) {
	same := func(other record.Effect) bool {
		return other.Time.Equal(effect.Time) && slices.Equal(other.Changes, effect.Changes)
	}
	for _, own := range e.slowing() {
		for i, statistic := range e.names {
			if same(own) && slices.Contains(own.Slowed(), statistic) && own.Time.After(slotTime(e.Lifetime[i].Since)) {
				e.Lifetime[i].Slower -= ShiftOf(own.Ratios[statistic].Ratio)
			}
		}
	}
	if e.Effect != nil && same(*e.Effect) {
		accepted := *e.Effect
		accepted.Accepted, e.Effect = true, &accepted
	}
	e.Earlier = slices.DeleteFunc(slices.Clone(e.Earlier), same)
}
