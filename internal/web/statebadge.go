package web

import "github.com/ssdprobe/ssdprobe/internal/finding"

// badge is a state in one or two words.
type badge struct {
	Tone tone
	Text string
	// Since is when the state began; may be nil.
	Since *moment
}

// newBadge returns the badge for the state of a target or the host, or of a probe whose round hangs.
func newBadge(s finding.State) badge { return badge{Tone: gradeTone(s.Grade()), Text: string(s)} }

func gradeTone(g finding.Grade) tone {
	switch g {
	case finding.Good:
		return toneGood
	case finding.Doubtful:
		return toneWarn
	case finding.Bad:
		return toneBad
	case finding.Unknown:
	}
	return toneQuiet
}
