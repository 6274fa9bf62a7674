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
	// degradedRatio is from how many times slower on a drive is degraded. Its own traffic says so
	// from trafficRatio on, as applications change what they do, and slow I/Os from p95Ratio and p99Ratio on.
	degradedRatio = 1.2
	trafficRatio  = 1.25
	p95Ratio      = 1.3
	p99Ratio      = 1.5
	// severeRatio is the same for severe; a drive of half its speed is measured as a little less.
	severeRatio = 1.85
	// held is the share of a limit above which a verdict is held that was told, so that one at the
	// limit does not come and go.
	held = 0.9
	// severeAlone is how long one witness alone has to say so, and beyondDoubt what the drive is slower than in all of
	// its interval then. Another witness that says less has a say, too.
	severeAlone = 10 * time.Minute
	beyondDoubt = 1.5
	// tailLasts is how long slow I/Os have to be common. In all of their interval they are degradedRatio slower then.
	tailLasts = time.Hour
	// together bounds the time between the onsets of drives that got slower together, and
	// minBatch is how many they have to be.
	together = time.Hour
	minBatch = 3
)

// Event is a change of a verdict, or of the state of one statistic.
type Event struct {
	Time time.Time
	// Drive is empty when the host is meant.
	Drive string
	Scope record.Scope
	// Drives are those of a batch or a host.
	Drives []string
	// Verdict is empty where a single statistic is meant.
	Verdict   record.DriveVerdict
	Witnesses []string
	Ratio     record.Ratio
	Since     time.Time

	// Source, Statistic, State and Cause are those of a single statistic.
	Source    string
	Statistic record.Statistic
	State     record.DriftState
	Cause     record.Cause
	// Drift is what the tracker said.
	Drift *drift.Event
}

// witness is the kind of I/O that a source looks at: what is seen by the same I/O is one witness.
func (s *source) witness() string { return witnessOf(s.name) }

func witnessOf(source string) string {
	if source == Traffic {
		return "traffic"
	}
	return "probes"
}

// tell keeps events of a source for Advance.
func (n *Node) tell(s *source, events []drift.Event) {
	for _, e := range events {
		s.group.changed(s.drive.ID, e)
		n.events = append(n.events, Event{
			Time: e.Time, Drive: s.drive.ID, Scope: record.ScopeDrive, Source: s.name, Statistic: e.Statistic, State: e.To, Cause: e.Cause,
			Ratio: record.Ratio{Ratio: e.Ratio, Lower: e.Lower, Upper: e.Upper}, Since: e.Since, Drift: &e,
		})
	}
}

