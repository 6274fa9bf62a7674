package report

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// why says what made the state of statistic i, or what is missing for an alarm.
func why(x drift.Explanation, i int, s drift.StatisticExplanation) string {
	switch s.State {
	case record.Regressed, record.Improved:
		return causeText(x.Recent, i, s)
	case record.Suspect:
		return "Not an alarm yet: half of the evidence is there. " + mostEvidence(x, s)
	case record.Stable, record.Learning:
	}
	tail := s.Statistic == record.LatencyP95 || s.Statistic == record.LatencyP99
	switch {
	case x.Sureness != drift.Final && tail:
		return "Not judged yet: what is normal for tails takes a day to know."
	case x.Sureness == drift.Young:
		return "No alarm: while the baseline is young, only five minutes of rounds 1.7 times slower or more are one."
	default:
		return "No alarm. " + mostEvidence(x, s)
	}
}

// causeText says what gave a drift away.
func causeText(recent []drift.Block, i int, s drift.StatisticExplanation) string {
	switch drift.Cause(s.Cause) {
	case drift.BySlowRounds:
		slow := 0
		for _, b := range recent {
			if b.Slow[i] {
				slow++
			}
		}
		return fmt.Sprintf("Slow rounds have become common: %d of the last %s have one more than %s slower; the baseline has that in %s. "+
			"The median of rounds is as before, so the ratio is about 1.", slow, units.Plural(len(recent), "block"), units.Ratio(s.SlowAbove), units.Percent(s.SlowShare))
	case drift.ByLargeShift:
		return "For minutes nearly every round was far too slow; that needs no sum."
	case drift.ByLevel:
	}
	return "The level has moved: a sum has reached its height, and the shift is large enough to matter."
}

// mostEvidence tells how near to an alarm the nearest sum is.
func mostEvidence(x drift.Explanation, s drift.StatisticExplanation) string {
	var most drift.Evidence
	share := 0.0
	for _, e := range s.Evidence {
		if e.Height > 0 && e.Value/e.Height >= share {
			most, share = e, e.Value/e.Height
		}
	}
	switch {
	case share == 0:
		return "There is no evidence for a change."
	case share >= 1:
		limit := "drift.smallest_effect"
		if x.Sureness != drift.Final {
			limit = "drift.threshold, until the baseline is final"
		}
		return fmt.Sprintf("The evidence for %s is complete, and the shift is too small to count (%s).", evidenceName(most), limit)
	default:
		return fmt.Sprintf("The nearest sum, for %s, has %s of what it takes.", evidenceName(most), units.Percent(share))
	}
}
