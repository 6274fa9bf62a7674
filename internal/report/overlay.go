package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/html"
	"github.com/ssdprobe/ssdprobe/internal/report/markdown"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// mostOverlaid is the largest number of runs that one drawing can show in different colours.
	mostOverlaid = plot.Colours
	// mostOverlays is the largest number of drawings of one kind.
	mostOverlays = 8
)

// HTML writes the comparison as one page with the runs drawn over each other. runs are in the order of Names.
func (c Comparisons) HTML(w io.Writer, runs []record.RunReport) error {
	shown := runs[:min(len(runs), mostOverlaid)]
	overlays := slices.Concat(overlaidDepths(shown), overlaidOffsets(shown), overlaidLatencies(shown))
	if len(overlays) > 0 && len(shown) < len(runs) {
		overlays[0].Blocks = append([]document.Block{document.Sentence(fmt.Sprintf("Drawn are the first %d of %d runs; the tables below have all.", len(shown), len(runs)))},
			overlays[0].Blocks...)
	}
	return html.Write(w, c.page(runs, overlays))
}

// Markdown writes the comparison for a ticket or a mail, without drawings.
func (c Comparisons) Markdown(w io.Writer, runs []record.RunReport) error {
	return markdown.Write(w, c.page(runs, nil))
}

// page returns the comparison of runs as a page, with their drawings.
func (c Comparisons) page(runs []record.RunReport, overlays []document.Section) document.Page {
	p := document.Page{
		Title: "Comparison of " + units.Plural(len(runs), "run"), About: c.Names,
		Foot: "drives and rates are decimal (1 MB/s = 1 000 000 bytes per second), blocks binary (1 KiB = 1024 bytes)",
	}
	for i, one := range c.Comparisons {
		p.Warnings = append(p.Warnings, one.Warnings...)
		text := Letter(i+1) + " compared with A: " + verdictText(one, "A")
		if i == 0 {
			p.Lead = text
			continue
		}
		p.Points = append(p.Points, document.Point{Section: againstID(i), Text: text})
	}
	p.Warnings = once(p.Warnings)
	which := document.Section{Title: "Runs"}
	var facts document.Facts
	for i, name := range c.Names {
		facts = append(facts, document.Fact{Name: Letter(i), Value: name + ": " + referenceText(runs[i].Reference())})
	}
	which.Blocks = append(which.Blocks, facts)
	p.Sections = slices.Concat([]document.Section{which, c.differences()}, overlays)
	for i, one := range c.Comparisons {
		p.Sections = append(p.Sections, document.Section{
			ID: againstID(i), Title: Letter(i+1) + " against A", Blocks: comparisonBlocks(one, nil, "A", "A", Letter(i+1)),
		})
	}
	return p
}

func againstID(i int) string { return fmt.Sprintf("against-%d", i+1) }

// differences returns a row for each condition that differs in any comparison.
func (c Comparisons) differences() document.Section {
	t := document.Table{Names: []string{"condition", "A"}, Align: "ll"}
	var order []string
	cells := map[string][]string{}
	for i, one := range c.Comparisons {
		t.Names, t.Align = append(t.Names, Letter(i+1)), t.Align+"l"
		for _, change := range one.Conditions {
			name := record.ConditionTitle(change.Condition)
			if cells[name] == nil {
				order = append(order, name)
				cells[name] = c.unchanged(change.From)
			}
			cells[name][i+1] = cmp.Or(change.To, "unknown")
		}
	}
	for _, name := range order {
		t.Add(append([]string{name}, cells[name]...)...)
	}
	s := document.Section{Title: "What differs in the conditions"}
	said := map[string]bool{}
	for _, one := range c.Comparisons {
		if text := sameConditions(one); text != "" && !said[text] && (len(order) == 0 || one.Unknown()) {
			said[text] = true
			s.Blocks = append(s.Blocks, document.Sentence(text))
		}
	}
	if len(order) > 0 {
		s.Blocks = append(s.Blocks, t)
	}
	return s
}

// unchanged returns the row of a condition with the value of the first run in all columns. For runs with unknown
// conditions the value is unknown too.
func (c Comparisons) unchanged(first string) []string {
	first = cmp.Or(first, "unknown")
	row := []string{first}
	for _, one := range c.Comparisons {
		if one.Unknown() {
			row = append(row, "unknown")
		} else {
			row = append(row, first)
		}
	}
	return row
}

// inSeveral returns the names that at least two runs have, in order of first appearance.
func inSeveral(names [][]string) []string {
	count := map[string]int{}
	var order []string
	for _, of := range names {
		for _, name := range of {
			count[name]++
			if count[name] == 1 {
				order = append(order, name)
			}
		}
	}
	return slices.DeleteFunc(order, func(name string) bool { return count[name] < 2 })
}

