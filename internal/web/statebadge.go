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

// stateOf is the verdict on a target. Green is for what is well in all that is watched of it.
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

// hungBadge is of a round that does not end: the device does not answer, or has none of its I/O.
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

// verdictBadge is the verdict on a drive as a whole: all there is to show of one without probes.
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
