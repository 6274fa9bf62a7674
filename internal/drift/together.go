package drift

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// BlockLength is the unit of comparison.
const BlockLength = blockLength

// Slot numbers the block that t lies in, by the clock.
func Slot(t time.Time) int64 { return slot(t) }

// SlotTime returns when a slot begins.
func SlotTime(n int64) time.Time { return slotTime(n) }

// Statistics is the number of statistics in Shifts.
const Statistics = statistics

// Missing is the shift of what was not measured.
const Missing = missing

// JudgeBeside makes the tracker leave its blocks unjudged until Settle is called, and take off what the host did.
func (t *Tracker) JudgeBeside(h Host) { t.host, t.together = h, true }

// Close completes the block under way if all of it lies before a slot and it has enough rounds.
func (t *Tracker) Close(before int64) {
	if len(t.epochs) == 0 || !t.current().learned() || len(t.open.Points) < minBlockRounds || t.open.Slot+t.Slots() > before {
		return
	}
	t.closed = append(t.closed, t.open.close())
	t.open = openBlock{}
}

// Waiting calls visit with each block that is not judged yet: how much slower it was than the
// baseline at its load, the host's part included.
func (t *Tracker) Waiting(visit func(slot int64, s Shifts)) { t.visit(t.closed, visit) }

// Measured is a block as it was measured, whatever the baseline says of it.
type Measured struct {
	Slot int64 `json:"slot"`
	// Levels are the shifts against one second (or one a second); Missing where nothing was measured.
	Levels Shifts `json:"levels"`
	Work   Work   `json:"work,omitzero"`
	// Utilisation is the share (0 to 1) of time that the device was busy with others' I/O.
	Utilisation float64 `json:"utilisation,omitempty"`
}

// Measured calls visit with each block that is not judged yet.
func (t *Tracker) Measured(visit func(Measured)) {
	for _, b := range t.closed {
		m := Measured{Slot: b.Slot, Levels: b.Level, Work: b.Work.work(), Utilisation: float64(max(0, b.Load)) / 1000}
		for i := range t.names {
			if m.Levels[i].Known() {
				m.Levels[i] += t.reference(i)
			}
		}
		visit(m)
	}
}

// reference returns the reference of statistic i as a shift against one second (or one a second).
func (t *Tracker) reference(i int) Shift {
	r := t.current().Reference[i]
	if i == rate {
		return ShiftOf(1 / r)
	}
	return ShiftOf(r)
}

// LearnedFrom is like Waiting, for the blocks that the baseline has just been learned from. There are none after
// Anchor.
func (t *Tracker) LearnedFrom(visit func(slot int64, s Shifts)) {
	if len(t.epochs) > 0 {
		t.visit(t.current().learnedFrom, visit)
	}
}

// Anchor computes again how slow the others were while the baseline was learned. That may have changed, because the
// others may have learned new baselines, too.
func (t *Tracker) Anchor() {
	if len(t.epochs) == 0 || len(t.current().learnedFrom) == 0 {
		return
	}
	e, host := t.current(), askOnce(t.host)
	for i := range t.names {
		if !e.imported(i) {
			_, e.Baseline.Of[i].Host = hostParts(e.learnedFrom, i, host)
		}
	}
	e.learnedFrom = nil
}

func (t *Tracker) visit(blocks []block, visit func(slot int64, s Shifts)) {
	if len(t.epochs) == 0 || !t.current().learned() {
		return
	}
	base := t.current().Baseline
	for _, b := range base.loaded(blocks) {
		s := Unmeasured()
		for i := range t.names {
			s[i] = base.shift(b, i)
			if t.traffic() && !base.Of[i].likeWork(b.Work, i) {
				s[i] = missing
			}
		}
		visit(b.Slot, s)
	}
}

// Unmeasured returns shifts that are all missing.
func Unmeasured() Shifts { return Shifts{missing, missing, missing, missing} }

