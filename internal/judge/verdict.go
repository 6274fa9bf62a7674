package judge

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// degradedRatio is the ratio from which on a drive is degraded. For its own traffic it is trafficRatio, as
	// applications change what they do; for tails it is p95Ratio and p99Ratio.
	degradedRatio = 1.2
	trafficRatio  = 1.25
	p95Ratio      = 1.3
	p99Ratio      = 1.5
	// severeRatio is the ratio from which on a drive is severe. A drive at half its speed is measured as a little
	// less than 2 times slower.
	severeRatio = 1.85
	// held is the share of its limit down to which a verdict that stands is held, so that a drive at the limit does
	// not come and go.
	held = 0.9
	// severeAlone is how long one witness alone must see a drive at severeRatio for severe. The whole interval must
	// then be at least beyondDoubt, and no other witness may dispute it.
	severeAlone = 10 * time.Minute
	beyondDoubt = 1.5
	// severeTogether is how long two witnesses that agree must see it, and spellLasts how long a drive that has had such
	// spells before: both witnesses see it when the drive collects garbage. What is beyondDoubt times severeRatio is no spell.
	severeTogether = 8 * time.Minute
	spellLasts     = 30 * time.Minute
	// tailLasts is how long a tail must be slower, or slow rounds common, for degraded. The whole interval of a tail
	// must then be at least degradedRatio.
	tailLasts = time.Hour
	// together bounds the time between the onsets of drives that got slower together, and minBatch is how many drives
	// make a batch.
	together = time.Hour
	minBatch = 3
)

// Event is a change of a verdict, or of the state of one statistic.
type Event struct {
	Time time.Time
	// Drive is empty when the event is about the host.
	Drive string
	Scope record.Scope
	// Drives are the drives of a batch or a host.
	Drives []string
	// Verdict is empty when only the state of a statistic has changed.
	Verdict   record.DriveVerdict
	Witnesses []string
	Ratio     record.Ratio
	Since     time.Time

	// Source, Statistic, State and Cause describe a single statistic. In the verdict on a drive only Source is set,
	// to the source of Ratio.
	Source    string
	Statistic record.Statistic
	State     record.DriftState
	Cause     record.Cause
	// Drift is the event of the tracker; nil in the verdict on a drive.
	Drift *drift.Event
}

// witness returns the kind of I/O that a source looks at. Sources that look at the same I/O are one witness.
func (s *source) witness() string { return witnessOf(s.name) }

func witnessOf(source string) string {
	if source == Traffic {
		return "traffic"
	}
	return "probes"
}

// tell queues events of a source for Advance.
func (n *Node) tell(s *source, events []drift.Event) {
	for _, e := range events {
		s.group.changed(s.drive.ID, e)
		n.events = append(n.events, Event{
			Time: e.Time, Drive: s.drive.ID, Scope: record.ScopeDrive, Source: s.name, Statistic: e.Statistic, State: e.To, Cause: e.Cause,
			Ratio: record.Ratio{Ratio: e.Ratio, Lower: e.Lower, Upper: e.Upper}, Since: e.Since, Drift: &e,
		})
	}
}

// conclude makes one verdict from all that is known of a drive, and queues an event when it has changed.
func (n *Node) conclude(d *drive, now time.Time) {
	v := d.held(d.verdict(now), now)
	if v.Verdict.Blames() {
		v.Scope = n.scope(d, v)
		if v.Scope == record.ScopeBatch && v.Verdict == record.Severe && !d.knowsHost() {
			v.Verdict = record.Degraded // on the first days, a nightly job of the host looks like this
		}
	}
	if v.Verdict == d.told.Verdict && v.Scope == d.told.Scope && slices.Equal(v.Witnesses, d.told.Witnesses) {
		d.told = v
		return
	}
	d.told = v
	n.events = append(n.events, Event{
		Time: now, Drive: d.ID, Scope: v.Scope, Verdict: v.Verdict, Witnesses: v.Witnesses, Ratio: v.Ratio, Since: v.Since, Source: v.Source,
	})
}

// knowsHost reports whether it is known what the host does usually.
func (d *drive) knowsHost() bool {
	return slices.ContainsFunc(d.sources, func(s *source) bool { return s.group.host != nil })
}

