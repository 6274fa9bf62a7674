package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// noise is how many times slower or faster a load may be from run to run on a drive
// that did not change. Among repeated quick runs on an unchanged drive of a busy host
// single loads went beyond it, and never all loads of a run: see TestMeasuredPairs.
const (
	noise = 1.6
	// noiseAlone is the same for the only load of a run, which no other confirms: its
	// IOPS and p50 both have to be beyond it.
	noiseAlone = 3
)

// Pair sets a run against an earlier one, load by load as they are named; one of fio's own output, in which the
// names are somebody's, also as they are planned. A load whose plan changed is not compared. Threshold is the largest slow-down that still passes as
// the same, 0.2 for a fifth.
func Pair(before, after record.RunReport, threshold float64) record.Comparison {
	return Names{Before: "the earlier run", After: "the later run"}.Pair(before, after, threshold)
}

// Pair does what the function does, and calls the runs by these names.
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
			// Which of two is meant is not guessed, on either side.
			if k := onlyOne(earlier, now); k >= 0 && onlyOne(later, now) >= 0 {
				i = k
			} else if i >= 0 && onlyOne(later, earlier[i]) >= 0 {
				i = -1 // that one has its like under another name
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
	level := alpha / float64(max(1, countDeciding(matched)))
	for _, m := range matched {
		c.Loads = append(c.Loads, n.pairOf(m[0], m[1], threshold, level))
	}
	agree(&c)
	conclude(&c, func(c *record.Comparison) string { return whatToDo(c, n.Before, after.Unrepeatable) })
	return c
}

// onlyOne is the index of the only load of all that has the plan and direction of another; -1 when there is none, or
// more than one.
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

// measured are the statistics that all repeats of both loads have.
func measured(before, after load) []record.Statistic {
	return slices.DeleteFunc(statistics(), func(s record.Statistic) bool {
		return len(before.values(s)) < len(before.results) || len(after.values(s)) < len(after.results)
	})
}

// pairOf compares a load of two runs. A change beyond the threshold is certain when the
// U test rejects chance at a level.
func (n Names) pairOf(before, after load, threshold, level float64) record.ComparedLoad {
	l := record.ComparedLoad{
		Load: after.name, Plan: after.plan, Direction: after.direction, Before: len(before.results), After: len(after.results),
		Ignored: cmp.Or(before.ignored, after.ignored), Warnings: n.join(before.warnings, after.warnings),
	}
	for _, s := range measured(before, after) {
		was, is := before.values(s), after.values(s)
		f := record.ComparedFigure{Statistic: s, Before: median(was), After: median(is), Slower: timesSlower(s, was, is)}
		f.Best, f.Worst = extremes(s, was)
		certain := false
		if leastChance(len(was), len(is)) <= level {
			f.P = new(chance(was, is))
			certain = *f.P <= level
		}
		if s == record.LatencyP99 && (before.shortTail() || after.shortTail()) {
			certain = false
		}
		f.Verdict = judge(f.Slower.Value, 1+threshold, certain)
		l.Figures = append(l.Figures, f)
	}
	return l
}

// judge is the verdict on a ratio that counts from a limit on, when it is certain.
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

// agree makes certain what no test could, for want of repeats: a change that all loads that may decide have
// in common, far beyond the noise between runs. The other loads cannot confirm it, but
// they can speak against it: what disturbs makes a drive look slower, and not as fast.
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

// isFar reports whether IOPS or p50 of a load, or both, are beyond a limit in the
// direction of a verdict, and neither is beyond noise in the other.
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

// whatToDo says how many repeats would tell what this comparison cannot, and why it
// cannot. Of a suite without repeats, another run may.
func whatToDo(c *record.Comparison, earlier string, unrepeatable bool) string {
	if len(c.Loads) == 0 {
		return "the runs have no load in common"
	}
	repeats, before, unsure := repeatsFor(len(c.Loads)), 0, 0
	for i, l := range c.Loads {
		if l.Verdict == record.Inconclusive && l.Ignored == "" {
			unsure++
			if l.Figures[0].P != nil { // not even these could tell
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
	return "measure again once the cause is gone, as more repeats do not help: " + ignoredText(c)
}
