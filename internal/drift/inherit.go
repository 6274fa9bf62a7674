package drift

import (
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// A change of conditions does not hide a regression, and is not taken for one. Under new conditions the device is
// compared with the same baseline as before. After an hour the effect of the change is known: the level since,
// against the level just before. The baseline is moved by that and by nothing else, so that a slow creep cannot hide
// in many changes. On a device whose level varies, an hour may not be enough to be sure that there is an effect. If the
// device is found to be slower within the first day after all, and no more than that hour allows, it is the effect.

// effectBlocks is how many blocks show the effect of a change: an hour.
const effectBlocks = 12

// inherited returns a new epoch with the baseline of e.
func (e *epoch) inherited(conditions record.Conditions, now time.Time, before Shifts) epoch {
	base := *e.Baseline
	return epoch{
		Conditions: conditions, Started: now, Learned: e.Learned, Rounds: e.Rounds, Values: e.Values, Reference: e.Reference,
		Baseline: &base, Inherited: true, Chained: true, Anew: e.Anew, Assumed: e.Assumed, Lifetime: e.ageing(now), Before: &before, names: e.names,
	}
}

// unproven reports whether the effect of the change that began the epoch is not known yet.
func (e *epoch) unproven() bool { return e.Before != nil && e.Doubt == nil }

// justBefore returns how much slower than the baseline the device was lately; missing where nothing was judged. The
// host's part is left in, as a change of conditions may be one of the host.
func (t *Tracker) justBefore() Shifts {
	out := Unmeasured()
	for i := range t.names {
		var values []Shift
		for _, b := range t.recent[max(0, len(t.recent)-effectBlocks):] {
			if b.Alone[i].Known() {
				values = append(values, b.Alone[i])
			}
		}
		if len(values) >= minEffectBlocks {
			out[i] = median(values)
		}
	}
	return out
}

// goOn continues in an epoch that was known before, with its own baseline. What has regressed stays so until it is
// seen to be over.
func (t *Tracker) goOn(now time.Time) {
	t.window.clear()
	t.open, t.closed, t.recent, t.latest = openBlock{}, nil, nil, nil
	for i := range t.verdicts {
		if v := &t.verdicts[i]; v.State == record.Regressed {
			v.Slower, v.Faster, v.Slow, v.Fast, v.Back = [references]cusum{}, [references]cusum{}, cusum{}, stretch{}, cusum{}
		} else {
			v.begin(record.Stable, now)
		}
	}
	t.prepare()
}

// flips reports whether conditions come and go: they changed once more within the last hour, and both sets are known. What is slower
// under a set whose effect is not known yet may be that effect.
func (t *Tracker) flips(left *epoch, now time.Time) bool {
	n := len(t.changes)
	known := left.learned() && !left.unproven() && t.current().learned() && !t.current().unproven()
	return known && n > 1 && now.Sub(t.changes[n-2].Time).Abs() <= attributable
}

// carryOver continues in an epoch that was known before, like goOn. It keeps what was seen in the epoch that was left: how much
// slower than normal under its conditions. If conditions come and go, as those of a link that is retrained again and again, there
// may be no block, nor enough of them, under either.
func (t *Tracker) carryOver(left *epoch) {
	e := t.current()
	move := func(s *Shifts, w work, observed int) {
		before, now := left.Baseline.load(w, observed), e.Baseline.load(w, observed)
		for i := range t.names {
			from, to := &left.Baseline.Of[i], &e.Baseline.Of[i]
			switch {
			case !s[i].Known():
			case from.learned() && to.learned():
				s[i] += to.Curve.at(now) - from.Curve.at(before)
			default:
				s[i] = missing
			}
		}
	}
	for _, points := range [][]point{t.open.Points, t.latest} {
		for k := range points {
			move(&points[k].Shifts, points[k].Work, points[k].Load)
		}
	}
	for k := range t.closed {
		b := &t.closed[k]
		move(&b.Level, b.Work, b.Load)
		move(&b.Worst, b.Work, b.Load)
	}
	t.prepare()
}

// prove takes a block of an epoch with an inherited baseline. After the last block that is needed it returns the
// effect of the change of conditions.
func (t *Tracker) prove(j judged, now time.Time) *record.Effect {
	e := t.current()
	if e.After = append(e.After, j); len(e.After) < effectBlocks {
		return nil
	}
	effects, moves := t.changeOf(nobody, e.After)
	return t.follow(effects, moves, now)
}

// explained reports whether the change that began the epoch explains that statistic i is slower since a slot. If so, it is an
// effect of the change, and the baseline moves.
func (t *Tracker) explained(i int, since int64, now time.Time) bool {
	e := t.current()
	if e.Doubt == nil || t.verdicts[i].found() {
		return false
	}
	level, blocks := t.level(i, since, recentBlocks)
	if most := e.Doubt.Upper[i]; blocks == 0 || !most.Known() || level > most {
		return false
	}
	after := slices.DeleteFunc(slices.Clone(t.recent), func(j judged) bool { return j.Slot < slot(e.Started) })
	effects, moves := t.changeOf(i, after)
	if !moves[i].Known() || moves[i] < t.settings.smallest() {
		return false // it was as slow before the change
	}
	t.effects = append(t.effects, t.follow(effects, moves, now))
	return true
}

// doubt bounds how much slower than the baseline a change of conditions has made the device.
type doubt struct {
	Lower Shifts `json:"lower"`
	Upper Shifts `json:"upper"`
}

// nobody stands for no statistic.
const nobody = -1

// follow returns the effect of the change of conditions, and moves the baseline if there is an effect beyond doubt. Its
// arguments are those that changeOf returns.
func (t *Tracker) follow(effects [statistics]estimate, moves Shifts, now time.Time) *record.Effect {
	e := t.current()
	sure := slices.ContainsFunc(effects[:], func(c estimate) bool { return c.bounded && t.isChange(c.middle) && (c.lower > 0 || c.upper < 0) })
	before := *e.Before
	out := doubt{Unmeasured(), Unmeasured()}
	effect := &record.Effect{Time: e.Started, Changes: e.Previous.Changes(e.Conditions), Ratios: map[record.Statistic]record.Ratio{}}
	for i, statistic := range t.names {
		c := effects[i]
		if c.blocks == 0 {
			continue
		}
		ratio, lower, upper := c.ratios()
		effect.Ratios[statistic] = record.Ratio{Ratio: ratio, Lower: lower, Upper: upper}
		// Once the change is sure, its estimate is believed of a tail, too, of which an hour says little.
		if sure && (t.isTail(i) || t.isChange(moves[i])) {
			t.moveBaseline(i, moves[i], now)
			e.Lifetime[i].add(moves[i], c)
			before[i] -= moves[i]
		}
		// Not the bounds of the effect: they are also wide if the device became slower some time after the change.
		if n := &e.Baseline.Of[i]; n.knowsNoise() {
			by := Shift(1.96 * math.Sqrt2 * float64(n.error(c.blocks)))
			out.Lower[i], out.Upper[i] = before[i]+c.middle-by, before[i]+c.middle+by
		}
	}
	e.Before, e.After, e.Doubt = &before, nil, &out
	if len(effect.Ratios) == 0 {
		return nil
	}
	e.came(effect)
	t.prepare()
	return effect
}

// changeOf returns how much slower each statistic is in blocks since the change than just before, and by how much that moves the
// baseline. An estimate without blocks is not known. There is no doubt about statistic found, or about none if that is nobody.
func (t *Tracker) changeOf(found int, after []judged) (effects [statistics]estimate, moves Shifts) {
	e := t.current()
	moves = Unmeasured()
	for i := range t.names {
		before := e.Before[i]
		var values []Shift
		for _, b := range after {
			if b.Alone[i].Known() {
				values = append(values, b.Alone[i]-before)
			}
		}
		if !before.Known() || len(values) < minEffectBlocks {
			continue
		}
		c := e.Baseline.Of[i].estimate(values)
		if c.bounded { // the level before is as uncertain as that since
			c.lower = c.middle - Shift(math.Sqrt2*float64(c.middle-c.lower))
			c.upper = c.middle + Shift(math.Sqrt2*float64(c.upper-c.middle))
			if i == found {
				c.lower = max(c.lower, 1)
			}
		}
		effects[i], moves[i] = c, moved(before, before+c.middle)
	}
	return effects, moves
}

// moved returns by how much a change moves the baseline, given how far the device was from it before and after. A
// deviation that ended with the change, as a backup or a fault that an update fixed, does not move the baseline.
func moved(before, after Shift) Shift {
	switch {
	case before > 0 && after < before:
		return min(0, after)
	case before < 0 && after > before:
		return max(0, after)
	}
	return after - before
}

// isChange reports whether a shift, to either side, is large enough to matter.
func (t *Tracker) isChange(s Shift) bool { return max(s, -s) >= t.settings.smallest() }

// moveBaseline moves the baseline of statistic i by the effect of a change of conditions. A drift that began with the
// change ends by that; one that was there before does not.
func (t *Tracker) moveBaseline(i int, by Shift, now time.Time) {
	e := t.current()
	n := &e.Baseline.Of[i]
	n.Curve = n.Curve.raised(by)
	e.Moved[i] = true
	values := valuesOf(e.names, e.Values)
	var moved Shifts
	moved[i] = by
	e.Values = named(e.names, values.moved(moved))
	for k := range t.recent {
		for _, x := range []*Shift{&t.recent[k].Shifts[i], &t.recent[k].Alone[i], &t.recent[k].withDay[i]} {
			if x.Known() { // one may be without the others
				*x -= by
			}
		}
	}
	v := &t.verdicts[i]
	if v.State != record.Regressed || v.Since.After(e.Started.Add(-blockLength)) {
		v.begin(record.Stable, now)
		return
	}
	v.Slower, v.Faster, v.Slow, v.Fast, v.Back = [references]cusum{}, [references]cusum{}, cusum{}, stretch{}, cusum{}
}
