package web

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// badge is a state in one or two words.
type badge struct {
	Tone tone
	Text string
	// Since is when the state began; may be nil.
	Since *moment
}

// stateOf returns the state of a target. It is green only when everything that is watched about the target is well.
func stateOf(t record.TargetStatus, now time.Time) badge {
	if t.Problem != "" {
		return badge{Tone: toneBad, Text: "not probed"}
	}
	for _, p := range t.Probes {
		if since, hung := p.HungSince(now); hung {
			return hungBadge(t.HeldBack(&p) != nil, since, now)
		}
	}
	b := verdictBadge(t.Judged(), now)
	if b.Tone == toneGood && !judgedInFull(t) {
		return badge{Tone: toneQuiet, Text: "partly judged", Since: b.Since}
	}
	return b
}

// hungBadge returns the badge for a round that does not end. Either the device does not answer, or the host holds the
// I/O back.
func hungBadge(held bool, since, now time.Time) badge {
	if held {
		return badge{Tone: toneWarn, Text: "held back", Since: at(since, now)}
	}
	return badge{Tone: toneBad, Text: "hung", Since: at(since, now)}
}

// judgedInFull reports whether all statistics of all probes are judged.
func judgedInFull(t record.TargetStatus) bool {
	return !slices.ContainsFunc(t.Probes, func(p record.ProbeStatus) bool { return !judged(p.Drift) })
}

// verdictBadge returns the verdict on a drive or host. It is all that can be shown for a drive without probes.
func verdictBadge(j record.Judgement, now time.Time) badge {
	b := badge{Tone: toneQuiet, Text: string(j.Verdict), Since: at(j.Since, now)}
	switch j.Verdict {
	case record.Healthy:
		b.Tone = toneGood
	case record.Watch:
		b.Tone = toneWarn
	case record.Degraded, record.Severe:
		b.Tone = toneBad
	case record.Unjudged:
	}
	return b
}