// limited keeps the first overlays of a kind, and adds a note to the last one when it drops any.
func limited(all []document.Section) []document.Section {
	if len(all) <= mostOverlays {
		return all
	}
	last := &all[mostOverlays-1]
	last.Blocks = append(last.Blocks, document.Sentence(fmt.Sprintf("%d more are in the tables below.", len(all)-mostOverlays)))
	return all[:mostOverlays]
}

const whiskers = "Bars are 95 % intervals over repeats; a point without one was measured once."

// overlaidDepths draws the sweeps of each load in one drawing: IOPS on the left axis, latency on the right one.
func overlaidDepths(runs []record.RunReport) []document.Section {
	all := make([][]sweep, len(runs))
	names := make([][]string, len(runs))
	for i, r := range runs {
		all[i] = sweeps(r)
		for _, s := range all[i] {
			names[i] = append(names[i], s.load)
		}
	}
	var sections []document.Section
	for _, name := range inSeveral(names) {
		diagram := plot.Plot{Title: "IOPS and latency over depth, " + name, Y: plot.Axis{Label: "IOPS", Zero: true}}
		extent := latencyExtent{}
		var drawnSweeps []sweep
		var drawnRuns []int
		for i := range runs {
			if k := slices.Index(names[i], name); k >= 0 {
				drawnSweeps, drawnRuns = append(drawnSweeps, all[i][k]), append(drawnRuns, i)
				for _, p := range all[i][k].points {
					extent.add(p.mean)
				}
			}
		}
		unit, right := extent.axis()
		diagram.Right = &right
		var warnings []record.Warning
		for k, s := range drawnSweeps {
			i := drawnRuns[k]
			iops, mean, warned := s.overlaid(Letter(i), runs[i], unit)
			warnings = append(warnings, warned...)
			diagram.Series = append(diagram.Series,
				plot.Series{Name: Letter(i) + ": IOPS (left)", Points: iops, Colour: i + 1},
				plot.Series{Name: Letter(i) + ": mean latency (right)", Points: mean, Colour: i + 1, Right: true, Dashed: true})
			if axis := s.axis(); k == 0 || axis.Scale == plot.Log2 {
				diagram.X = axis
			}
		}
		sections = append(sections, document.Section{
			Title:  "IOPS and latency over depth: " + name,
			Blocks: []document.Block{drawn(diagram, "Solid lines are IOPS, dashed ones the mean latency. "+whiskers, warnings, nil)},
		})
	}
	return limited(sections)
}

// overlaid returns the points of one sweep of several, with the intervals of their repeats.
func (s sweep) overlaid(run string, r record.RunReport, unit units.LatencyUnit) (iops, mean []plot.Point, warnings []record.Warning) {
	for _, p := range s.points {
		spread := p.spread(r)
		rate := plot.Point{X: float64(p.depth), Y: p.iops, Doubt: len(p.warnings) > 0}
		late := plot.Point{X: float64(p.depth), Y: unit.In(p.mean), Doubt: len(p.warnings) > 0}
		around := ""
		if spread != nil {
			rate.Low, rate.High = spread.IOPS.Mean.Lower, spread.IOPS.Mean.Upper
			if l := spread.MeanSeconds.Mean; l.Lower != nil && l.Upper != nil {
				late.Low, late.High = new(unit.In(seconds(*l.Lower))), new(unit.In(seconds(*l.Upper)))
			}
			around = fmt.Sprintf(", %s repeats", units.Count(spread.Repeats))
		}
		rate.Note = fmt.Sprintf("%s, depth %d: %s IOPS%s%s", run, p.depth, units.IOPS(p.iops), around, noteOf(p.warnings))
		late.Note = fmt.Sprintf("%s, depth %d: mean %s%s%s", run, p.depth, units.Latency(p.mean), around, noteOf(p.warnings))
		iops, warnings = append(iops, rate), append(warnings, p.warnings...)
		if p.mean > 0 {
			mean = append(mean, late)
		}
	}
	return iops, mean, warnings
}

// spread returns the spread of the repeats of a point; nil when there is none, or when the repeats belong to
// several series.
func (p depthPoint) spread(r record.RunReport) *record.Spread {
	if r.Analysis == nil || len(slices.Compact(slices.Clone(p.series))) != 1 {
		return nil
	}
	for _, s := range r.Analysis.Spreads {
		if s.Load+" "+string(s.Direction) == p.series[0] {
			return &s
		}
	}
	return nil
}