// conclude makes one verdict of all that is known of a drive, and tells it when it has changed.
func (n *Node) conclude(d *drive, now time.Time) {
	v := d.held(d.verdict(now), now)
	if v.Verdict.Blames() {
		v.Scope = n.scope(d, v)
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

// verdict is what is said of a drive now.
func (d *drive) verdict(now time.Time) record.Judgement {
	v := record.Judgement{Verdict: record.Unjudged, Scope: record.ScopeDrive}
	for _, s := range d.sources {
		if s.tracker.Known(now) {
			v.Verdict = record.Healthy
		}
	}
	far := map[string]bool{} // witnesses of at least severeRatio
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

// unjudged says why nothing is known of a drive: by a probe that has a baseline, else by one that learns, else by its traffic.
func (d *drive) unjudged(now time.Time) (why *record.WhyUnjudged) {
	for _, s := range d.sources {
		x := s.tracker.Unjudged(now)
		if why == nil || x != nil && s.name != Traffic && why.Reason == record.ReasonLearning {
			why = x
		}
	}
	return why
}

// drifted yields the statistics of the source that are slower, or seem so.
func (s *source) drifted() iter.Seq[record.Drift] {
	return func(yield func(record.Drift) bool) {
		for i := range s.tracker.Statistics() {
			if x := s.tracker.StateOf(i); (x == record.Regressed || x == record.Suspect) && !yield(s.tracker.DriftOf(i)) {
				return
			}
		}
	}
}

// lately is within how long a probe must have had a good round to say anything about now.
const lately = 15 * time.Minute

// agrees is from how many times slower on a probe agrees that the traffic is slower because of the drive.
const agrees = 1.15

// probesAreFine reports whether a probe says that the drive has been about as fast as ever since the onset of what
// its users feel. They then do something else when their I/O takes longer.
func (d *drive) probesAreFine(onset, now time.Time) bool {
	fine := false
	for _, s := range d.sources {
		if s.name == Traffic || s.tracker.Maturity() != record.Final || s.last.Before(onset) || now.Sub(s.last) > lately || !s.tracker.Known(now) {
			continue
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

// weigh adds what one statistic of a source says.
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
	case contradicted, x.Statistic == record.OthersFlushLatency: // what a flush takes is what there is to flush
	case tail:
		if now.Sub(x.Since) >= tailLasts && (x.Cause == record.BySlowRounds || x.Ratio >= degraded && x.Lower >= sure) {
			state = record.Degraded
		}
	case x.Ratio >= severe:
		state = record.Degraded
		if told.Verdict != record.Severe && x.Ratio < severe*s.otherWork() { // whoever takes a sick drive out of use reads it all
			break
		}
		far[s.witness()] = true
		if now.Sub(x.Since) >= severeAlone && doubtless(x) && !s.drive.disputed(s.witness(), x.Since, now) {
			state = record.Severe
		}
	case x.Ratio >= degraded:
		state = record.Degraded
	}
	if w := s.witness(); state != record.Watch && !slices.Contains(v.ThanBefore, w) {
		v.ThanBefore = append(v.ThanBefore, w)
	}
	add(v, s, state, ratio, x.Since)
}

// doubtless reports whether a statistic is far slower in all of its interval. While there is none, as all rounds were
// refused since, it takes a larger ratio.
func doubtless(x record.Drift) bool {
	if x.Lower == 0 {
		return x.Ratio >= severeRatio*beyondDoubt
	}
	return x.Lower >= beyondDoubt
}

// otherWork is how many times slower work may make the drive that the source or the traffic has not learned.
func (s *source) otherWork() float64 {
	most := s.tracker.OtherWork()
	for _, o := range s.drive.sources {
		if o.name == Traffic {
			most = max(most, o.tracker.OtherWork())
		}
	}
	return most
}

// agree adds what two witnesses say together: each has found that the drive has half of its speed, or has felt so for
// ten minutes, more than ever before. Each alone would need more evidence.
func (d *drive) agree(v *record.Judgement, far map[string]bool, now time.Time) {
	felt, severe := record.Judgement{}, severeRatio
	if d.told.Verdict == record.Severe {
		severe *= held
	}
	for _, s := range d.sources {
		limit := drift.ShiftOf(severe * s.otherWork())
		for i, statistic := range s.tracker.Statistics() {
			if statistic.IsTail() || statistic == record.OthersFlushLatency {
				continue
			}
			if since, by, ok := s.tracker.Far(i, limit, func() drift.Shift { return s.yesterday(i, drift.Slot(now)) }, now); ok {
				far[s.witness()] = true
				add(&felt, s, record.Severe, record.Ratio{Ratio: by.Ratio()}, since)
			}
		}
	}
	if len(far) < 2 {
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

// disputed reports whether another witness has looked since an onset, and lately, and was not nearly twice as slow.
func (d *drive) disputed(witness string, onset, now time.Time) bool {
	for _, s := range d.sources {
		if s.witness() == witness || s.tracker.Maturity() != record.Final || now.Sub(s.last) > lately {
			continue
		}
		seen, most := false, drift.Shift(0)
		for i, statistic := range s.tracker.Statistics() {
			if statistic.IsTail() || statistic == record.OthersFlushLatency {
				continue
			}
			if x, blocks := s.tracker.ShiftSince(i, onset); blocks > 0 {
				seen, most = true, max(most, x)
			}
		}
		if seen && most < drift.ShiftOf(beyondDoubt) {
			return true
		}
	}
	return false
}

// degradedFrom is from how many times slower on a statistic makes a drive degraded.
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

// add takes a state that a source gives evidence of.
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

// Verdict returns what is said of a drive; false when there is no such drive.
func (n *Node) Verdict(id string) (record.Judgement, bool) {
	d := n.byID[id]
	if d == nil {
		return record.Judgement{}, false
	}
	v := d.told
	v.Witnesses, v.ThanBefore = slices.Clone(v.Witnesses), slices.Clone(v.ThanBefore)
	return v, true
}
