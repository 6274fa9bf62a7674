package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// noise is how many times slower or faster a load may be from run to run on a drive that did not change. In repeated
// quick runs on an unchanged drive of a busy host, single loads exceeded it, but never all loads of a run: see
// TestMeasuredPairs.
const (
	noise = 1.6
	// noiseAlone is the same for a run with a single load, which no other load can confirm. Both its IOPS and its p50
	// have to exceed it.
	noiseAlone = 3
)

// laterRun is the later run in texts.
const laterRun = "the later run"

// Pair compares a run with an earlier one, and matches their loads by name. When either run is imported from fio's own
// output, whose names are arbitrary, loads may also be matched by plan. A load whose plan changed is not compared.
// threshold is the largest slow-down that still counts as the same, for example 0.2 for a fifth.
func Pair(before, after record.RunReport, threshold float64) record.Comparison {
	return Names{Before: "the earlier run", After: laterRun}.Pair(before, after, threshold)
}

// OfLater returns a warning as Pair has it when only the later run had it.
func OfLater(w record.Warning) record.Warning { return of(laterRun, w) }

// Pair does what the function Pair does, and uses these names for the runs.
func (n Names) Pair(before, after record.RunReport, threshold float64) record.Comparison {
	c := record.Comparison{
		Before: before.Reference(), Runs: 1, After: after.Reference(), Threshold: threshold,
		Conditions: changes(before, after),
	}
	c.Warnings = append(ownWarnings(c), n.join(before.Warnings, after.Warnings)...)
	earlier, later := loads(before), loads(after)
	var matched [][2]load
	for _, now := range later {
		i := slices.IndexFunc(earlier, func(l load) bool { return l.name == now.name && l.direction == now.direction })
		if (before.Imported() || after.Imported()) && (i < 0 || earlier[i].plan != now.plan) {
			// An ambiguous match is not guessed, on either side.
			if k := onlyOne(earlier, now); k >= 0 && onlyOne(later, now) >= 0 {
				i = k
			} else if i >= 0 && onlyOne(later, earlier[i]) >= 0 {
				i = -1 // that load has its match under another name
			}
		}
		if i < 0 {
			leaveOut(&c, now, "only in "+n.After)
			continue
		}
		was := earlier[i]
		earlier = slices.Delete(earlier, i, i+1)
		switch {
		case was.plan != now.plan:
			leaveOut(&c, now, fmt.Sprintf("the plan changed from %q to %q", was.plan, now.plan))
		case len(was.results) == 0, len(now.results) == 0, len(measured(was, now)) == 0:
			leaveOut(&c, now, cmp.Or(now.unfit(), was.unfit(), "no figures on one side"))
		default:
			matched = append(matched, [2]load{was, now})
		}
	}
	for _, was := range earlier {
		leaveOut(&c, was, "only in "+n.Before)
	}
	level := confidence.Alpha / float64(max(1, countDeciding(matched)))
	for _, m := range matched {
		c.Loads = append(c.Loads, n.pairOf(m[0], m[1], threshold, level))
	}
	agree(&c)
	conclude(&c, func(c *record.Comparison) string { return whatToDo(c, n.Before, after.Unrepeatable) })
	return c
}

// onlyOne returns the index of the only load in all with the plan and direction of another; -1 when there is none or more
// than one.
func onlyOne(all []load, other load) int {
	found := -1
	for i, l := range all {
		switch {
		case l.plan != other.plan || l.direction != other.direction:
		case found >= 0:
			return -1
		default:
			found = i
		}
	}
	return found
}

func leaveOut(c *record.Comparison, l load, reason string) {
	c.NotCompared = append(c.NotCompared, record.UnmatchedLoad{Load: l.name, Direction: l.direction, Reason: reason})
}

func countDeciding(matched [][2]load) int {
	n := 0
	for _, m := range matched {
		if m[0].ignored == "" && m[1].ignored == "" {
			n++
		}
	}
	return n
}

// measured returns the statistics that all repeats of both loads have.
func measured(before, after load) []record.Statistic {
	return slices.DeleteFunc(statistics(), func(s record.Statistic) bool {
		return len(before.values(s)) < len(before.results) || len(after.values(s)) < len(after.results)
	})
}

