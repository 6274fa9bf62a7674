package drift

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Event is a change that is worth reporting.
type Event struct {
	Time time.Time
	// Statistic is empty for events about the epoch as a whole.
	Statistic record.Statistic
	From, To  record.DriftState
	// Ratio is how many times slower than the baseline the statistic is. Lower and Upper are the bounds of its 95 %
	// interval, both 0 when there is none.
	Ratio, Lower, Upper float64
	// Since is the estimated onset.
	Since time.Time
	Cause record.Cause
	// Attribution are the changes of conditions within an hour of the onset.
	Attribution []record.Change

	// Changes are the changes of conditions that began a new epoch.
	Changes []record.Change
	// Learned is true when a first baseline has just become complete.
	Learned bool
	// Effect is what a change of conditions did. It is reported once, as soon as it is known.
	Effect *record.Effect
}

// Status is what is currently known.
type Status struct {
	Window         *record.Window
	Baseline       *record.Baseline
	LearningRounds int
	LearningGoal   int
	Drift          []record.Drift
	// Effect is what the last change of conditions did; nil when not known.
	Effect *record.Effect
	// Earlier are the effects of the changes before it that still make the device slower, see record.ProbeStatus.
	Earlier []record.Effect
	// Lifetime compares the level of the baseline with the first one, see record.ProbeStatus.
	Lifetime map[record.Statistic]record.Lifetime
	// UnjudgedBlocks counts the blocks in which nothing could be judged, as when others load the device in a way that
	// the baseline has not seen.
	UnjudgedBlocks int
}

// Tracker follows one probe on one target, or the target's own traffic. It is not safe for concurrent use.
type Tracker struct {
	settings Settings
	names    []record.Statistic // of the compared statistics
	host     Host
	// together says that blocks wait until Settle is called, when those of the peers are known.
	together bool
	ranged   bool             // a block beyond the range of the baseline needs no CUSUM (see range.go)
	closed   []block          // completed, and not judged yet
	latest   []point          // the last rounds, at most latestRounds
	effects  []*record.Effect // of changes of conditions, not reported yet
	window   window
	epochs   []epoch // the last one is the current one
	changes  []change
	last     time.Time // time of the last round
	open     openBlock
	recent   []judged // at most recentBlocks, the last one last
	compared [statistics]compared
	interval time.Duration // between rounds; 0 when they are frequent
	verdicts []verdict     // in the order of names
	plans    [statistics][references]plan
}

// plan is what a CUSUM of one statistic subtracts from each block, and its threshold in either direction. Both follow
// from the baseline and the settings.
type plan struct {
	reference      Shift
	slower, faster float64
}

// NewTracker returns a tracker of a probe that does not know anything yet.
func NewTracker(s Settings) *Tracker { return newTracker(s, record.Statistics()) }

// NewTrafficTracker returns a tracker of the drive's own traffic that does not know anything yet.
func NewTrafficTracker(s Settings) *Tracker { return newTracker(s, record.TrafficStatistics()) }

func newTracker(s Settings, names []record.Statistic) *Tracker {
	t := &Tracker{settings: s.orDefault(), names: names, host: Alone{}}
	t.window.span = t.settings.Window
	t.restart(time.Time{})
	return t
}

// restart forgets the recent past, and all conclusions from it.
func (t *Tracker) restart(now time.Time) {
	t.window.clear()
	t.open, t.closed, t.recent, t.latest = openBlock{}, nil, nil, nil
	t.verdicts = make([]verdict, len(t.names))
	t.become(record.Learning, now)
	t.prepare()
}

func (t *Tracker) become(state record.DriftState, now time.Time) {
	for i := range t.verdicts {
		t.verdicts[i].begin(state, now)
	}
}

