package analysis

import (
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// minRuns is how many earlier runs it takes to call one slower: with fewer, being
	// the slowest of all is too likely to mean nothing.
	minRuns = 4
	// leastChange is the smallest change of a run that is called one: 5 %.
	leastChange = 1.05
)

// WithEarlier compares each figure of a run with those of earlier runs of the same
// suite under the same conditions: IOPS, median and p99 of each step and direction that
// came to its end and did the same work. A figure is slower when it is behind all
// earlier ones (its rank is the last), and further from their median than they
// lie apart; the other way round it is faster. No law of noise is assumed.
func WithEarlier(now record.RunReport, earlier []record.RunReport) []record.RunFigure {
	var all []record.RunFigure
	for _, step := range complete(now.Steps) {
		for _, r := range results(step) {
			for _, s := range []record.Statistic{record.IOPS, record.LatencyP50, record.LatencyP99} {
				if value := figureOf(s, r.Result); value > 0 {
					all = append(all, compareFigure(record.RunFigure{Step: step.Name, Direction: r.direction, Statistic: s}, value,
						earlierFigures(now, step, r.direction, s, earlier)))
				}
			}
		}
	}
	return all
}

func figureOf(s record.Statistic, r record.Result) float64 {
	if s == record.IOPS {
		return r.IOPS
	}
	return s.Of(record.Measurement{Latency: r.Latency})
}

// earlierFigures are the values of one figure in the runs that may be compared.
func earlierFigures(now record.RunReport, step record.Step, d record.Direction, s record.Statistic, earlier []record.RunReport) []float64 {
	var values []float64
	for _, run := range earlier {
		if run.Suite != now.Suite || run.Conditions != now.Conditions || !record.AlikeFiles(run.File, now.File) || !run.Started.Before(now.Started) {
			continue
		}
		for _, old := range complete(run.Steps) {
			if old.Name != step.Name || old.Plan != step.Plan {
				continue
			}
			for _, r := range results(old) {
				if v := figureOf(s, r.Result); r.direction == d && v > 0 {
					values = append(values, v)
				}
			}
		}
	}
	return values
}

func compareFigure(f record.RunFigure, now float64, before []float64) record.RunFigure {
	f.Runs, f.Verdict = len(before), record.RunFew
	if len(before) == 0 {
		return f
	}
	slices.Sort(before)
	f.Best, f.Worst = before[0], before[len(before)-1]
	if f.Statistic == record.IOPS {
		f.Best, f.Worst = f.Worst, f.Best
	}
	f.Median = (before[(len(before)-1)/2] + before[len(before)/2]) / 2
	f.Ratio = f.Statistic.Slower(f.Median, now)
	if len(before) < minRuns {
		return f
	}
	apart := max(leastChange, f.Statistic.Slower(f.Best, f.Worst))
	switch {
	case f.Statistic.Slower(f.Worst, now) > 1 && f.Ratio > apart:
		f.Verdict = record.RunSlower
	case f.Statistic.Slower(f.Best, now) < 1 && f.Ratio < 1/apart:
		f.Verdict = record.RunFaster
	default:
		f.Verdict = record.RunAlike
	}
	return f
}
