package record

import "time"

// UnjudgedReason says why a statistic, a drive or a host is not judged.
type UnjudgedReason string

// The reasons. The first three are waits, which end by themselves as rounds continue.
const (
	ReasonLearning UnjudgedReason = "learning"  // there is no baseline yet, or only an early one of rounds that varied a lot
	ReasonFirstDay UnjudgedReason = "first_day" // learning what is normal for the statistic takes a day
	ReasonNoLike   UnjudgedReason = "no_like"   // the baseline does not include I/O of this kind

	ReasonLoad        UnjudgedReason = "load"        // others load the device in a way that the baseline has not seen
	ReasonFewRounds   UnjudgedReason = "few_rounds"  // rounds are too far apart to be compared
	ReasonNoRounds    UnjudgedReason = "no_rounds"   // there was no round
	ReasonBusy        UnjudgedReason = "busy"        // admission refused the rounds
	ReasonDisturbed   UnjudgedReason = "disturbed"   // this host disturbed the rounds
	ReasonUnwritten   UnjudgedReason = "unwritten"   // too few written blocks are known
	ReasonFailed      UnjudgedReason = "failed"      // the rounds failed
	ReasonHung        UnjudgedReason = "hung"        // the device does not answer
	ReasonUnavailable UnjudgedReason = "unavailable" // the target cannot be opened, or is gone
	ReasonFewDrives   UnjudgedReason = "few_drives"  // too few drives of the host can be compared
	ReasonAssumed     UnjudgedReason = "assumed"     // the device may have been slow when its traffic was learned
)

// UnjudgedReasons lists all reasons.
func UnjudgedReasons() []UnjudgedReason {
	return []UnjudgedReason{
		ReasonLearning, ReasonFirstDay, ReasonNoLike, ReasonLoad, ReasonFewRounds, ReasonNoRounds, ReasonBusy, ReasonDisturbed,
		ReasonUnwritten, ReasonFailed, ReasonHung, ReasonUnavailable, ReasonFewDrives, ReasonAssumed,
	}
}

// Words returns the reason for people, such as "rounds were refused".
func (r UnjudgedReason) Words() string {
	switch r {
	case ReasonLearning:
		return "the baseline is being learned"
	case ReasonFirstDay:
		return "it takes a day to learn what is normal"
	case ReasonNoLike:
		return "the baseline has no comparable I/O"
	case ReasonLoad:
		return "others load the device in a way that the baseline has not seen"
	case ReasonFewRounds:
		return "good rounds are too rare to be compared"
	case ReasonNoRounds:
		return "there was no round"
	case ReasonBusy:
		return "rounds were refused"
	case ReasonDisturbed:
		return "rounds were disturbed by this host"
	case ReasonUnwritten:
		return "too few written blocks are known"
	case ReasonFailed:
		return "rounds failed"
	case ReasonHung:
		return "the device does not answer"
	case ReasonUnavailable:
		return "the target cannot be probed"
	case ReasonFewDrives:
		return "to judge a host takes at least two drives with a final baseline"
	case ReasonAssumed:
		return "when its traffic was learned, no round showed how fast it was, and its work did not explain how busy it was"
	}
	return string(r)
}

// WhyUnjudged says why something is not judged, or is no longer compared.
type WhyUnjudged struct {
	Reason UnjudgedReason `json:"reason"`
	// Detail is what the last round reported, where it adds to Reason.
	Detail string `json:"detail,omitempty"`
	// Since is when it was last compared or, for a wait, when the wait began.
	Since time.Time `json:"since,omitzero"`
}

// String returns text such as "rounds were refused: 40 I/Os in flight, above the limit of 32".
func (u *WhyUnjudged) String() string {
	if u == nil {
		return "the reason is not known"
	}
	if u.Detail == "" {
		return u.Reason.Words()
	}
	return u.Reason.Words() + ": " + u.Detail
}

// ExplainUnjudged replaces the reason "no rounds" of each statistic with the reason why there was no round to
// compare. problem says why the target cannot be probed now; it is empty when it can. Then nothing is being learned, either.
func (p *ProbeStatus) ExplainUnjudged(problem string, now time.Time) {
	reason, detail := p.withoutRounds(problem, now)
	for i := range p.Drift {
		if u := p.Drift[i].Unjudged; u != nil && u.waitsForRounds(problem) {
			explained := *u
			explained.Reason, explained.Detail = reason, detail
			p.Drift[i].Unjudged = &explained
		}
	}
}

// waitsForRounds reports whether only rounds are missing. problem says why there can be none; empty if there can.
func (u *WhyUnjudged) waitsForRounds(problem string) bool {
	return u.Reason == ReasonNoRounds || u.Reason == ReasonLearning && problem != ""
}

// ExplainVerdict replaces the reason "no rounds" of the verdict with that of a probe, where a probe has a more
// specific one, or else with the problem of the target, which also keeps a baseline from being learned. A target that cannot be probed is not healthy, although that
// verdict stands for an hour after the last round.
func (t *TargetStatus) ExplainVerdict() {
	if t.Problem != "" && t.Verdict != nil && t.Verdict.Verdict == Healthy {
		t.Verdict = &Judgement{Verdict: Unjudged, Scope: ScopeDrive, Unjudged: &WhyUnjudged{Reason: ReasonUnavailable, Detail: t.Problem}}
	}
	if t.Verdict == nil || t.Verdict.Unjudged == nil || !t.Verdict.Unjudged.waitsForRounds(t.Problem) {
		return
	}
	for _, p := range t.Probes {
		for _, d := range p.Drift {
			if d.Unjudged != nil && d.Unjudged.Reason != ReasonNoRounds && (d.State == Unknown || d.State == Regressed) {
				t.Verdict.Unjudged = d.Unjudged
				return
			}
		}
	}
	if t.Problem != "" {
		t.Verdict.Unjudged = &WhyUnjudged{Reason: ReasonUnavailable, Detail: t.Problem, Since: t.Verdict.Unjudged.Since}
	}
}

// withoutRounds returns why the probe has no good round, based on its last round.
func (p *ProbeStatus) withoutRounds(problem string, now time.Time) (reason UnjudgedReason, detail string) {
	if _, hung := p.HungSince(now); hung {
		return ReasonHung, ""
	}
	if problem != "" {
		return ReasonUnavailable, problem
	}
	last := p.Last
	if last == nil {
		return ReasonNoRounds, ""
	}
	switch last.Outcome {
	case OutcomeBusy:
		return ReasonBusy, last.Reason
	case OutcomeDisturbed:
		return ReasonDisturbed, last.Reason
	case OutcomeUnmapped:
		return ReasonUnwritten, last.Reason
	case OutcomeError, OutcomeTimeout:
		return ReasonFailed, last.Reason
	case OutcomeOK:
	}
	for _, w := range last.Warnings {
		if w.Code == WarnPoolSmall {
			return ReasonUnwritten, w.Text
		}
	}
	if last.Loaded {
		return ReasonBusy, "only small rounds were admitted, which are not compared"
	}
	return ReasonNoRounds, ""
}

// HungSince reports whether the device prevents a round from ending, and since when.
func (p *ProbeStatus) HungSince(now time.Time) (time.Time, bool) {
	switch {
	case !p.InflightSince.IsZero() && p.Probe.Timeout > 0 && now.Sub(p.InflightSince) > p.Probe.Timeout:
		return p.InflightSince, true
	case p.Last != nil && p.Last.Outcome == OutcomeTimeout:
		return p.Last.Start, true
	default:
		return time.Time{}, false
	}
}
