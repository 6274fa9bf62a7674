package judge

import (
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
	// held is the share of its limit down to which a verdict that stands is held, so that a drive at the limit does
	// not come and go.
	held = 0.9
	// feltLasts is how long traffic must be slower for degraded while no probe has found that, and feltFarLasts if it is slower by
	// severeRatio: what applications do for some minutes is over by then.
	feltLasts, feltFarLasts = 20 * time.Minute, 7 * time.Minute
	// tailLasts is how long a tail must be slower, or slow rounds common, or few slow I/Os make IOPS fewer, for degraded.
	// The whole interval of a tail must then be at least degradedRatio.
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
	// Onsets has the onset of each witness, in the verdict on a drive.
	Onsets map[string]time.Time

	// Source, Statistic, State and Cause describe a single statistic. In the verdict on a drive only Source is set,
	// to the source of Ratio.
	Source    string
	Statistic record.Statistic
	State     record.DriftState
	Cause     record.Cause
	// Drift is the event of the tracker; nil in the verdict on a drive.
	Drift *drift.Event
}

// tell queues events of a source for Advance.
func (n *Node) tell(s *source, events []drift.Event) {
	for _, e := range events {
		s.group.changed(s.drive.physical, e)
		n.events = append(n.events, Event{
			Time: e.Time, Drive: s.drive.ID, Scope: record.ScopeDrive, Source: s.name, Statistic: e.Statistic, State: e.To, Cause: e.Cause,
			Ratio: record.Ratio{Ratio: e.Ratio, Lower: e.Lower, Upper: e.Upper}, Since: e.Since, Drift: &e,
		})
	}
}

// conclude makes one verdict from all that is known of a drive, and queues an event when it has changed.
func (n *Node) conclude(d *drive, now time.Time) {
	v := d.verdict(now)
	if v.Verdict == record.Severe && d.standing() != record.Severe && d.mayBeHost(v, now) && n.scope(d, v) == record.ScopeBatch {
		v.Verdict = record.Degraded
	}
	if v = d.held(v, now); v.Verdict.Blames() {
		v.Scope = n.scope(d, v)
	}
	v.Since, v.Onsets = record.NotAfter(v.Since, now), noneAfter(v.Onsets, now)
	if v.Verdict == d.told.Verdict && v.Scope == d.told.Scope && slices.Equal(v.Witnesses, d.told.Witnesses) {
		d.told = v
		return
	}
	d.told = v
	n.events = append(n.events, Event{
		Time: now, Drive: d.ID, Scope: v.Scope, Verdict: v.Verdict, Witnesses: v.Witnesses, Ratio: v.Ratio, Since: v.Since, Onsets: v.Onsets, Source: v.Source,
	})
}

// noneAfter is NotAfter for the onset of each witness. It leaves those that others read as they are.
func noneAfter(onsets map[string]time.Time, now time.Time) map[string]time.Time {
	onsets = maps.Clone(onsets)
	for witness, began := range onsets {
		onsets[witness] = record.NotAfter(began, now)
	}
	return onsets
}

// standing returns the verdict that there was evidence of last. A severe verdict that is held has none: another takes as
// much as the first.
func (d *drive) standing() record.DriveVerdict {
	if d.told.Held && d.told.Verdict == record.Severe {
		return record.Degraded
	}
	return d.told.Verdict
}

// hostLearns is how long after a final baseline it may not be known what the host does usually. It takes less where drives
// have I/O all day. Where they never show it, that excuses nothing for ever.
const hostLearns = 24 * time.Hour

// mayBeHost reports whether a nightly job may explain how slow the drive is, because it is not known yet what the host
// does usually. It explains neither stalls and errors nor what no job does.
func (d *drive) mayBeHost(v record.Judgement, now time.Time) bool {
	if slices.ContainsFunc(v.Witnesses, func(w string) bool { return !record.OfSpeed(w) }) || v.Ratio.Ratio >= certainRatio {
		return false
	}
	physical := map[string]bool{}
	for _, s := range d.sources {
		if s.group.host != nil || s.tracker.Maturity() == record.Final && now.Sub(s.tracker.Learned()) > hostLearns {
			return false
		}
		for _, o := range s.group.members {
			physical[o.drive.physical] = true
		}
	}
	return len(physical) >= minVoters // with fewer, a host is never judged
}

