package finding

import (
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// unjudgedFor is after how long it is worth a finding that something is not judged. The baseline of a new probe
// takes a day.
const unjudgedFor = 25 * time.Hour

// ofUnjudged is one finding of all statistics that were not judged for a day, with the reasons. What is stored while
// no daemon runs is not judged, of course.
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
	f := found(NotJudged, "not judged for a day")
	f.Since = since
	for _, reason := range reasons {
		f.Evidence = append(f.Evidence, strings.Join(names[reason], " and ")+" as "+reason)
	}
	return []Finding{f}
}

// tellUnjudged is true after a day. It is false where another finding says it, and before the first round, when no time has begun.
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
