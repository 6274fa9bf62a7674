package compare

import (
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// minRuns is how many earlier runs it takes to call a run slower. With fewer, a run
	// is too likely to be the slowest of all by chance.
	minRuns = 4
	// leastChange is the smallest change of a run that counts as one.
	leastChange = 0.05
)

// History compares a run with earlier ones of the same suite under the same conditions,
// and leaves out all others. A figure is slower when it is worse than all earlier ones
// (its rank is the last) and further from their median than they lie apart. Faster is the
// reverse. The rule assumes no distribution of the noise. History returns nil when the
// run measured nothing.
func History(now record.RunReport, earlier []record.RunReport) *record.Comparison {
	c := &record.Comparison{After: now.Reference(), Threshold: leastChange, Warnings: now.Warnings}
	var before [][]load
	for _, run := range slices.SortedFunc(slices.Values(earlier), func(a, b record.RunReport) int { return a.Started.Compare(b.Started) }) {
		if run.Suite == now.Suite && run.Conditions == now.Conditions && record.AlikeFiles(run.File, now.File) && run.Started.Before(now.Started) {
			before = append(before, loads(run))
			c.Before = run.Reference()
		}
	}
	for _, l := range loads(now) {
		if compared := historyOf(l, before); len(compared.Figures) > 0 {
			c.Loads, c.Runs = append(c.Loads, compared), max(c.Runs, compared.Before)
		}
	}
	if len(c.Loads) == 0 {
		return nil
	}
	conclude(c, fewRuns)
	return c
}

// historyOf compares a load of a run with the same load of those earlier runs in which it
// may decide.
func historyOf(now load, before [][]load) record.ComparedLoad {
	l := record.ComparedLoad{
		Load: now.name, Plan: now.plan, Direction: now.direction, After: len(now.results), Ignored: now.ignored, Warnings: now.warnings(),
	}
	var earlier []load
	for _, run := range before {
		for _, was := range run {
			if was.name == now.name && was.direction == now.direction && was.plan == now.plan && was.ignored == "" && len(measured(was, now)) > 0 {
				earlier = append(earlier, was)
			}
		}
	}
	l.Before = len(earlier)
	for _, s := range statistics() {
		is := now.values(s)
		if len(is) == 0 {
			continue
		}
		f := record.ComparedFigure{Statistic: s, After: confidence.Median(is), Verdict: record.Inconclusive}
		var values []float64
		f.AfterUnsure = now.unsure(s)
		for _, was := range earlier {
			if v := was.values(s); len(v) > 0 {
				values = append(values, confidence.Median(v))
				f.BeforeUnsure = f.BeforeUnsure || was.unsure(s)
			}
		}
		if len(values) > 0 {
			f.Before = confidence.Median(values)
			f.Best, f.Worst = extremes(s, values)
			f.Slower = record.Interval{Value: s.Slower(f.Before, f.After)}
		}
		if len(values) >= minRuns {
			f.Verdict = ranked(f)
		}
		if f.Verdict != record.Same && (f.BeforeUnsure || f.AfterUnsure) {
			f.Verdict = record.Inconclusive
		}
		l.Figures = append(l.Figures, f)
	}
	return l
}

// ranked returns the verdict by the rank rule of History.
func ranked(f record.ComparedFigure) record.Verdict {
	apart := max(1+leastChange, f.Statistic.Slower(f.Best, f.Worst))
	beyond := f.Statistic.Slower(f.Worst, f.After) > 1 || f.Statistic.Slower(f.Best, f.After) < 1
	if !beyond {
		return record.Same
	}
	return judge(f.Slower.Value, apart, true)
}

// fewRuns says why a history is inconclusive.
func fewRuns(c *record.Comparison) string {
	few, least := 0, minRuns
	for _, l := range decidingLoads(c) {
		if l.Before < minRuns {
			few, least = few+1, min(least, l.Before)
		}
	}
	switch {
	case few == 0:
		return ignoredText(c)
	case few == len(c.Loads):
		return fmt.Sprintf("it needs %d earlier runs under the same conditions, and has %s", minRuns, units.Count(least))
	default:
		return fmt.Sprintf("it needs %d earlier runs under the same conditions, and %d of %s have fewer", minRuns, few, units.Plural(len(c.Loads), "load"))
	}
}
