package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Comparison writes the comparison of a run with its saved baseline, to follow the report of the run: the verdict, the
// conditions that differ, the warnings that the report does not have, and a table with a row per figure.
func Comparison(w io.Writer, d Document) error {
	return text.Write(w, "comparison", ownComparison(d)...)
}

// ownComparison shows the comparison of a run with its saved baseline. The report of the run has its warnings already:
// of those, the comparison has only the codes of the ones that the baseline has, too.
func ownComparison(d Document) []document.Block {
	c, own := *d.Comparison, d.Report.Warnings
	c.Warnings = nil
	var both []string
	for _, w := range d.Comparison.Warnings {
		switch {
		case slices.Contains(own, w):
			both = append(both, w.Code)
		case !slices.ContainsFunc(own, func(o record.Warning) bool { return w == compare.OfLater(o) }):
			c.Warnings = append(c.Warnings, w)
		}
	}
	return comparisonBlocks(c, both, theBaseline(c), "before", "now")
}

// theBaseline returns the name of the earlier run in texts.
func theBaseline(c record.Comparison) string {
	text := "the baseline of " + units.Time(c.Before.Started)
	if c.Before.Node != c.After.Node && c.Before.Node != "" {
		text += " on " + c.Before.Node
	}
	return text
}

// comparisonSection returns the comparison as a section of the run's page.
func comparisonSection(d Document) document.Section {
	return document.Section{Title: "Against the saved run", Blocks: ownComparison(d)}
}

// comparisonBlocks shows a comparison with an earlier run. before and after are the column headings of their
// values. both are the codes of warnings about both runs that are shown elsewhere.
func comparisonBlocks(c record.Comparison, both []string, earlier, before, after string) []document.Block {
	tones := map[record.Verdict]document.Tone{record.Slower: document.Bad, record.Faster: document.Good, record.Same: document.Good}
	blocks := []document.Block{document.Note{Text: "Compared with " + earlier + ": " + verdictText(c, "it"), Tone: tones[c.Verdict]}}
	if len(c.Conditions)+len(c.Warnings)+len(both)+len(c.NotCompared) > 0 {
		blocks = append(blocks, document.Gap{})
	}
	for _, change := range record.ChangeTexts(c.Conditions) {
		blocks = append(blocks, document.List("changed: ", change))
	}
	blocks = append(blocks, document.Warnings(c.Warnings))
	if len(both) > 0 {
		blocks = append(blocks, document.List("warnings of both runs: ", both...))
	}
	for _, left := range unmatched(c) {
		blocks = append(blocks, left)
	}
	if len(c.Loads) > 0 {
		blocks = append(blocks, document.Gap{}, comparisonTable(c, before, after))
		if slices.ContainsFunc(c.Loads, func(l record.ComparedLoad) bool { return slices.ContainsFunc(l.Figures, hinted) }) {
			blocks = append(blocks, document.Gap{}, unsureNote())
		}
	}
	return blocks
}

// hinted reports whether too few I/Os support a figure.
func hinted(f record.ComparedFigure) bool { return f.BeforeUnsure || f.AfterUnsure }

// verdictText returns the verdict in words, with the figure that changed most: "slower than it in 2 of 3
// loads, most of all mixed read IOPS, 2.0 times slower".
func verdictText(c record.Comparison, earlier string) string {
	if c.Verdict == record.Inconclusive {
		return "inconclusive: " + c.Reason
	}
	furthest, most := 0.0, ""
	for _, l := range c.Loads {
		for _, f := range l.Figures {
			if off := math.Abs(math.Log(f.Slower.Value)); f.Verdict == c.Verdict && off > furthest {
				furthest, most = off, fmt.Sprintf("%s %s, %s", loadName(l), f.Statistic.Short(), record.Ratio{Ratio: f.Slower.Value})
			}
		}
	}
	count := fmt.Sprintf("%d of %s", c.CountLoads(c.Verdict), units.Plural(len(c.Loads), "load"))
	if c.Verdict == record.Same {
		text := fmt.Sprintf("as fast as %s: %s within %s", earlier, count, units.Percent(c.Threshold))
		if n := unsureMedians(c); n > 0 {
			text += fmt.Sprintf(" in IOPS, but p50 of %d differs by more, which may be noise", n)
		}
		return text
	}
	return fmt.Sprintf("%s than %s in %s, most of all %s", c.Verdict, earlier, count, most)
}