// verdict returns the verdict on a drive as of now.
func (d *drive) verdict(now time.Time) record.Judgement {
	v := record.Judgement{Verdict: record.Unjudged, Scope: record.ScopeDrive}
	for _, s := range d.sources {
		if s.tracker.Known(now) {
			v.Verdict = record.Healthy
		}
	}
	far := map[string]bool{} // witnesses that see at least severeRatio, and whether they are beyond doubt
	for _, s := range d.sources {
		for x := range s.drifted() {
			if x.State == record.Suspect && !s.tracker.Known(now) {
				continue // nothing confirms or refutes it any more
			}
			weigh(&v, s, x, now, d.told, far, s.name == Traffic && d.probesAreFine(x.Since, now))
		}
		d.weighLevels(&v, s)
	}
	d.agree(&v, far, now)
	d.trouble.weigh(&v, now)
	if v.Verdict == record.Unjudged {
		v.Unjudged = d.unjudged(now)
	}
	return v
}

// unjudged returns why nothing is known of a drive. The reason of the first source counts, or that of a later probe
// while the reason is that it is learning.
func (d *drive) unjudged(now time.Time) (why *record.WhyUnjudged) {
	for _, s := range d.sources {
		x := s.tracker.Unjudged(now)
		if why == nil || x != nil && s.name != Traffic && why.Reason == record.ReasonLearning {
			why = x
		}
	}
	return why
}

// drifted yields the statistics of the source that have regressed or are suspect.
func (s *source) drifted() iter.Seq[record.Drift] {
	return func(yield func(record.Drift) bool) {
		for i := range s.tracker.Statistics() {
			if x := s.tracker.StateOf(i); (x == record.Regressed || x == record.Suspect) && !yield(s.tracker.DriftOf(i)) {
				return
			}
		}
	}
}

// lately is the maximum age of the last round of a source that says something about now.
const lately = 15 * time.Minute

// agrees is the ratio from which on a probe agrees that the traffic is slower because of the drive.
const agrees = 1.15

// probesAreFine reports whether a probe says that the drive has been about as fast as ever since the onset of what
// its users feel. Their I/O then takes longer because they do something else.
func (d *drive) probesAreFine(onset, now time.Time) bool {
	fine := false
	for _, s := range d.sources {
		if s.name == Traffic || s.tracker.Maturity() != record.Final || s.last.Before(onset) || !s.saysOf(d.traffic(), onset, now) {
			continue
		}
		if s.lastRoundsAreSlow(onset) {
			return false
		}
		fine = true
		for x := range s.drifted() {
			if !x.Statistic.IsTail() && x.State == record.Regressed && x.Ratio >= agrees {
				return false
			}
		}
	}
	return fine
}

const (
	// refuted is how many blocks since an onset a source must have compared for that to count after its last round.
	refuted = 3
	// grown is how much slower, as a ratio, something must have become since for that to count no longer.
	grown = 1.3
)

// saysOf reports whether s says something about what o sees since an onset. It does so while its rounds run. If it has
// seen enough since the onset, it goes on to do so as long as o sees no more than it did then: a drive that is too busy
// for rounds is no slower for that.
func (s *source) saysOf(o *source, onset, now time.Time) bool {
	if now.Sub(s.last) <= lately {
		return s.tracker.Known(now)
	}
	_, blocks := s.tracker.ShiftSince(0, onset)
	return blocks >= refuted && o.isAsSlowAs(s.last)
}

// isAsSlowAs reports whether the source is about as slow as it was at a time of the last day.
func (s *source) isAsSlowAs(at time.Time) bool {
	known := false
	for i, statistic := range s.tracker.Statistics() {
		if !isSpeed(statistic) {
			continue
		}
		then, last := s.around(i, drift.Slot(at), recently), s.around(i, s.block.Slot, refuted)
		if then.Known() && last.Known() {
			known = true
			if last-then > drift.ShiftOf(grown) {
				return false
			}
		}
	}
	return known
}

// around returns the median of statistic i in the blocks up to a slot, of the last day; Missing when there are none.
func (s *source) around(i int, slot int64, blocks int) drift.Shift {
	var values []drift.Shift
	for k := range int64(blocks) {
		if x := s.at(slot-k*s.tracker.Slots(), i); x.Known() {
			values = append(values, x)
		}
	}
	if len(values) == 0 {
		return drift.Missing
	}
	return lowerMedian(values)
}