// prepare sets the thresholds of the CUSUMs for the current baseline.
func (t *Tracker) prepare() {
	if len(t.epochs) == 0 || !t.current().learned() {
		return
	}
	for i := range t.names {
		n := &t.current().Baseline.Of[i]
		if !n.knowsNoise() {
			continue
		}
		for k, reference := range n.references(t.settings.smallest()) {
			t.plans[i][k] = plan{
				reference: reference,
				slower:    n.threshold(n.slower, reference, t.settings.rarity()),
				faster:    n.threshold(n.faster, reference, t.settings.rarity()),
			}
		}
	}
}

// slowThreshold is the threshold of the CUSUM of slow rounds. It adds logarithms of
// likelihood ratios, so θ is 1 (see noise.threshold).
func (t *Tracker) slowThreshold(i int) float64 {
	return max(1, t.current().Baseline.Of[i].SlowAutocorrelation) * -math.Log(t.settings.rarity())
}

// Add takes a measurement. It ignores measurements whose outcome is not ok. Those with a warning that they come from
// too small a part of the device are shown, but neither learned from nor compared.
func (t *Tracker) Add(m record.Measurement) []Event {
	if m.Outcome != record.OutcomeOK {
		return nil
	}
	m.Start = wallClock(m.Start)
	r := Round{Time: m.Start, Utilisation: m.Load.Utilisation}
	r.Work = WorkOf(m.Load.Others)
	for i, s := range t.names {
		r.Values[i] = s.Of(m)
	}
	if !t.usable(r.Values) {
		return nil
	}
	events := t.enter(m.Start, m.Conditions)
	t.window.add(m)
	if slices.ContainsFunc(m.Warnings, func(w record.Warning) bool { return w.Code == record.WarnPoolSmall }) {
		return events
	}
	return append(events, t.take(r)...)
}

// AddRound takes a round of which only the statistics are known, such as of traffic or of a recorded history. It does not
// enter the window.
func (t *Tracker) AddRound(r Round, conditions record.Conditions) []Event {
	if !t.usable(r.Values) {
		return nil
	}
	r.Time = wallClock(r.Time)
	return append(t.enter(r.Time, conditions), t.take(r)...)
}

// wallClock returns a time without the monotonic reading that time.Now adds. Blocks and stored states go by the wall clock;
// by the other, it would not be noticed when the wall clock is set back.
func wallClock(t time.Time) time.Time { return t.Round(0) }

// usable reports whether v are the values of a round. A probe has all its statistics; traffic may have reads and no
// writes.
func (t *Tracker) usable(v Values) bool {
	return v.valid() && (t.traffic() || !slices.Contains(v[:], 0))
}

func (t *Tracker) traffic() bool { return isTraffic(t.names) }

// isTraffic reports whether statistics are those of a drive's own traffic.
func isTraffic(names []record.Statistic) bool { return names[0] == record.OthersReadLatency }

// take learns from a round or compares it.
func (t *Tracker) take(r Round) []Event {
	if r.Time.Before(t.last.Add(-blockLength)) {
		t.clockSetBack(r.Time)
	}
	t.last = r.Time
	e := t.current()
	if !e.learned() {
		if !e.sample(r, t.settings.BaselineRounds) {
			return nil
		}
		t.open = e.takeSamples()
		t.become(record.Stable, r.Time)
		for i := range t.names {
			t.know(i, r.Time)
		}
		e.came(t.effect())
		return []Event{{Time: r.Time, Learned: true, Effect: e.Effect}}
	}
	before := t.states()
	p := e.point(r)
	if b, ok := t.open.add(t.blockSlot(slot(r.Time)), p); ok {
		t.closed = append(t.closed, b)
	}
	if !t.together {
		t.settle(r.Time)
	}
	t.judgeRound(p, r.Time)
	if t.latest = append(t.latest, p); len(t.latest) > latestRounds {
		t.latest = slices.Delete(t.latest, 0, 1)
	}
	return t.changed(before, r.Time)
}

// settle judges the blocks that are over.
func (t *Tracker) settle(now time.Time) {
	for _, b := range t.closed {
		t.takeBlock(b, now)
	}
	t.closed = nil
}

