package finding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// unjudgedFor is how long something has to be unjudged before that is a finding. The baseline of a new probe takes a day.
const unjudgedFor = 25 * time.Hour

// ofUnjudged returns one finding for all statistics of a probe that were not judged for a day, with the reasons. It returns none
// for a stored snapshot: while no daemon runs, nothing is judged anyway.
func ofUnjudged(p record.ProbeStatus, s record.Snapshot) []Finding {
	if s.Started.IsZero() {
		return nil
	}
	names := map[string][]string{}
	var reasons []string
	var since time.Time
	for _, d := range p.Drift {
		stuck := learnsTooSlowly(p, d.Unjudged, s.Time)
		if d.State == record.Regressed || !tellUnjudged(d.Unjudged, s.Time) && !stuck {
			continue
		}
		reason := d.Unjudged.String()
		if stuck {
			reason = fmt.Sprintf("%s: %d of %d rounds so far; %s", reason, p.LearningRounds, p.LearningGoal, lastRound(p))
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		names[reason] = append(names[reason], d.Statistic.Short())
		if since.IsZero() || d.Unjudged.Since.Before(since) {
			since = d.Unjudged.Since
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	f := found(NotJudged, "not judged for a day").from(since)
	for _, reason := range reasons {
		f.Evidence = append(f.Evidence, strings.Join(names[reason], " and ")+" as "+reason)
	}
	return []Finding{f}
}

// learnsTooSlowly reports whether a probe that has been learning for a day or longer lacks more than half of the rounds that there
// should have been. Where rounds are rare, learning takes days, and all is well.
func learnsTooSlowly(p record.ProbeStatus, why *record.WhyUnjudged, now time.Time) bool {
	if why == nil || why.Reason != record.ReasonLearning || why.Since.IsZero() {
		return false
	}
	learning := now.Sub(why.Since)
	return learning >= unjudgedFor && p.LearningRounds < p.LearningGoal && time.Duration(2*p.LearningRounds)*p.Probe.Interval < learning
}

// tellUnjudged reports whether something has been unjudged for a day. It is false when another finding covers the reason,
// and before the first round, when no start time is known.
func tellUnjudged(why *record.WhyUnjudged, now time.Time) bool {
	if why == nil || why.Since.IsZero() || now.Sub(why.Since) < unjudgedFor {
		return false
	}
	switch why.Reason {
	case record.ReasonHung, record.ReasonUnavailable, record.ReasonLearning:
		return false
	default:
		return true
	}
}