// lastRoundsAreSlow reports whether the few rounds since an onset, of which there is no block yet, were far slower than the
// noise of the drive explains. The others may have been refused because the drive is so busy.
func (s *source) lastRoundsAreSlow(onset time.Time) bool {
	_, noise := s.tracker.Noise(0)
	_, blocks := s.tracker.ShiftSince(0, onset)
	x := s.tracker.LastShift(0, onset)
	return blocks == 0 && x.Known() && x >= max(drift.ShiftOf(beyondDoubt), noise+drift.ShiftOf(agrees))
}

// weigh adds one statistic of a source to the verdict. told is the verdict so far, and contradicted says that the
// probes are fine. Witnesses that see at least severeRatio are added to far.
func weigh(v *record.Judgement, s *source, x record.Drift, now time.Time, told record.Judgement, far map[string]bool, contradicted bool) {
	ratio := record.Ratio{Ratio: x.Ratio, Lower: x.Lower, Upper: x.Upper}
	degraded, severe, sure := degradedFrom(x, s.name), severeRatio, degradedRatio
	if told.Verdict.Blames() {
		degraded, sure = degraded*held, sure*held
	}
	if told.Verdict == record.Severe {
		severe *= held
	}
	tail := x.Statistic.IsTail() || x.Cause == record.BySlowRounds
	state := record.Watch
	switch {
	case x.State == record.Suspect:
	case contradicted, !tail && !isSpeed(x.Statistic):
	case tail:
		if now.Sub(x.Since) >= tailLasts && (x.Cause == record.BySlowRounds || x.Ratio >= degraded && x.Lower >= sure) {
			state = record.Degraded
		}
	case x.Ratio >= severe:
		state = record.Degraded
		if told.Verdict != record.Severe && x.Ratio < severe*s.otherWork() { // but severe stands: whoever takes a sick drive out of use reads all of it
			break
		}
		if told.Verdict != record.Severe && (now.Sub(x.Since) < s.lastsFor(x) || !s.isStillSlow(x, now)) {
			break
		}
		far[s.witness()] = far[s.witness()] || doubtless(x)
		if now.Sub(x.Since) >= severeAlone && doubtless(x) && !s.disputed(x.Since, now) && !s.isOneSided(x) {
			state = record.Severe
		}
	case x.Ratio >= degraded:
		state = record.Degraded
	}
	if !tail && state.Badness() > told.Verdict.Badness() && !s.isStillSlow(x, now) {
		state = record.Watch // nothing becomes worse by what was seen earlier
		if told.Verdict.Blames() {
			state = told.Verdict
		}
	}
	if w := s.witness(); state != record.Watch && !slices.Contains(v.ThanBefore, w) {
		v.ThanBefore = append(v.ThanBefore, w)
	}
	add(v, s, state, ratio, x.Since)
}

// isStillSlow reports whether the last rounds were nearer to a drift than to the baseline.
func (s *source) isStillSlow(x record.Drift, now time.Time) bool {
	last := s.tracker.LastShift(slices.Index(s.tracker.Statistics(), x.Statistic), now.Add(-lately))
	return last.Known() && 2*last >= drift.ShiftOf(x.Ratio)
}

// lastsFor returns how long the drive must have been as slow for severe.
func (s *source) lastsFor(x record.Drift) time.Duration {
	switch {
	case x.Ratio >= severeRatio*beyondDoubt:
		return 0
	case drift.ShiftOf(x.Ratio) < s.tracker.Beyond(slices.Index(s.tracker.Statistics(), x.Statistic)):
		return spellLasts
	}
	return severeTogether
}

// doubtless reports whether the whole interval of a statistic is far slower. Where there is no interval, as all
// rounds since were refused, a larger ratio is needed.
func doubtless(x record.Drift) bool {
	if x.Lower == 0 {
		return x.Ratio >= severeRatio*beyondDoubt
	}
	return x.Lower >= beyondDoubt
}

// otherWork returns how many times slower the drive may be because of work that the source or the traffic has not
// learned.
func (s *source) otherWork() float64 {
	most := s.tracker.OtherWork()
	for _, o := range s.drive.sources {
		if o.name == Traffic {
			most = max(most, o.tracker.OtherWork())
		}
	}
	return most
}

// isSpeed reports whether a statistic says how fast the drive is. A tail says too little, and a flush takes as long as
// there is data to flush.
func isSpeed(s record.Statistic) bool { return !s.IsTail() && s != record.OthersFlushLatency }

