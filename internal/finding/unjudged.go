package finding

import (
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// unjudgedFor is how long something has to be unjudged before that is a finding. The baseline of a new probe takes a day.
const unjudgedFor = 25 * time.Hour

// ofUnjudged returns one finding for all statistics that were not judged for a day, with the reasons. It returns none for
// a stored snapshot: while no daemon runs, nothing is judged anyway.
func ofUnjudged(drifts []record.Drift, s record.Snapshot) []Finding {
	if s.Started.IsZero() {
		return nil
	}
	names := map[string][]string{}
	var reasons []string
	var since time.Time
	for _, d := range drifts {
		if d.State == record.Regressed || !tellUnjudged(d.Unjudged, s.Time) {
			continue
		}
		reason := d.Unjudged.String()
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
