package drift

import (
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// maxEpochs is how many sets of conditions are remembered, the oldest going first.
const maxEpochs = 16

// epoch is a stretch of time under one set of conditions, and its baseline.
type epoch struct {
	Conditions record.Conditions `json:"conditions"`
	Started    time.Time         `json:"started"`
	// Previous are the conditions before, when there were any.
	Previous *record.Conditions `json:"previous,omitempty"`
	// Samples are the rounds gathered for the reference, until there is one.
	Samples []Round `json:"samples,omitempty"`

	// Learned is when the baseline last matured; zero until there is one.
	Learned time.Time `json:"learned,omitzero"`
	Rounds  int       `json:"rounds,omitempty"` // that the baseline was learned from
	// Values are what the baseline says at its usual load.
	Values map[record.Statistic]float64 `json:"values,omitempty"`
	// Reference is what all shifts of the epoch are counted from.
	Reference Values    `json:"reference"`
	Baseline  *baseline `json:"baseline,omitempty"`
	// Blocks are gathered until the baseline is final.
	Blocks []block `json:"blocks,omitempty"`
	// Late are blocks with statistics that a final baseline does not know; see learnLate.
	Late []block `json:"late,omitempty"`
	// Beyond are blocks under loads that a final baseline does not know.
	Beyond []block `json:"beyond,omitempty"`
	// Anchored says that the baseline was imported: noise and load are learned, the level is not.
	Anchored bool `json:"anchored,omitempty"`
	// Pinned says that an operator keeps the level of Values, under the load that they were learned under: noise and load
	// are learned, and the epoch is not dropped for newer ones.
	Pinned bool `json:"pinned,omitempty"`
	// Unjudged counts the blocks in which nothing could be judged.
	Unjudged int `json:"unjudged,omitempty"`
	// Effect is what the change of conditions at the start of the epoch did.
	Effect *record.Effect `json:"effect,omitempty"`
	// Earlier are the effects of the changes before it that still make the device slower.
	Earlier []record.Effect `json:"earlier_effects,omitempty"`
	// Lifetime is how much slower than at first the levels are, see ageing.
	Lifetime [statistics]aged `json:"lifetime,omitzero"`
	Notes    []Note           `json:"notes,omitempty"`
	// Inherited says that the baseline is that of the epoch before, until a day has shown the
	// noise under these conditions.
	Inherited bool `json:"inherited,omitempty"`
	// Chained says that the level of Values follows from the epoch before and the effect of the change: it is not
	// learned anew.
	Chained bool `json:"chained,omitempty"`
	// OtherWork counts the blocks in a row in which others did work of a kind that the baseline has not learned.
	OtherWork int `json:"other_work,omitempty"`
	// Dropped are the sizes of I/Os whose blocks were dropped while the baseline is learned; see forgetOtherSizes.
	Dropped []sizes `json:"dropped_sizes,omitempty"`
	// Moved says which statistics the change has moved. An hour says too little about a tail, so the level of a moved
	// tail is learned anew.
	Moved [statistics]bool `json:"moved,omitzero"`
	// Anew says which statistics learned a level anew, such as those of traffic with other work; see EndRefuted.
	Anew [statistics]bool `json:"anew,omitzero"`
	// Assumed has the slot at which a statistic of traffic was learned, if its level may be that of a slower device: the work from which
	// it was learned does not explain how busy the device was with it. Else it is 0. See Tracker.Assumed.
	Assumed [statistics]int64 `json:"assumed,omitzero"`
	// Before is how much slower than the baseline the device was just before the change, and After are the first
	// blocks since. They are kept until the effect of the change is known. Doubt is how well it is known then, until a
	// day has shown the level under these conditions.
	Before *Shifts  `json:"before,omitempty"`
	After  []judged `json:"after,omitempty"`
	Doubt  *doubt   `json:"doubt,omitempty"`
	// learnedFrom are the blocks of the baseline, until it is anchored beside its peers.
	learnedFrom []block
	// names are the names of the statistics; set by the tracker.
	names []record.Statistic
}

func (e *epoch) learned() bool { return e.Baseline != nil }

func (e *epoch) final() bool { return e.learned() && e.Baseline.Maturity == record.Final }

func (e *epoch) rounds() int {
	if e.learned() {
		return e.Rounds
	}
	return len(e.Samples)
}

// hostMatters is the ratio, to either side, from which on an export says what the host did while the baseline was learned.
const hostMatters = 1.02

func (e *epoch) baseline(names []record.Statistic) record.Baseline {
	b := record.Baseline{Conditions: e.Conditions, Learned: e.Learned, Rounds: e.rounds(), Values: e.Values, Pinned: e.Pinned}
	if e.learned() {
		b.Maturity = e.Baseline.Maturity
		for i, name := range names { // a state that was read has none in its epochs
			if by := e.Baseline.Of[i].Host; max(by, -by) >= ShiftOf(hostMatters) {
				if b.HostSlower == nil {
					b.HostSlower = map[record.Statistic]float64{}
				}
				b.HostSlower[name] = by.Ratio()
			}
		}
	}
	return b
}

// point returns a round relative to this epoch's reference.
func (e *epoch) point(r Round) point {
	return point{Time: r.Time.Unix(), Load: r.load(), Work: r.Work.rates(), Shifts: r.Values.from(e.Reference)}
}

// sample adds a round, and returns true when that made the first baseline.
func (e *epoch) sample(r Round, goal int) bool {
	e.Samples = append(e.Samples, r)
	if len(e.Samples) < goal {
		return false
	}
	for i := range e.names {
		column := make([]float64, 0, len(e.Samples))
		for _, s := range e.Samples {
			if s.Values[i] > 0 {
				column = append(column, s.Values[i])
			}
		}
		e.Reference[i] = unseenReference
		if len(column) > 0 {
			e.Reference[i] = median(column)
		}
	}
	points := make([]point, len(e.Samples))
	for i, s := range e.Samples {
		points[i] = e.point(s)
	}
	e.Baseline, e.Learned, e.Rounds = learnEarly(points), r.Time, len(e.Samples)
	e.Values = e.values(Shifts{})
	return true
}

// unseenReference is the reference of a statistic that no sample had, in the unit of the statistic.
const unseenReference = 100e-6

// values returns what the baseline says of each statistic that it knows.
func (e *epoch) values(at Shifts) map[record.Statistic]float64 {
	v := e.Reference.moved(at)
	for i := range v {
		if !e.Baseline.Of[i].learned() {
			v[i] = 0
		}
	}
	return named(e.names, v)
}

// takeSamples turns the rounds gathered for the reference into blocks; what is
// left of them is the block under way.
func (e *epoch) takeSamples() openBlock {
	var open openBlock
	for _, r := range e.Samples {
		if b, ok := open.add(slot(r.Time), e.point(r)); ok {
			e.Blocks = append(e.Blocks, b)
		}
	}
	e.Samples = nil
	return open
}

// gather adds a block to what the baseline is learned from, and returns true when
// that made the baseline more mature.
func (e *epoch) gather(b block, host Host, matters Shift) bool {
	e.Blocks = append(e.Blocks, b)
	n, maturity := len(e.Blocks), record.Provisional
	day := n >= finalBlocks || n >= minFinalBlocks && b.Slot-e.Blocks[0].Slot >= finalBlocks
	failed := false
	if e.Inherited && !day {
		if failed = e.failed(); !failed {
			return false
		}
		e.Blocks = e.Blocks[:len(e.Blocks)-failedBlocks]
	}
	e.Inherited = failed // then the noise of a day is still to be learned
	if day || failed {
		maturity = record.Final
	} else if n < provisionalBlocks || n%provisionalBlocks != 0 {
		return false
	}
	before := e.Baseline
	e.learnedFrom = e.Blocks
	e.Baseline, e.Rounds = learn(e.names, e.Blocks, maturity, e.Anchored, e.Baseline, host), 0
	for _, b := range e.Blocks {
		e.Rounds += b.Rounds
	}
	switch {
	case e.Pinned, e.Chained:
		learned := valuesOf(e.names, e.values(e.Baseline.level(e.Blocks)))
		wanted := valuesOf(e.names, e.Values)
		if e.Chained {
			// The load of this day may be another, so what the baseline before says of these blocks counts. If their
			// work is of another kind, what it takes is known better now.
			same := before.copied()
			if before.Of[0].otherWork(e.Blocks, 0) || before.Of[1].otherWork(e.Blocks, 1) {
				same.Costs = e.Baseline.Costs
			}
			level := e.Baseline.level(e.Blocks)
			least, most := same.levels(e.Blocks)
			for i := range level {
				// The load of these blocks does not explain by how much the host was slower than in the baseline before.
				beside := level[i] - max(0, e.Baseline.Of[i].Host-before.Of[i].Host)
				level[i] = max(least[i], min(most[i], beside))
			}
			wanted = valuesOf(e.names, e.values(level))
			e.correct(&wanted, learned, matters)
		}
		for i := range e.Baseline.Of {
			if e.anew(i, before) {
				e.Anew[i], e.Lifetime[i] = true, aged{}
				e.assume(i, b.Slot, before.Costs.busier(e.Blocks))
				wanted[i] = learned[i]
				continue
			}
			// The level is as before, and so is the host's part in it.
			e.Baseline.Of[i].Host = before.Of[i].Host
		}
		kept := valuesOf(e.names, e.Values)
		for i := range kept {
			if !e.Pinned || kept[i] == 0 {
				kept[i] = wanted[i]
			}
		}
		e.Values = named(e.names, kept)
		e.Baseline.moveTo(wanted.from(e.Reference), e.Blocks)
		e.learnedFrom = nil
	case e.Anchored:
		for i := range e.names {
			if e.imported(i) {
				e.Baseline.Of[i].Host = before.Of[i].Host
			}
		}
	default:
		e.Values = e.values(e.Baseline.level(e.Blocks))
		for i := range e.names {
			e.assume(i, b.Slot, true) // nothing is known yet that could explain how busy the device was
		}
	}
	if day {
		e.Blocks = nil
	}
	return true
}

// correct makes the levels that follow from the epoch before those that a day has shown, as far as it was in doubt what the
// change did, and as far as that matters. What it did not change beyond doubt stays: a creep must not hide in many changes.
// The level of a tail is learned anew all the same.
func (e *epoch) correct(wanted *Values, learned Values, matters Shift) {
	within := e.Doubt
	e.Before, e.Doubt = nil, nil
	if within == nil {
		return
	}
	was, is := wanted.from(e.Reference), learned.from(e.Reference)
	var by Shifts
	for i := range e.names {
		if e.Moved[i] && !e.names[i].IsTail() && was[i].Known() && is[i].Known() && within.Lower[i].Known() {
			by[i] = max(min(0, within.Lower[i]), min(max(0, within.Upper[i]), is[i]-was[i]))
		}
		if max(by[i], -by[i]) < matters {
			by[i] = 0
		}
	}
	if by == (Shifts{}) || e.Effect == nil {
		return
	}
	*wanted = wanted.moved(by)
	effect := *e.Effect
	effect.Ratios = maps.Clone(effect.Ratios) // others hold the one before
	for i, statistic := range e.names {
		e.Lifetime[i].Slower += by[i]
		if r, known := effect.Ratios[statistic]; known && by[i] != 0 {
			r.Ratio *= by[i].Ratio()
			effect.Ratios[statistic] = r
		}
	}
	e.Effect = &effect
}

// imported reports whether the level of statistic i was imported. The host's part in it came with it, and is not learned.
func (e *epoch) imported(i int) bool { return e.Anchored && e.Values[e.names[i]] > 0 }

// anew reports whether the level of statistic i is learned anew, though it follows from the epoch before. An hour
// said too little about what the change did to a tail, and traffic has no level yet for other work, or for what it never had.
func (e *epoch) anew(i int, before *baseline) bool {
	switch {
	case i >= len(e.names):
		return false
	case !before.Of[i].learned():
		return true
	case e.Pinned:
		return false
	}
	return e.Moved[i] && e.names[i].IsTail() || isTraffic(e.names) && before.Of[i].otherWork(has(e.Blocks, i), i)
}

// assume notes whether the level of statistic i, which was learned up to a slot, may be that of a slower device. Only that of traffic may.
func (e *epoch) assume(i int, slot int64, may bool) {
	e.Assumed[i] = 0
	if may && isTraffic(e.names) {
		e.Assumed[i] = slot
	}
}

// forget drops the gathered blocks of a drift, which is no part of the baseline: those since a slot and, while the first
// baseline is learned, those right before it that were slower by half of the drift than others with like work. As long as
// little is known of what work takes, the load of a drive that becomes slower seems to explain why it does.
func (e *epoch) forget(since int64, i int, half Shift) {
	if !e.Inherited && !e.Chained {
		for _, b := range slices.Backward(e.Blocks) {
			if b.Slot >= since {
				continue
			}
			if !b.Level[i].Known() || b.Level[i]-e.leastAtLikeWork(b, i) < half {
				break
			}
			since = b.Slot
		}
	}
	late := func(b block) bool { return b.Slot >= since }
	e.Blocks, e.Beyond, e.Late = slices.DeleteFunc(e.Blocks, late), slices.DeleteFunc(e.Beyond, late), slices.DeleteFunc(e.Late, late)
}

// forgetStatistic drops a statistic of the blocks gathered since a slot, when the regression that was taken off it is over.
func (e *epoch) forgetStatistic(i int, since int64) {
	for k := range e.Blocks {
		if b := &e.Blocks[k]; b.Slot >= since {
			b.Level[i], b.Worst[i] = missing, missing
		}
	}
	e.Blocks = slices.DeleteFunc(e.Blocks, func(b block) bool { return !slices.ContainsFunc(b.Level[:], Shift.Known) })
}

// muchLikeWork is how many times more or less others may do in two blocks that have like work.
const muchLikeWork = 1.25

// leastAtLikeWork returns the lowest level of statistic i in the gathered blocks in which others did about as much work as
// in b. If no work was counted, it is the level of b: nothing shows then that load does not explain it.
func (e *epoch) leastAtLikeWork(b block, i int) Shift {
	least, mine := b.Level[i], usualCosts().time(b.Work)
	for _, o := range e.Blocks {
		theirs := usualCosts().time(o.Work)
		if b.Work.Known && o.Work.Known && o.Level[i].Known() && theirs >= mine/muchLikeWork && theirs <= mine*muchLikeWork {
			least = min(least, o.Level[i])
		}
	}
	return least
}

// current returns the epoch under way; there must be one.
func (t *Tracker) current() *epoch { return &t.epochs[len(t.epochs)-1] }

// enter makes the epoch of these conditions the current one: an earlier one if the conditions have come back, else a
// new one.
func (t *Tracker) enter(now time.Time, conditions record.Conditions) []Event {
	if len(t.epochs) > 0 && t.current().Conditions == conditions {
		return nil
	}
	known := slices.IndexFunc(t.epochs, func(e epoch) bool { return e.Conditions == conditions })
	if known < 0 && len(t.epochs) > 0 && t.current().Conditions.Extended(conditions) {
		t.epochs[len(t.epochs)-1].Conditions = conditions
		return nil
	}
	var events []Event
	e := epoch{Conditions: conditions, Started: now, names: t.names}
	var left epoch
	inherits := false
	if len(t.epochs) > 0 {
		current := t.current()
		left = *current
		previous := current.Conditions
		changes := previous.Changes(conditions)
		events = []Event{{Time: now, Changes: changes}}
		t.noteChanges(now, changes)
		if inherits = known < 0 && current.final(); inherits {
			e = current.inherited(conditions, now, t.justBefore())
		}
		e.Previous, e.Earlier = &previous, current.slowing()
		if current.unproven() && known >= 0 && *current.Previous == conditions {
			// The change was short: continue as if nothing had been.
			t.epochs = t.epochs[:len(t.epochs)-1]
			inherits = true
		}
	}
	if known >= 0 {
		e = t.epochs[known]
		t.epochs = slices.Delete(t.epochs, known, known+1)
	}
	t.epochs = append(t.epochs, e)
	t.dropOldest()
	switch {
	case inherits:
		t.open = openBlock{} // part of it was before the change
	case t.flips(&left, now):
		t.carryOver(&left)
	case e.learned():
		t.goOn(now)
	default:
		t.restart(now)
	}
	return events
}

// dropOldest keeps no more epochs than maxEpochs: the oldest go, pinned ones last.
func (t *Tracker) dropOldest() {
	for len(t.epochs) > maxEpochs {
		oldest := slices.IndexFunc(t.epochs[:len(t.epochs)-1], func(e epoch) bool { return !e.Pinned })
		oldest = max(0, oldest)
		t.epochs = slices.Delete(t.epochs, oldest, oldest+1)
	}
}