// clockSetBack forgets everything that depends on times that now lie in the future. When a verdict began is kept: a clock that is
// behind for minutes after a boot is set right again.
func (t *Tracker) clockSetBack(now time.Time) {
	t.open, t.closed, t.recent, t.changes = openBlock{}, nil, nil, nil
	for i, v := range t.verdicts {
		t.verdicts[i] = verdict{
			State: v.State, Since: v.Since, Cause: v.Cause, Attribution: v.Attribution,
			BackReference: v.BackReference, BackThreshold: v.BackThreshold, Followed: v.Followed, Size: v.Size, Before: v.Before,
		}
		if c := &t.compared[i]; c.At.After(now) {
			c.At, c.Until = now, now.Add(t.stale())
		}
	}
}

// redate gives a drift of statistic i another onset if its own still lies in the future after an hour of blocks: the clock that said
// so was ahead. Nothing would be compared since such an onset. All that is known then is that the drift is older than these blocks.
// If the baseline lies in the future, too, the clock is rather behind now.
func (t *Tracker) redate(i int) {
	v, n := &t.verdicts[i], len(t.recent)
	if !v.found() || n < shownBlocks || slot(v.Since) <= t.recent[n-1].Slot+shownBlocks {
		return
	}
	if first := slotTime(t.recent[0].Slot); first.After(t.current().Learned) {
		v.Since = first
	}
}

// takeBlock judges a block, and learns from it while the baseline is not final.
func (t *Tracker) takeBlock(b block, now time.Time) {
	e := t.current()
	loaded := b
	loaded.Load = e.Baseline.load(b.Work, b.Load)
	j, ok := t.judged(loaded)
	t.knowBlock(b, j)
	if ok {
		if t.recent = append(t.recent, j); len(t.recent) > recentBlocks {
			t.recent = slices.Delete(t.recent, 0, len(t.recent)-recentBlocks)
		}
		t.learnSpell()
		if e.unproven() {
			if effect := t.prove(j, now); effect != nil {
				t.effects = append(t.effects, effect)
			}
		}
		for i := range t.names {
			if n := &e.Baseline.Of[i]; j.Shifts[i].Known() {
				n.recurring = n.recurring.after(b.Slot, j.withDay[i]-t.drifted(i)).followed(t.recent, i)
			}
			t.redate(i)
			switch {
			case !j.Shifts[i].Known():
			case e.unproven() && !t.verdicts[i].found(): // it may be the effect of the change
			case e.Baseline.Of[i].knowsNoise():
				t.judge(i, now)
			case t.verdicts[i].found():
				t.judgeBack(i, now)
			}
		}
	} else {
		e.Unjudged++
	}
	for i := range t.names {
		if !j.Shifts[i].Known() {
			t.inDoubt(loaded, i)
			t.bound(loaded, i, now)
		}
	}
	if e.final() && !e.Inherited {
		t.learnLate(b)
	}
	switch {
	case !e.final() || e.Inherited:
		t.learn(b, now)
	case e.otherWorkStays(b):
		e.learnAgain()
	case !e.Baseline.knows(loaded.Load):
		if e.beyond(t.besideHost(t.withoutDrift(loaded))) {
			t.prepare()
		}
	}
}

// learn takes a block into a baseline that is not final.
func (t *Tracker) learn(b block, now time.Time) {
	e := t.current()
	b.Load = t.healthyLoad(b.Load)
	effect := e.Effect
	matured := e.gather(t.withoutDrift(b), t.host, t.settings.smallest()/2)
	if e.Effect != effect {
		t.effects = append(t.effects, e.Effect)
	}
	if t.traffic() {
		e.forgetOtherSizes()
	}
	if !matured {
		return
	}
	e.Learned = now
	if !slices.ContainsFunc(t.verdicts, func(v verdict) bool { return v.slower() }) {
		t.recent = nil // all its shifts are against the baseline before
	}
	for i := range t.verdicts {
		if !t.verdicts[i].slower() {
			t.learnedAnew(i)
		}
	}
	t.prepare()
}