// pairOf compares one load of two runs. A change beyond the threshold is certain when the U test rejects chance at the
// given level.
func (n Names) pairOf(before, after load, threshold, level float64) record.ComparedLoad {
	l := record.ComparedLoad{
		Load: after.name, Plan: after.plan, Direction: after.direction, Before: len(before.results), After: len(after.results),
		Ignored: cmp.Or(before.ignored, after.ignored), Warnings: n.join(before.warnings(), after.warnings()),
	}
	for _, s := range measured(before, after) {
		was, is := before.values(s), after.values(s)
		f := record.ComparedFigure{Statistic: s, Before: confidence.Median(was), After: confidence.Median(is), Slower: confidence.TimesSlower(s, was, is)}
		f.Best, f.Worst = extremes(s, was)
		f.BeforeUnsure, f.AfterUnsure = before.unsure(s), after.unsure(s)
		certain := false
		if confidence.LeastChance(len(was), len(is)) <= level {
			f.P = new(confidence.Chance(was, is))
			certain = *f.P <= level
		}
		if f.BeforeUnsure || f.AfterUnsure {
			certain = false
		}
		f.Verdict = judge(f.Slower.Value, 1+threshold, certain)
		l.Figures = append(l.Figures, f)
	}
	return l
}

// judge returns the verdict on a ratio. A ratio within the limit is the same; one beyond it counts only when it is
// certain.
func judge(timesSlower, limit float64, certain bool) record.Verdict {
	switch {
	case timesSlower <= limit && timesSlower >= 1/limit:
		return record.Same
	case !certain:
		return record.Inconclusive
	case timesSlower > 1:
		return record.Slower
	default:
		return record.Faster
	}
}

func extremes(s record.Statistic, values []float64) (best, worst float64) {
	best, worst = slices.Min(values), slices.Max(values)
	if s == record.IOPS {
		best, worst = worst, best
	}
	return best, worst
}

// agree accepts changes that no test could confirm for want of repeats: those that all loads that may decide have in
// common, far beyond the noise between runs. The other loads cannot confirm a change, but they can refute it: a
// disturbance makes a drive look slower, never as fast as before.
func agree(c *record.Comparison) {
	limit, alone := noise, len(c.Loads) == 1
	if alone {
		limit = noiseAlone
	}
	for _, v := range []record.Verdict{record.Slower, record.Faster} {
		disagrees := func(l record.ComparedLoad) bool {
			if l.Ignored != "" {
				return !isFar(l, v, 1+c.Threshold, false)
			}
			return !isFar(l, v, max(limit, 1+c.Threshold), alone)
		}
		if tooFew(c) || slices.ContainsFunc(c.Loads, disagrees) {
			continue
		}
		for _, l := range decidingLoads(c) {
			for i, f := range l.Figures {
				if f.P == nil && f.Statistic != record.LatencyP99 && judge(f.Slower.Value, 1+c.Threshold, true) == v {
					l.Figures[i].Verdict = v
				}
			}
		}
	}
}

// isFar reports whether a load changed beyond a limit in the direction of a verdict. With both, its IOPS and p50 must
// both have done so. Otherwise one of them suffices, if the other is not beyond the limit and noise in the opposite
// direction.
func isFar(l record.ComparedLoad, v record.Verdict, limit float64, both bool) bool {
	far := 0
	for _, f := range l.Figures {
		if f.Statistic == record.LatencyP99 {
			continue
		}
		switch {
		case judge(f.Slower.Value, limit, true) == v:
			far++
		case both, judge(f.Slower.Value, max(limit, noise), true) != record.Same:
			return false
		}
	}
	return far > 0
}

// whatToDo says how many repeats would make the comparison conclusive, and why it is not. For a suite without repeats it
// recommends another run.
func whatToDo(c *record.Comparison, earlier string, unrepeatable bool) string {
	if len(c.Loads) == 0 {
		return "the runs have no load in common"
	}
	repeats, before, unsure := repeatsFor(len(c.Loads)), 0, 0
	for i, l := range c.Loads {
		if l.Verdict == record.Inconclusive && l.Ignored == "" {
			unsure++
			if l.Figures[0].P != nil { // the present number of repeats was not enough
				repeats = max(repeats, 2*max(l.Before, l.After))
			}
		}
		if i == 0 || l.Before < before {
			before = l.Before
		}
	}
	text := fmt.Sprintf("repeat with --repeats %d", repeats)
	switch {
	case unrepeatable:
		text = fmt.Sprintf("run it again: %s has no repeats, and one run against one shows only large changes that all loads have in common", c.After.Suite)
	case before < repeats:
		text += ", " + earlier + " too"
	}
	if unsure > 0 {
		return text + fmt.Sprintf(": %d of %s changed by more than %s, which may be noise",
			unsure, units.Plural(len(c.Loads), "load"), units.Percent(c.Threshold))
	}
	return "measure again once the cause is gone, because more repeats do not help: " + ignoredText(c)
}
