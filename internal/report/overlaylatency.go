package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// latencyExtent is the range of the latencies in a drawing.
type latencyExtent struct{ low, high time.Duration }

func (e *latencyExtent) add(d time.Duration) {
	if d <= 0 {
		return
	}
	if e.low == 0 || d < e.low {
		e.low = d
	}
	e.high = max(e.high, d)
}

func (e latencyExtent) axis() (units.LatencyUnit, plot.Axis) {
	unit := units.LatencyUnitFor(e.low)
	return unit, latencyAxis(e.low, e.high, unit)
}

// namedPercentiles returns the percentiles that are marked in a drawing of several runs.
func namedPercentiles() []float64 { return []float64{0.5, 0.9, 0.95, 0.99, 0.999, 0.9999} }

// overlaidLatency is one load of one run: all its repeats together, and each of them.
type overlaidLatency struct {
	run      int
	together distribution
	repeats  []record.Result
}

// overlaidLatencies draws each load in one drawing, with a curve for each run that measured it.
func overlaidLatencies(runs []record.RunReport) []document.Section {
	names := make([][]string, len(runs))
	loads := map[string][]overlaidLatency{}
	for i, r := range runs {
		if len(offsetLines(r)) > 0 {
			continue // a curve for each place would show nothing of interest
		}
		for _, s := range measured(r.Steps) {
			for _, p := range parts(s) {
				if len(p.result.Latency)+len(p.result.Percentiles) == 0 {
					continue
				}
				name := latencyName(s, p)
				all := loads[name]
				if len(all) == 0 || all[len(all)-1].run != i {
					names[i] = append(names[i], name)
					all = append(all, overlaidLatency{run: i, together: distribution{name: Letter(i)}})
				}
				last := &all[len(all)-1]
				last.repeats = append(last.repeats, p.result)
				last.together.latency = append(last.together.latency, p.result.Latency...)
				last.together.warnings = append(last.together.warnings, s.Warnings...)
				loads[name] = all
			}
		}
	}
	var sections []document.Section
	for _, name := range inSeveral(names) {
		sections = append(sections, latencyOverlay(name, loads[name]))
	}
	return limited(sections)
}

// latencyName returns the name of a load in a drawing. It is the plan, because other runs may use
// other names.
func latencyName(s record.Step, p part) string {
	name := s.Plan
	if s.Workload == nil || name == "" {
		name = cmp.Or(s.Series, s.Name)
	}
	if s.Workload != nil && string(s.Workload.Direction) == p.direction {
		return name
	}
	return name + ", " + p.direction
}

func latencyOverlay(name string, all []overlaidLatency) document.Section {
	extent := latencyExtent{}
	for i := range all {
		all[i].together.latency = record.Merge(all[i].together.latency)
		for _, q := range append(namedPercentiles(), 0, 1) {
			for _, r := range all[i].repeats {
				extent.add(r.Quantile(q))
			}
		}
	}
	unit, axis := extent.axis()
	diagram := plot.Plot{Title: "Latency by percentile, " + name, X: plot.Axis{Label: "percentile, %", Scale: plot.Nines}, Y: axis}
	var warnings []record.Warning
	for _, one := range all {
		warnings = append(warnings, one.together.warnings...)
		colour := one.run + 1
		points := one.points(unit)
		if len(one.together.latency) > 0 {
			known, hint := curve(one.together.latency, unit)
			diagram.Series = append(diagram.Series, plot.Series{Points: known, Shape: plot.Line, Colour: colour},
				plot.Series{Points: hint, Shape: plot.Line, Colour: colour, Dashed: true})
		} else { // nothing is known between the points
			diagram.Series = append(diagram.Series, plot.Series{Points: points, Shape: plot.Line, Colour: colour, Dashed: true})
		}
		diagram.Series = append(diagram.Series, plot.Series{Name: one.label(), Points: points, Shape: plot.Points, Colour: colour})
	}
	caption := fmt.Sprintf("Bars go from the lowest to the highest repeat. Dashed and hollow where fewer than %d I/Os lie above, or where only the marked percentiles are known.",
		record.MinimumAbove)
	if len(warnings) > 0 {
		caption += " Other hollow points have warnings."
	}
	return document.Section{Title: "Latency: " + name, Blocks: []document.Block{document.Plot{Drawing: diagram, Caption: caption, Warnings: ofAKind(warnings)}}}
}

func (o overlaidLatency) label() string {
	var ios int64
	for _, r := range o.repeats {
		ios += r.Samples()
	}
	text := fmt.Sprintf("%s: %s I/Os", Letter(o.run), units.Count(ios))
	if n := len(o.repeats); n > 1 {
		text += fmt.Sprintf(" in %d repeats", n)
	}
	return text
}

// points returns the commonly used percentiles, each with the range of its repeats.
func (o overlaidLatency) points(unit units.LatencyUnit) []plot.Point {
	together := record.Result{Latency: o.together.latency}
	if len(o.repeats) == 1 {
		together = o.repeats[0]
	}
	ranks := namedPercentiles()
	if len(together.Latency) == 0 {
		ranks = nil
		for _, p := range together.Percentiles {
			ranks = append(ranks, p.Rank)
		}
	}
	var all []plot.Point
	for _, q := range ranks {
		v := together.Quantile(q)
		if v <= 0 || q >= 1 || float64(together.Samples())*(1-q) < 1 {
			continue
		}
		p := plot.Point{
			X: q, Y: unit.In(v), Doubt: !record.Supported(q, together.Samples()) || len(o.together.warnings) > 0,
			Note: fmt.Sprintf("%s: p%s %s%s", Letter(o.run), plot.Tick(100*q), units.Latency(v), noteOf(o.together.warnings)),
		}
		if len(o.repeats) > 1 {
			var each []float64
			for _, r := range o.repeats {
				each = append(each, unit.In(r.Quantile(q)))
			}
			p.Low, p.High = new(slices.Min(each)), new(slices.Max(each))
		}
		all = append(all, p)
	}
	return all
}