// verdict returns the current verdict on a drive.
func (d *drive) verdict(now time.Time) record.Judgement {
	v := record.Judgement{Verdict: record.Unjudged, Scope: record.ScopeDrive}
	for _, s := range d.sources {
		if s.tracker.Known(now) && s.assumed(now) == nil {
			v.Verdict = record.Healthy
		}
	}
	far := map[string]bool{} // witnesses that see at least severeRatio, and whether they are beyond doubt
	for _, s := range d.sources {
		for x := range s.tracker.Drifted() {
			if x.State == record.Suspect && !s.tracker.Known(now) {
				continue // nothing confirms or refutes it any more
			}
			s.weigh(&v, x, now, far)
		}
		d.weighLevels(&v, s, now)
	}
	d.agree(&v, far, now)
	v.Attribution = d.attribution(v.Source)
	d.trouble.weigh(&v, now)
	d.keepOnsets(&v)
	if v.Verdict == record.Unjudged {
		v.Unjudged = d.unjudged(now)
	}
	return v
}

// attribution returns the changes of conditions at the onset of what has regressed by a source.
func (d *drive) attribution(source string) (changes []record.Change) {
	for _, s := range d.sources {
		if s.name != source {
			continue
		}
		for i := range s.tracker.Statistics() {
			for _, c := range s.tracker.AttributionOf(i) {
				if s.tracker.StateOf(i) == record.Regressed && !slices.Contains(changes, c) {
					changes = append(changes, c)
				}
			}
		}
	}
	return changes
}

// unjudged returns why nothing is known of a drive. That its traffic knows only what was assumed counts first, then the reason of the
// first source, or that of a later probe while the reason is that it is learning.
func (d *drive) unjudged(now time.Time) (why *record.WhyUnjudged) {
	for _, s := range d.sources {
		x := s.tracker.Unjudged(now)
		if x == nil {
			return s.assumed(now)
		}
		if why == nil || s.name != Traffic && why.Reason == record.ReasonLearning {
			why = x
		}
	}
	if len(d.sources) == 0 {
		return noRounds()
	}
	return why
}

// noRounds is the reason before the first round.
func noRounds() *record.WhyUnjudged { return &record.WhyUnjudged{Reason: record.ReasonNoRounds} }

// weigh adds one statistic of the source to the verdict. Witnesses that see at least severeRatio now, and have for long
// enough, are added to far.
func (s *source) weigh(v *record.Judgement, x record.Drift, now time.Time, far map[string]bool) {
	ratio := record.Ratio{Ratio: x.Ratio, Lower: x.Lower, Upper: x.Upper}
	if x.Cause == record.BySlowRounds && x.Ratio < s.degradedFrom(x) {
		ratio = record.Ratio{} // that is of the other rounds, which are about as before
	}
	state, standing := s.speaksFor(x, now, far), s.drive.standing()
	if state.Badness() > standing.Badness() && !isTail(x) && !s.isStillSlow(x, now) {
		state = record.Watch // nothing becomes worse by what was seen earlier
		if standing.Blames() {
			state = standing
		}
	}
	if w := s.witness(); state != record.Watch && !slices.Contains(v.ThanBefore, w) {
		v.ThanBefore = append(v.ThanBefore, w)
	}
	add(v, s, state, ratio, x.Since, s.tracker.UnjudgedOf(s.index(x), now))
}