// unsureMedians returns how many loads that may decide have a p50 beyond the threshold that is not certain.
func unsureMedians(c record.Comparison) int {
	n := 0
	for _, l := range c.Loads {
		if l.Ignored == "" && slices.ContainsFunc(l.Figures, func(f record.ComparedFigure) bool {
			return f.Statistic == record.LatencyP50 && f.Verdict == record.Inconclusive
		}) {
			n++
		}
	}
	return n
}

func loadName(l record.ComparedLoad) string { return l.Load + " " + string(l.Direction) }

// unmatched lists the loads that were not compared, by reason.
func unmatched(c record.Comparison) []document.Note {
	var notes []document.Note
	for _, u := range c.NotCompared {
		label := "not compared, " + u.Reason + ": "
		i := slices.IndexFunc(notes, func(n document.Note) bool { return n.Label == label })
		if i < 0 {
			i, notes = len(notes), append(notes, document.List(label))
		}
		notes[i].Items = append(notes[i].Items, u.Load+" "+string(u.Direction))
	}
	return notes
}

// comparisonTable returns a row per figure, in a group per load.
func comparisonTable(c record.Comparison, before, after string) document.Table {
	t := document.Table{Names: []string{"", "", before, after, "times slower", "95 % interval", "verdict"}, Align: "llrrrrl"}
	for _, l := range c.Loads {
		for i, f := range l.Figures {
			was, is := twoValues(f)
			was, is = hintOf(f.BeforeUnsure, was), hintOf(f.AfterUnsure, is)
			interval := ""
			if f.Slower.Lower != nil {
				interval = intervalText(f.Slower, units.Ratio)
			}
			row := t.Add("", f.Statistic.Short(), was, is, units.Ratio(f.Slower.Value), interval, string(f.Verdict))
			if i == 0 {
				row.Cells[0], row.Group = string(l.Direction), loadGroup(l)
			}
		}
	}
	return t
}

func loadGroup(l record.ComparedLoad) *document.Group {
	g := document.Group{Name: l.Load, About: []string{l.Plan}, Notes: []document.Block{document.Warnings(l.Warnings)}}
	if l.Before > 1 || l.After > 1 {
		g.About = append(g.About, fmt.Sprintf("%d and %d repeats", l.Before, l.After))
	}
	if l.Ignored != "" {
		g.About = append(g.About, "does not decide ("+l.Ignored+")")
	}
	return &g
}

// twoValues formats both values in one unit, that of the smaller one.
func twoValues(f record.ComparedFigure) (before, after string) {
	if f.Statistic == record.IOPS {
		return units.IOPS(f.Before), units.IOPS(f.After)
	}
	a, b := seconds(f.Before), seconds(f.After)
	unit := units.LatencyUnitFor(min(a, b))
	written := func(d time.Duration) string { return unit.Format(d) + " " + unit.Name }
	return written(a), written(b)
}

// RunVerdict says in words how the last run of a suite compares with the stored ones before it. changed lists
// the figures that became slower or faster. words is empty when there is nothing to compare.
func RunVerdict(r record.RunStatus) (words string, changed []string) {
	if r.Comparison == nil {
		return "", nil
	}
	c := *r.Comparison
	for _, verdict := range []record.Verdict{record.Slower, record.Faster} {
		for _, l := range c.Loads {
			for _, f := range l.Figures {
				if f.Verdict == verdict {
					changed = append(changed, fmt.Sprintf("%s %s: %s than their median of %s (%s to %s)", loadName(l), f.Statistic.Short(),
						record.Ratio{Ratio: f.Slower.Value}, Statistic(f.Statistic, f.Before), Statistic(f.Statistic, f.Best), Statistic(f.Statistic, f.Worst)))
				}
			}
		}
	}
	return verdictText(c, "the "+units.Plural(c.Runs, "run")+" before it"), changed
}
