package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// mostCurves is the largest number of distributions that a plot can show in different
	// colours.
	mostCurves = plot.Colours
	// classesPerDecade makes a latency class about a tenth of its value wide, which is
	// wider than the classes of any generator.
	classesPerDecade = 24
	// mostClasses is the largest number of classes of a histogram; a wider range gets
	// wider classes.
	mostClasses = 120
	// bodyShare is the share of the I/Os that a histogram shows. The tail beyond is left
	// to the percentile curve; here it would only compress the body.
	bodyShare = 0.999
	// curveStep is the distance between points of a percentile curve, in nines.
	curveStep = 0.04
)

// distribution holds the latencies of one load, repeats taken together.
type distribution struct {
	name     string
	latency  record.Histogram
	warnings []record.Warning
}

// distributions returns the distributions of all loads in their order.
func distributions(r record.RunReport) []distribution {
	var all []distribution
	for _, s := range measured(r.Steps) {
		for _, p := range parts(s) {
			if len(p.result.Latency) == 0 {
				continue
			}
			name := cmp.Or(s.Series, s.Name) + " " + p.direction
			i := slices.IndexFunc(all, func(d distribution) bool { return d.name == name })
			if i < 0 {
				all = append(all, distribution{name: name})
				i = len(all) - 1
			}
			all[i].latency = append(all[i].latency, p.result.Latency...)
			all[i].warnings = append(all[i].warnings, s.Warnings...)
		}
	}
	for i := range all {
		all[i].latency = record.Merge(all[i].latency)
	}
	// A report file may contain invalid counts.
	return slices.DeleteFunc(all, func(d distribution) bool { return d.latency.Count() <= 0 || d.latency[0].Latency < 0 })
}

// latencySection shows the distributions. Of many loads it shows some, including the
// first and the last.
func latencySection(r record.RunReport) []document.Section {
	all := distributions(r)
	if len(all) == 0 {
		return nil
	}
	shown := all
	if len(all) > mostCurves {
		shown = nil
		for i := range mostCurves {
			shown = append(shown, all[i*(len(all)-1)/(mostCurves-1)])
		}
	}
	var warnings []record.Warning
	for _, d := range shown {
		warnings = append(warnings, d.warnings...)
	}
	s := document.Section{ID: "latency", Title: "Latency", Blocks: []document.Block{
		document.Plot{Drawing: percentiles(shown), Warnings: ofAKind(warnings), Caption: fmt.Sprintf(
			"A percentile curve: how long the slowest I/Os take. Dashed and hollow where fewer than %d I/Os lie above: a hint only.", record.MinimumAbove)},
		document.Plot{Drawing: histogram(shown), Caption: fmt.Sprintf(
			"A histogram of the I/Os by latency. Each class is about a tenth of its latency wide; the curve above shows the slowest %s.", units.Percent(1-bodyShare))},
	}}
	if len(shown) < len(all) {
		s.Blocks = append([]document.Block{
			document.Sentence(fmt.Sprintf("Shown are %d of %d loads; the table of results has all of them.", len(shown), len(all))),
		}, s.Blocks...)
	}
	return []document.Section{s}
}

// bounds returns the lowest latency of all distributions, and the highest of their
// quantiles q.
func bounds(all []distribution, q float64) (low, high time.Duration) {
	low = math.MaxInt64
	for _, d := range all {
		low, high = min(low, d.latency.Quantile(0)), max(high, d.latency.Quantile(q))
	}
	return low, high
}

func latencyAxis(low, high time.Duration, unit units.LatencyUnit) plot.Axis {
	a := plot.Axis{Label: "latency, " + unit.Name, Zero: true}
	if low > 0 && high > 10*low {
		a.Scale, a.Zero = plot.Log10, false
	}
	return a
}

