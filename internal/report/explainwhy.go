package report

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// why explains the state of statistic i, or what is missing for an alarm.
func why(x drift.Explanation, i int, s drift.StatisticExplanation) string {
	switch s.State {
	case record.Regressed, record.Improved:
		text := causeText(x.Recent, i, s)
		if s.Unjudged != nil {
			text += fmt.Sprintf(" It is not compared any more: %s.", s.Unjudged)
		}
		return text
	case record.Suspect:
		return "Not an alarm yet: half of the evidence is there. " + mostEvidence(x, s)
	case record.Unknown:
		if s.Unjudged.Reason == record.ReasonAssumed {
			return fmt.Sprintf("Compared with what may be the level of a slower drive: %s.", s.Unjudged)
		}
		return fmt.Sprintf("Not compared for an hour or longer: %s.", s.Unjudged)
	case record.Waiting:
		text := fmt.Sprintf("Waiting: %s.", s.Unjudged)
		if x.Maturity == record.Early && s.Unjudged.Reason == record.ReasonLearning {
			text += " " + earlyLimit(s)
		}
		return text
	case record.Stable, record.Learning:
	}
	if x.Maturity == record.Early {
		return "No alarm. " + earlyLimit(s)
	}
	return "No alarm. " + mostEvidence(x, s)
}

// earlyLimit says what raises an alarm while the baseline is early.
func earlyLimit(s drift.StatisticExplanation) string {
	return fmt.Sprintf("While the baseline is early, only rounds that are more than %s slower for five minutes raise an alarm, or far slower ones sooner. "+
		"That is well above what rounds did while it was learned.", units.Ratio(s.FarAbove))
}

// causeText says what revealed a drift.
func causeText(recent []drift.Block, i int, s drift.StatisticExplanation) string {
	switch s.Cause {
	case record.BySlowRounds:
		slow := 0
		for _, b := range recent {
			if b.Slow[i] {
				slow++
			}
		}
		return fmt.Sprintf("Slow rounds have become common: %d of the last %s have a round that is more than %s slower; in the baseline, %s of the blocks do. "+
			"The median round is as before, so the ratio is about 1.", slow, units.Plural(len(recent), "block"), units.Ratio(s.SlowAbove), units.Percent(s.SlowShare))
	case record.ByLargeShift:
		return "At the onset, nearly every round was far too slow, so the alarm did not wait for whole blocks."
	case record.ByLevel:
	}
	return "The level has moved: a CUSUM has reached its threshold, and the shift is large enough to matter."
}

// mostEvidence says how close the CUSUM nearest to its threshold is to it.
func mostEvidence(x drift.Explanation, s drift.StatisticExplanation) string {
	var most drift.Evidence
	share := 0.0
	for _, e := range s.Evidence {
		if e.Threshold > 0 && e.Value/e.Threshold >= share {
			most, share = e, e.Value/e.Threshold
		}
	}
	switch {
	case share == 0:
		return "There is no evidence for a change."
	case share >= 1 && x.Maturity != record.Final && most.For != drift.ForSlower:
		return fmt.Sprintf("The evidence for %s is complete, but until the baseline is final, only a slower level raises an alarm.", evidenceName(most))
	case share >= 1:
		limit := "drift.smallest_effect"
		if x.Maturity != record.Final {
			limit = "drift.threshold, until the baseline is final"
		}
		return fmt.Sprintf("The evidence for %s is complete, but the shift is too small to count (%s).", evidenceName(most), limit)
	default:
		return fmt.Sprintf("The closest CUSUM, for %s, is at %s of its threshold.", evidenceName(most), units.Percent(share))
	}
}