// Settle judges the blocks that are over.
func (t *Tracker) Settle(now time.Time) []Event {
	if len(t.closed) == 0 {
		return nil
	}
	before := t.states()
	t.settle(now)
	return t.changed(before, now)
}

// Maturity returns the maturity of the current baseline; empty while there is none.
func (t *Tracker) Maturity() record.Maturity {
	if len(t.epochs) == 0 || !t.current().learned() {
		return ""
	}
	return t.current().Baseline.Maturity
}

// Level returns what the baseline says of statistic i at the least load, as a shift against one second (or one a
// second), so that drives can be compared; Missing when it does not know it.
func (t *Tracker) Level(i int) Shift {
	if t.Maturity() == "" {
		return missing
	}
	e := t.current()
	n := &e.Baseline.Of[i]
	if !n.knowsNoise() {
		return missing
	}
	return t.reference(i) + n.Curve.at(e.Baseline.MinLoad)
}

// LeastLoad returns the lowest load, in thousandths, at which it is known what is normal for statistic i; 0 without a
// baseline.
func (t *Tracker) LeastLoad(i int) int {
	if t.Maturity() == "" {
		return 0
	}
	b := t.current().Baseline
	if c := b.Of[i].Curve; len(c) > 0 {
		return max(b.MinLoad, c[0].Load)
	}
	return b.MinLoad
}

// LeastLoadAs is LeastLoad as it would be on another device. A device that has always been slower is busier with the same
// work, which does not excuse it.
func (t *Tracker) LeastLoadAs(other *Tracker, i int, w Work) int {
	least := t.LeastLoad(i)
	if t.Maturity() == "" || other.Maturity() == "" || !w.Known {
		return least
	}
	rates := w.rates()
	mine, theirs := t.current().Baseline.Costs.time(rates), other.current().Baseline.Costs.time(rates)
	if theirs <= 0 || mine <= theirs {
		return least
	}
	return longer(least, theirs/mine)
}

// Rise returns how much slower statistic i is at a load, in thousandths, than at the lowest load that the baseline knows,
// and how much of that is in doubt: beyond the loads that it knows, the load curve is continued as a queue explains. It is
// false without a baseline, and where the doubt is too large.
func (t *Tracker) Rise(i, load int) (rise, doubt Shift, ok bool) {
	if t.Maturity() == "" {
		return 0, 0, false
	}
	b := t.current().Baseline
	load = max(load, b.MinLoad)
	doubt = b.doubt(load, i)
	return b.continued(load, i) - b.Of[i].Curve.at(b.MinLoad), doubt, doubt <= mostAllowance
}

// SlowerUnder returns how much slower statistic i is under some work than under less, by the load curve and, beyond the loads
// that the baseline knows, as a queue explains; 0 where that is not known.
func (t *Tracker) SlowerUnder(i int, more, less Work) Shift {
	if t.Maturity() == "" || !more.Known || !less.Known {
		return 0
	}
	b := t.current().Baseline
	if !b.byWork() {
		return 0
	}
	at := func(w Work) Shift { return b.continued(b.Costs.load(w.rates(), b.MinLoad), i) }
	return max(0, at(more)-at(less))
}

// Expected returns how much slower statistic i is expected to be in a slot, by what recurs daily or weekly.
func (t *Tracker) Expected(i int, slot int64) Shift {
	if t.Maturity() == "" {
		return 0
	}
	return t.ownPast(i, t.blockSlot(slot))
}

// Conditions returns the conditions of the current epoch.
func (t *Tracker) Conditions() record.Conditions {
	if len(t.epochs) == 0 {
		return record.Conditions{}
	}
	return t.current().Conditions
}

// Noise returns how much faster and slower than the baseline nine of ten of its blocks are at most.
func (t *Tracker) Noise(i int) (faster, slower Shift) {
	if t.Maturity() == "" {
		return 0, 0
	}
	n := &t.current().Baseline.Of[i]
	return -quantile(n.Residuals, 0.05), quantile(n.Residuals, 0.95)
}