// speaksFor returns the verdict for which one statistic of the source is enough: watch, degraded or severe.
func (s *source) speaksFor(x record.Drift, now time.Time, far map[string]bool) record.DriveVerdict {
	degraded, sure, standing := s.degradedFrom(x), degradedRatio, s.drive.standing()
	if standing.Blames() {
		degraded, sure = degraded*held, sure*held
	}
	tail, severe := isTail(x) || s.isOfFew(x), s.severeFrom(x)
	if standing == record.Severe {
		severe *= held
	}
	switch {
	case x.State == record.Suspect,
		s.name == Traffic && s.drive.probesAreFine(x.Since, now),
		s.name == Traffic && !standing.Blames() && s.seen(x, now) < feltFor(x) && !s.drive.probesAreSlow(now),
		x.Statistic == record.OthersFlushLatency: // a flush takes as long as there is data to flush
		return record.Watch
	case isTail(x) && s.seen(x, now) < tailLasts, s.isBrief(x, now):
		return record.Watch
	case tail && x.Cause != record.BySlowRounds && (x.Ratio < degraded || x.Lower < sure):
		return record.Watch
	case tail:
		return record.Degraded
	case x.Ratio >= severe && s.isSevere(x, severe, now, far):
		return record.Severe
	case x.Ratio >= degraded:
		return record.Degraded
	}
	return record.Watch
}

// feltFor returns how long a drift of traffic alone must last for degraded.
func feltFor(x record.Drift) time.Duration {
	if x.Ratio >= severeRatio {
		return feltFarLasts
	}
	return feltLasts
}

// isTail reports whether a drift is of a tail, or of slow rounds among others that are as before.
func isTail(x record.Drift) bool { return x.Statistic.IsTail() || x.Cause == record.BySlowRounds }

// isOfFew is ofFew for a drift.
func (s *source) isOfFew(x record.Drift) bool {
	return s.ofFew(s.index(x), x.Since, drift.ShiftOf(x.Ratio))
}

// ofFew reports whether few slow I/Os are why a probe has fewer IOPS, if i is those: the median latency since the onset shows less
// than half of the shift. One read of 10 ms among 32 of 100 µs makes IOPS a quarter. That is a tail, such as garbage collection
// makes for minutes.
func (s *source) ofFew(i int, onset time.Time, by drift.Shift) bool {
	if s.tracker.Statistics()[i] != record.IOPS {
		return false
	}
	median, blocks := s.tracker.ShiftSince(0, onset)
	if blocks == 0 {
		median = s.tracker.LastShifts(onset)[0]
	}
	return median.Known() && 2*median < by
}

// degradedFrom returns the ratio from which on a statistic makes a drive degraded.
func (s *source) degradedFrom(x record.Drift) float64 {
	switch {
	case s.name == Traffic:
		return trafficRatio
	case x.Statistic == record.LatencyP95, s.isOfFew(x):
		return p95Ratio
	case x.Statistic == record.LatencyP99:
		return p99Ratio
	}
	return degradedRatio
}

// add adds the evidence of a source for a state: the worst state, the earliest onset of each witness and all witnesses count. A current ratio is
// worth more than a greater one that nothing has confirmed lately; unjudged says why nothing has.
func add(v *record.Judgement, s *source, state record.DriveVerdict, ratio record.Ratio, since time.Time, unjudged *record.WhyUnjudged) {
	if !slices.Contains(v.Witnesses, s.witness()) && state != record.Watch {
		v.Witnesses = append(v.Witnesses, s.witness())
	}
	better := ratio.Ratio > v.Ratio.Ratio
	if (unjudged == nil) != (v.Unjudged == nil) {
		better = unjudged == nil
	}
	if state.Badness() > v.Verdict.Badness() || state == v.Verdict && better {
		v.Verdict, v.Ratio, v.Source, v.Unjudged = state, ratio, s.name, unjudged
	}
	v.Began(s.witness(), since)
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
	v.Accepted = d.acceptedAt()
	v.Witnesses, v.ThanBefore, v.Attribution, v.Onsets = slices.Clone(v.Witnesses), slices.Clone(v.ThanBefore), slices.Clone(v.Attribution), maps.Clone(v.Onsets)
	return v, true
}

// Fill adds what the node knows to a snapshot: the verdict on each drive and on the host, and what drives do together.
func (n *Node) Fill(s *record.Snapshot) {
	for i := range s.Targets {
		t := &s.Targets[i]
		if v, ok := n.Verdict(t.ID); ok {
			t.Verdict = &v
			t.ExplainVerdict()
			t.Warnings = slices.Concat(t.Warnings, record.SlowerThanPeers(n.Beside(t.ID)))
		}
	}
	s.Together, s.Host = slices.Clip(n.Together()), new(n.Host())
}
