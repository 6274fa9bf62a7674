package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// decidingLoads returns the loads that may decide.
func decidingLoads(c *record.Comparison) []*record.ComparedLoad {
	var all []*record.ComparedLoad
	for i := range c.Loads {
		if c.Loads[i].Ignored == "" {
			all = append(all, &c.Loads[i])
		}
	}
	return all
}

// tooFew reports whether too few loads may decide: fewer than half of all, or only one of
// several.
func tooFew(c *record.Comparison) bool {
	all := len(c.Loads)
	return len(decidingLoads(c)) < max(1, min(2, all), (all+1)/2)
}

// conclude combines the verdicts of the figures into one for each load, and those into
// one for the run. advice says what to do when the run's verdict is inconclusive.
func conclude(c *record.Comparison, advice func(*record.Comparison) string) {
	verdicts := map[record.Verdict]int{}
	tails := map[record.Verdict]int{}
	for i := range c.Loads {
		l := &c.Loads[i]
		if l.Ignored != "" {
			for k := range l.Figures {
				l.Figures[k].Verdict = record.Inconclusive
			}
		}
		var tail record.Verdict
		l.Verdict, tail = verdictOf(l.Figures)
		if l.Ignored == "" {
			verdicts[l.Verdict]++
			tails[tail]++
		}
	}
	switch {
	case tooFew(c):
		c.Verdict, c.Reason = record.Inconclusive, advice(c)
	case verdicts[record.Slower] > 0, tails[record.Slower] >= tailLoads:
		c.Verdict = record.Slower
	case verdicts[record.Faster] > 0, tails[record.Faster] >= tailLoads:
		c.Verdict = record.Faster
	case verdicts[record.Inconclusive] > 0:
		c.Verdict, c.Reason = record.Inconclusive, advice(c)
	default:
		c.Verdict = record.Same
	}
}

// tailLoads is the number of loads whose p99 has to be slower, or faster, for the run to
// be so.
const tailLoads = 2

// verdictOf combines the verdicts on IOPS and p50 of a load, and returns that on p99
// separately. When the IOPS are the same and p50 is inconclusive, the load is the same.
func verdictOf(figures []record.ComparedFigure) (load, tail record.Verdict) {
	has := map[record.Verdict]bool{}
	for _, f := range figures {
		if f.Statistic == record.LatencyP99 {
			tail = f.Verdict
			continue
		}
		has[f.Verdict] = true
		load = cmp.Or(load, f.Verdict)
	}
	switch {
	case has[record.Slower] && has[record.Faster]:
		return record.Inconclusive, tail
	case has[record.Slower]:
		return record.Slower, tail
	case has[record.Faster]:
		return record.Faster, tail
	default:
		return load, tail
	}
}

// ignoredText says how many loads of a comparison may not decide, and why.
func ignoredText(c *record.Comparison) string {
	var codes []string
	n := 0
	for _, l := range c.Loads {
		if l.Ignored != "" {
			n++
			codes = append(codes, l.Ignored)
		}
	}
	slices.Sort(codes)
	return fmt.Sprintf("%d of %s cannot decide (%s)", n, units.Plural(len(c.Loads), "load"), strings.Join(slices.Compact(codes), ", "))
}