// LastJudged returns when the last judged block began, or when the baseline changed after that.
func (t *Tracker) LastJudged() time.Time {
	if len(t.epochs) == 0 {
		return time.Time{}
	}
	last := t.current().Learned
	if n := len(t.recent); n > 0 && slotTime(t.recent[n-1].Slot).After(last) {
		last = slotTime(t.recent[n-1].Slot)
	}
	return last
}

// Configure changes the settings. What was found stays.
func (t *Tracker) Configure(s Settings) {
	t.settings = s.orDefault()
	t.window.span = t.settings.Window
	t.prepare()
}

// Learned returns when the baseline last matured; zero until there is one.
func (t *Tracker) Learned() time.Time {
	if len(t.epochs) == 0 {
		return time.Time{}
	}
	return t.current().Learned
}

// LastRound returns the time of the last round that the tracker took.
func (t *Tracker) LastRound() time.Time { return t.last }

// StateOf returns the state of statistic i.
func (t *Tracker) StateOf(i int) record.DriftState { return t.verdicts[i].State }

// AttributionOf returns the changes of conditions at the onset of statistic i.
func (t *Tracker) AttributionOf(i int) []record.Change { return t.verdicts[i].Attribution }

// LearnedBeside returns how much slower than usual the others were by statistic i while the baseline was learned.
func (t *Tracker) LearnedBeside(i int) Shift {
	if t.Maturity() == "" {
		return 0
	}
	return t.current().Baseline.Of[i].Host
}

// Onset returns since when statistic i is in its state.
func (t *Tracker) Onset(i int) time.Time { return t.verdicts[i].Since }

// Shift returns how much slower statistic i is now, since its onset if it has drifted.
func (t *Tracker) Shift(i int) Shift { return t.now(i, t.underWay()).middle }

// Statistics returns the names of the compared statistics.
func (t *Tracker) Statistics() []record.Statistic { return t.names }

// Drift returns the last comparison of each statistic.
func (t *Tracker) Drift() []record.Drift { return t.drift() }

// NewBlockTracker returns a tracker that is fed with blocks instead of rounds, such as the medians of several drives.
// It has a final baseline, learned from the given blocks, in order of time. A block is how much slower than usual
// something was.
func NewBlockTracker(s Settings, traffic bool, slots []int64, shifts []Shifts) *Tracker {
	t := NewTracker(s)
	if traffic {
		t = NewTrafficTracker(s)
	}
	t.together, t.ranged = true, true
	e := epoch{Started: slotTime(slots[0]), Learned: slotTime(slots[len(slots)-1]), Reference: Values{1, 1, 1, 1}, names: t.names}
	blocks := make([]block, len(slots))
	for i := range slots {
		blocks[i] = blockOf(slots[i], shifts[i])
	}
	e.Baseline = learn(t.names, blocks, record.Final, false, nil, Alone{})
	e.Rounds, e.Values = len(blocks), e.values(e.Baseline.level(blocks))
	t.epochs = []epoch{e}
	t.become(record.Stable, e.Learned)
	t.prepare()
	return t
}

// RestoreBlockTracker returns a tracker like that of NewBlockTracker, with the State of an earlier one. Errors: those
// of Restore.
func RestoreBlockTracker(settings Settings, s State) (*Tracker, error) {
	t := NewTracker(settings)
	t.together, t.ranged = true, true
	err := t.Restore(s)
	return t, err
}

func blockOf(slot int64, s Shifts) block {
	return block{Slot: slot, Rounds: minBlockRounds, Level: s, Worst: s}
}

// AddBlock takes a block, to be judged by Settle. It is for trackers of NewBlockTracker.
func (t *Tracker) AddBlock(slot int64, s Shifts) {
	for i := range t.names {
		if s[i].Known() {
			s[i] -= t.reference(i) // what was accepted is normal
		}
	}
	t.closed = append(t.closed, blockOf(slot, s))
}

