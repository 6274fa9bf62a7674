package record

import "time"

// UnjudgedReason says why nothing is said of a statistic, or of a drive.
type UnjudgedReason string

// The reasons. The first three are waits: they end by themselves while rounds go on.
const (
	ReasonLearning UnjudgedReason = "learning"  // there is no baseline yet
	ReasonFirstDay UnjudgedReason = "first_day" // what is normal for the statistic takes a day to learn
	ReasonNoLike   UnjudgedReason = "no_like"   // the baseline has no I/O of that kind

	ReasonLoad        UnjudgedReason = "load"        // others load the device as the baseline has not seen
	ReasonFewRounds   UnjudgedReason = "few_rounds"  // rounds are too far apart to be compared
	ReasonNoRounds    UnjudgedReason = "no_rounds"   // there was no round
	ReasonBusy        UnjudgedReason = "busy"        // admission refused the rounds
	ReasonDisturbed   UnjudgedReason = "disturbed"   // this host disturbed the rounds
	ReasonUnwritten   UnjudgedReason = "unwritten"   // too few written blocks are known
	ReasonFailed      UnjudgedReason = "failed"      // the rounds failed
	ReasonHung        UnjudgedReason = "hung"        // the device does not answer
	ReasonUnavailable UnjudgedReason = "unavailable" // the target cannot be opened, or is gone
	ReasonFewDrives   UnjudgedReason = "few_drives"  // of a host: too few of its drives can be compared
)

// UnjudgedReasons lists all of them.
func UnjudgedReasons() []UnjudgedReason {
	return []UnjudgedReason{
		ReasonLearning, ReasonFirstDay, ReasonNoLike, ReasonLoad, ReasonFewRounds, ReasonNoRounds, ReasonBusy, ReasonDisturbed,
		ReasonUnwritten, ReasonFailed, ReasonHung, ReasonUnavailable, ReasonFewDrives,
	}
}

// Words say it to people: "all rounds were refused".
func (r UnjudgedReason) Words() string {
	switch r {
	case ReasonLearning:
		return "the baseline is being learned"
	case ReasonFirstDay:
		return "it takes a day to learn what is normal"
	case ReasonNoLike:
		return "the baseline has no such I/O"
	case ReasonLoad:
		return "others load the device as the baseline has not seen"
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
		return "a host is judged by at least three drives that have a final baseline"
	}
	return string(r)
}

// WhyUnjudged says why something is not judged, or no longer compared.
type WhyUnjudged struct {
	Reason UnjudgedReason `json:"reason"`
	// Detail is what the last round said of it, as far as there is more to say.
	Detail string `json:"detail,omitempty"`
	// Since is when it was last compared; for a wait, when that began.
	Since time.Time `json:"since,omitzero"`
}

// String is "rounds were refused: 40 I/Os in flight, above the limit of 32".
func (u *WhyUnjudged) String() string {
	if u == nil {
		return "the reason is not known"
	}
	if u.Detail == "" {
		return u.Reason.Words()
	}
	return u.Reason.Words() + ": " + u.Detail
}

// ExplainUnjudged says why there was no round to compare, where that is all that the
// comparison knows. problem is why the target cannot be probed now, empty when it can.
func (p *ProbeStatus) ExplainUnjudged(problem string, now time.Time) {
	reason, detail := p.withoutRounds(problem, now)
	for i := range p.Drift {
		if u := p.Drift[i].Unjudged; u != nil && u.Reason == ReasonNoRounds {
			explained := *u
			explained.Reason, explained.Detail = reason, detail
			p.Drift[i].Unjudged = &explained
		}
	}
}

// ExplainVerdict says why the drive is not judged, where its probes know more than that there were no rounds.
func (t *TargetStatus) ExplainVerdict() {
	if t.Verdict == nil || t.Verdict.Unjudged == nil || t.Verdict.Unjudged.Reason != ReasonNoRounds {
		return
	}
	for _, p := range t.Probes {
		for _, d := range p.Drift {
			if d.Unjudged != nil && d.Unjudged.Reason != ReasonNoRounds && d.State == Unknown {
				t.Verdict.Unjudged = d.Unjudged
				return
			}
		}
	}
}

// withoutRounds is why the probe has no good round, by its last one.
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
		return ReasonBusy, "only small rounds went in, which are not compared"
	}
	return ReasonNoRounds, ""
}

// HungSince tells whether the device keeps a round from ending, and since when.
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