// learnedAnew forgets what was concluded of statistic i from the baseline before.
func (t *Tracker) learnedAnew(i int) {
	t.verdicts[i].begin(record.Stable, t.verdicts[i].Since)
	for k := range t.recent {
		t.recent[k].Shifts[i], t.recent[k].withDay[i] = missing, missing
	}
}

func (t *Tracker) states() [statistics]record.DriftState {
	var states [statistics]record.DriftState
	for i := range t.verdicts {
		states[i] = t.verdicts[i].State
	}
	return states
}

// changed returns an event for each statistic whose state is not as before.
func (t *Tracker) changed(before [statistics]record.DriftState, now time.Time) []Event {
	var events []Event
	for _, effect := range t.effects {
		events = append(events, Event{Time: now, Effect: effect})
	}
	t.effects = nil
	if t.states() == before {
		return events
	}
	open := t.underWay()
	for i := range t.names {
		if d := t.driftOf(i, open); d.State != before[i] {
			events = append(events, Event{
				Time: now, Statistic: d.Statistic, From: before[i], To: d.State, Ratio: d.Ratio, Lower: d.Lower, Upper: d.Upper,
				Since: d.Since, Cause: d.Cause, Attribution: d.Attribution,
			})
		}
	}
	return events
}

// Status returns what is known at now. Its Window is nil when the last round is older than the span of the window.
func (t *Tracker) Status(now time.Time) Status {
	s := Status{LearningGoal: t.settings.BaselineRounds, Window: t.window.at(now)}
	if len(t.epochs) > 0 {
		e := t.current()
		s.LearningRounds, s.Effect, s.Earlier, s.Lifetime, s.UnjudgedBlocks = e.rounds(), e.Effect, e.Earlier, e.lifetime(), e.Unjudged
		if e.learned() {
			b := e.baseline(t.names)
			s.Baseline = &b
		}
	}
	s.Drift = t.DriftAt(now)
	return s
}

// Fill adds what is known to the status of the probe.
func (s Status) Fill(p *record.ProbeStatus) {
	p.Window, p.Baseline, p.Drift = s.Window, s.Baseline, s.Drift
	p.LearningRounds, p.LearningGoal = s.LearningRounds, s.LearningGoal
	p.Effect, p.Earlier, p.Lifetime, p.UnjudgedBlocks = s.Effect, s.Earlier, s.Lifetime, s.UnjudgedBlocks
}

// drift returns the last comparison, however long ago that was.
func (t *Tracker) drift() []record.Drift {
	list, open := make([]record.Drift, len(t.names)), t.underWay()
	for i := range t.names {
		list[i] = t.driftOf(i, open)
	}
	return list
}

// Drifted yields the last comparison of each statistic that has regressed or is suspect.
func (t *Tracker) Drifted() iter.Seq[record.Drift] {
	return func(yield func(record.Drift) bool) {
		var open *underWay
		for i := range t.names {
			if v := &t.verdicts[i]; v.State != record.Regressed && v.State != record.Suspect {
				continue
			}
			if open == nil {
				open = new(t.underWay())
			}
			if !yield(t.driftOf(i, *open)) {
				return
			}
		}
	}
}

// driftOf returns the last comparison of statistic i.
func (t *Tracker) driftOf(i int, open underWay) record.Drift {
	v := &t.verdicts[i]
	d := record.Drift{Statistic: t.names[i], State: v.State, Since: v.Since, Cause: v.Cause, Attribution: v.Attribution}
	if len(t.epochs) > 0 && t.current().learned() {
		now := t.now(i, open)
		d.Ratio, d.Lower, d.Upper = now.ratios()
		d.Over, d.Now = now.over, t.current().valueAt(i, now)
	}
	return d
}
