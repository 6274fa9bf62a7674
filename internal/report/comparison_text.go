package report

import (
	"fmt"
	"io"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Text writes the comparison: the verdict, then the conditions that changed,
// the warnings, and a table with a row per statistic. A figure that does not
// count has a "~" before its verdict.
func (c Comparison) Text(w io.Writer) error {
	var p page
	p.sentence("", c.headline())
	p.blank()
	for i, change := range c.Conditions {
		prefix := "changed       "
		if i > 0 {
			prefix = "              "
		}
		p.list(prefix, changesList([]record.Change{change}))
	}
	p.warnings("", c.Warnings)
	for _, u := range c.NotCompared {
		p.sentence("not compared: ", fmt.Sprintf("%s: %s", joined(u.Step, u.Direction), u.Reason))
	}
	if len(c.Conditions)+len(c.Warnings)+len(c.NotCompared) > 0 && len(c.Steps) > 0 {
		p.blank()
	}
	if len(c.Steps) > 0 {
		p.comparisonTable(c)
	}
	return p.writeTo(w, "comparison")
}

// headline is the verdict in words with the figure that is furthest off.
func (c Comparison) headline() string {
	worst, beyond, counted := "", 0, 0
	furthest := 0.0
	for _, step := range c.Steps {
		for _, s := range step.Statistics {
			if !s.Counts {
				continue
			}
			counted++
			if s.Verdict != c.Verdict {
				continue
			}
			beyond++
			off := s.Ratio
			if c.Verdict == Faster {
				off = 1 / s.Ratio
			}
			if off > furthest {
				furthest = off
				worst = joined(step.Step, step.Direction) + " " + StatisticName(s.Statistic)
			}
		}
	}
	switch c.Verdict {
	case Slower:
		return fmt.Sprintf("SLOWER than %s: %d of %s beyond %s, worst %s, %s slower",
			c.baselineText(), beyond, plural(counted, "figure"), Ratio(1+c.Threshold), worst, Ratio(furthest))
	case Faster:
		return fmt.Sprintf("Faster than %s: %d of %s beyond %s, most %s, %s faster",
			c.baselineText(), beyond, plural(counted, "figure"), Ratio(1+c.Threshold), worst, Ratio(furthest))
	case Same:
		return fmt.Sprintf("As fast as %s: all %s within %s", c.baselineText(), plural(counted, "figure"), Ratio(1+c.Threshold))
	case Incomplete:
	}
	return "Nothing could be compared with " + c.baselineText()
}

func (c Comparison) baselineText() string {
	text := "the baseline of " + Time(c.Baseline.Started)
	if c.Baseline.Node != c.Now.Node && c.Baseline.Node != "" {
		text += " on " + c.Baseline.Node
	}
	return text
}

func (p *page) comparisonTable(c Comparison) {
	g := grid{
		header: [][]string{{"", "statistic", "baseline", "now", "times slower", "verdict"}},
		align:  "llrrrl", indent: "  ",
	}
	uncounted := false
	previous := ""
	for _, step := range c.Steps {
		direction := step.Direction
		for i, s := range step.Statistics {
			before, now := pair(s)
			verdict := string(s.Verdict)
			if !s.Counts {
				uncounted = true
				verdict = "~" + verdict
			}
			row := gridRow{cells: []string{direction, StatisticName(s.Statistic), before, now, Ratio(s.Ratio), verdict}}
			direction = ""
			if i == 0 && step.Step != previous {
				row.above = func(p *page) {
					p.sentence("", fmt.Sprintf("%s: %s", step.Step, step.Plan))
					p.warnings("    ", step.Warnings)
				}
			}
			g.rows = append(g.rows, row)
		}
		previous = step.Step
	}
	p.grid(g)
	if uncounted {
		p.blank()
		p.sentence("~ ", fmt.Sprintf("does not count: a tail of fewer than %s I/Os says little.", Count(tailIOs)))
	}
}

// pair writes both values in one unit, that of the smaller.
func pair(s StatisticComparison) (before, now string) {
	if s.Statistic == record.IOPS {
		return IOPS(s.Baseline), IOPS(s.Now)
	}
	a, b := seconds(s.Baseline), seconds(s.Now)
	unit := units.LatencyUnitFor(min(a, b))
	written := func(d time.Duration) string { return unit.Format(d) + " " + unit.Name }
	return written(a), written(b)
}

func joined(step, direction string) string {
	if direction == "" {
		return step
	}
	return step + " " + direction
}