// ClockSetBack tells that the clock was set back. The baseline and the verdicts stay; what recurs at some time is forgotten, as
// it may have been learned from what is the future now. It is for trackers of NewBlockTracker.
func (t *Tracker) ClockSetBack(now time.Time) {
	t.clockSetBack(now)
	t.last = now
	for i := range t.names {
		t.current().Baseline.Of[i].recurring = recurring{}
	}
}

// Accepted returns how much slower than at first statistic i is taken to be normally, because an operator accepted
// that. It is for trackers of NewBlockTracker.
func (t *Tracker) Accepted(i int) Shift { return t.reference(i) }

// Notes returns what operators said about the current baseline.
func (t *Tracker) Notes() []Note {
	if len(t.epochs) == 0 {
		return nil
	}
	return slices.Clone(t.current().Notes)
}

// NoteChanges tells the tracker of changes of conditions that its devices have in common.
func (t *Tracker) NoteChanges(now time.Time, changes []record.Change) { t.noteChanges(now, changes) }

// LastShifts returns how much slower than the baseline each statistic was in the last rounds since a time, the host's
// part included; Missing when there are none.
func (t *Tracker) LastShifts(since time.Time) Shifts {
	out := Unmeasured()
	if t.Maturity() == "" {
		return out
	}
	base := t.current().Baseline
	var columns [statistics][latestRounds]Shift
	var rounds [statistics]int
	for _, p := range t.latest {
		if p.Time < since.Unix() {
			continue
		}
		load := base.load(p.Work, p.Load)
		for i := range base.Of {
			if n := &base.Of[i]; p.Shifts[i].Known() && n.learned() && (!t.traffic() || n.likeWork(p.Work, i)) {
				columns[i][rounds[i]] = p.Shifts[i] - n.Curve.at(load)
				rounds[i]++
			}
		}
	}
	for i, n := range rounds {
		if n > 0 {
			out[i] = median(columns[i][:n])
		}
	}
	return out
}

// ShiftSince returns how much slower statistic i has been since an onset, and in how many blocks that was judged. The
// block of the onset does not count, as part of it is from before.
func (t *Tracker) ShiftSince(i int, onset time.Time) (Shift, int) {
	return t.level(i, slot(onset)+1, recentBlocks)
}

// OtherWork returns how many times slower the device may be because the I/O of others is of a kind that the baseline
// has not learned: what a queue explains under the observed load. It is 1 when most of the last rounds saw a kind
// that was learned.
func (t *Tracker) OtherWork() float64 {
	if t.Maturity() == "" || len(t.latest) == 0 {
		return 1
	}
	b, others, loads := t.current().Baseline, 0, make([]int, 0, latestRounds)
	for _, p := range t.latest {
		loads = append(loads, max(0, p.Load))
		if !b.likeWork(p.Work) {
			others++
		}
	}
	if 2*others <= len(t.latest) {
		return 1
	}
	return min(doubted, 1/(1-min(0.98, float64(median(loads))/1000))) // bounded, as a slow device is busy, too
}

// End ends a regression of statistic i.
func (t *Tracker) End(i int, now time.Time) []Event {
	before := t.states()
	if t.verdicts[i].State == record.Regressed {
		t.verdicts[i].begin(record.Stable, now)
	}
	return t.changed(before, now)
}

// latestRounds is how many of the last rounds are kept, for LastShifts and OtherWork.
const latestRounds = 3

// Suspicious returns how many slow rounds a stretch has that the next ones decide; 0 when the last round was not
// slow.
func (t *Tracker) Suspicious() (rounds int) {
	for i := range t.verdicts {
		v := &t.verdicts[i]
		if v.State != record.Regressed && v.Fast.Count < stretchRounds && !t.isTail(i) && v.Fast.Last.Equal(t.last) {
			rounds = max(rounds, v.Fast.Count)
		}
	}
	return rounds
}