// agree makes the verdict severe when two witnesses agree: each has found that the drive is at half its speed, or has
// seen so for ten minutes, more clearly than ever before. At least one of them has to be beyond doubt, because both see
// the noise of the drive and of its host. Each alone would need more time.
func (d *drive) agree(v *record.Judgement, far map[string]bool, now time.Time) {
	felt, severe := record.Judgement{}, severeRatio
	if d.told.Verdict == record.Severe {
		severe *= held
	}
	for _, s := range d.sources {
		limit := drift.ShiftOf(severe * s.otherWork())
		for i, statistic := range s.tracker.Statistics() {
			if !isSpeed(statistic) {
				continue
			}
			if since, by, ok := s.tracker.Far(i, limit, func() drift.Shift { return s.yesterday(i, drift.Slot(now)) }, now); ok {
				far[s.witness()] = true
				add(&felt, s, record.Severe, record.Ratio{Ratio: by.Ratio()}, since)
			}
		}
	}
	if len(far) < 2 || d.told.Verdict != record.Severe && !slices.Contains(slices.Collect(maps.Values(far)), true) {
		return
	}
	v.Verdict, v.Witnesses = record.Severe, slices.Sorted(maps.Keys(far))
	v.ThanBefore = slices.Clone(v.Witnesses)
	if v.Ratio.Ratio < felt.Ratio.Ratio {
		v.Ratio, v.Source = felt.Ratio, felt.Source
	}
	if v.Since.IsZero() || !felt.Since.IsZero() && felt.Since.Before(v.Since) {
		v.Since = felt.Since
	}
}

// disputed reports whether another witness has looked since an onset, says something about now, and has seen less than
// beyondDoubt.
func (s *source) disputed(onset, now time.Time) bool {
	for _, o := range s.drive.sources {
		if o.witness() == s.witness() || o.tracker.Maturity() != record.Final || !o.saysOf(s, onset, now) {
			continue
		}
		seen, most := false, drift.Shift(0)
		for i, statistic := range o.tracker.Statistics() {
			if !isSpeed(statistic) {
				continue
			}
			if x, blocks := o.tracker.ShiftSince(i, onset); blocks > 0 {
				seen, most = true, max(most, x)
			}
		}
		if seen && most < drift.ShiftOf(beyondDoubt) {
			return true
		}
	}
	return false
}

// isOneSided reports whether the traffic's reads are far slower and its writes are not, or the other way round. A drive that
// got slower mostly slows both; other work often slows one of them.
func (s *source) isOneSided(x record.Drift) bool {
	if s.name != Traffic || x.Ratio >= severeRatio*beyondDoubt {
		return false
	}
	for i, statistic := range s.tracker.Statistics() {
		if statistic == x.Statistic || !isSpeed(statistic) {
			continue
		}
		if by, blocks := s.tracker.ShiftSince(i, x.Since); blocks > 0 && by < drift.ShiftOf(beyondDoubt) {
			return true
		}
	}
	return false
}

// degradedFrom returns the ratio from which on a statistic makes a drive degraded.
func degradedFrom(x record.Drift, source string) float64 {
	switch {
	case source == Traffic:
		return trafficRatio
	case x.Statistic == record.LatencyP95:
		return p95Ratio
	case x.Statistic == record.LatencyP99:
		return p99Ratio
	}
	return degradedRatio
}

// add adds the evidence of a source for a state: the worst state, the earliest onset and all witnesses count.
func add(v *record.Judgement, s *source, state record.DriveVerdict, ratio record.Ratio, since time.Time) {
	if !slices.Contains(v.Witnesses, s.witness()) && state != record.Watch {
		v.Witnesses = append(v.Witnesses, s.witness())
	}
	rank := func(x record.DriveVerdict) int { return slices.Index(record.DriveVerdicts(), x) }
	if rank(state) > rank(v.Verdict) || state == v.Verdict && ratio.Ratio > v.Ratio.Ratio {
		v.Verdict, v.Ratio, v.Source = state, ratio, s.name
	}
	if v.Since.IsZero() || since.Before(v.Since) {
		v.Since = since
	}
}

func statisticsOf(source string) []record.Statistic {
	if source == Traffic {
		return record.TrafficStatistics()
	}
	return record.Statistics()
}

// Verdict returns the current verdict on a drive; false when there is no such drive.
func (n *Node) Verdict(id string) (record.Judgement, bool) {
	d := n.byID[id]
	if d == nil {
		return record.Judgement{}, false
	}
	v := d.told
	v.Witnesses, v.ThanBefore = slices.Clone(v.Witnesses), slices.Clone(v.ThanBefore)
	return v, true
}