func percentiles(all []distribution) plot.Plot {
	low, high := bounds(all, 1)
	unit := units.LatencyUnitFor(low)
	diagram := plot.Plot{
		Title: "Latency by percentile",
		X:     plot.Axis{Label: "percentile, %", Scale: plot.Nines},
		Y:     latencyAxis(low, high, unit),
	}
	for i, d := range all {
		n := d.latency.Count()
		known, hint := curve(d.latency, unit)
		diagram.Series = append(diagram.Series,
			plot.Series{Points: known, Shape: plot.Line, Colour: i + 1},
			plot.Series{Points: hint, Shape: plot.Line, Colour: i + 1, Dashed: true},
			plot.Series{Name: fmt.Sprintf("%s, %s I/Os", d.name, units.Count(n)), Points: marked(d, unit), Shape: plot.Points, Colour: i + 1})
	}
	return diagram
}

// curve returns the latencies at evenly spaced nines. known ends with the last quantile
// that enough I/Os lie above; hint continues from there.
func curve(h record.Histogram, unit units.LatencyUnit) (known, hint []plot.Point) {
	n := h.Count()
	bin, seen := 0, h[0].Count
	last := math.Log10(float64(n))
	for i := 0; ; i++ {
		nines := float64(i) * curveStep
		q := 1 - math.Pow(10, -nines)
		if nines > last || q >= 1 {
			return known, hint
		}
		for rank := q * float64(n); float64(seen) < rank && bin < len(h)-1; {
			bin++
			seen += h[bin].Count
		}
		p := plot.Point{X: q, Y: unit.In(h[bin].Latency)}
		if record.Supported(q, n) {
			known = append(known, p)
			continue
		}
		if len(hint) == 0 && len(known) > 0 {
			hint = append(hint, known[len(known)-1])
		}
		hint = append(hint, p)
	}
}

// marked returns the commonly used percentiles; those that are only a hint are hollow.
func marked(d distribution, unit units.LatencyUnit) []plot.Point {
	n := d.latency.Count()
	var all []plot.Point
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999} {
		if float64(n)*(1-q) < 1 {
			break
		}
		v := d.latency.Quantile(q)
		all = append(all, plot.Point{
			X: q, Y: unit.In(v), Doubt: !record.Supported(q, n), Note: fmt.Sprintf("%s: p%s %s", d.name, plot.Tick(100*q), units.Latency(v)),
		})
	}
	return all
}

func histogram(all []distribution) plot.Plot {
	low, high := bounds(all, bodyShare)
	low, high = max(low, 1), max(high, 1)
	unit := units.LatencyUnitFor(low)
	per := float64(classesPerDecade)
	if decades := math.Log10(float64(high) / float64(low)); decades*per > mostClasses {
		per = mostClasses / decades
	}
	first, last := class(low, per), class(high, per)
	diagram := plot.Plot{
		Title: "Histogram of latencies",
		X:     plot.Axis{Label: "latency, " + unit.Name, Scale: plot.Log10},
		Y:     plot.Axis{Label: "share of the I/Os in each class, %", Zero: true},
	}
	for i, d := range all {
		shares := make([]float64, last-first+2)
		n := float64(d.latency.Count())
		for _, b := range d.latency {
			if c := class(max(b.Latency, 1), per); c <= last {
				shares[c-first] += 100 * float64(b.Count) / n
			}
		}
		begin, end := 0, len(shares)
		for begin < end-1 && shares[begin] == 0 {
			begin++
		}
		for end > begin+1 && shares[end-2] == 0 { // the last share ends the outline
			end--
		}
		var points []plot.Point
		for c := begin; c < end; c++ {
			points = append(points, plot.Point{X: math.Pow(10, float64(first+c)/per) / float64(unit.Size), Y: shares[c]})
		}
		diagram.Series = append(diagram.Series, plot.Series{Name: d.name, Points: points, Shape: plot.Steps, Colour: i + 1})
	}
	return diagram
}

// class returns the number of the latency class that contains d.
func class(d time.Duration, perDecade float64) int {
	return int(math.Floor(math.Log10(float64(d))*perDecade + 1e-9))
}
