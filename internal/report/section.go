package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// drawn is a plot whose points with warnings are hollow.
func drawn(d document.Drawing, caption string, warnings []record.Warning, small *plot.Small) document.Plot {
	if len(warnings) > 0 {
		caption = strings.TrimSpace(caption + " Hollow points have warnings.")
	}
	return document.Plot{Drawing: d, Caption: caption, Warnings: ofAKind(warnings), Small: small}
}

// sections are all that the run has something to say about, the weightiest first.
func sections(r record.RunReport) []document.Section {
	var all []document.Section
	for _, build := range []func(record.RunReport) []document.Section{
		modelSection, steadySection, syncSection, scalingSections, cpuSections, depthSections, spanSection, spareSection, offsetSection, effectSection,
		sheetSection, repeatSection, boundSection, interruptSection, targetSection,
	} {
		all = append(all, build(r)...)
	}
	return all
}

// warned are the codes of warnings in one cell.
func warned(warnings []record.Warning) string {
	var codes []string
	for _, w := range warnings {
		if !slices.Contains(codes, w.Code) {
			codes = append(codes, w.Code)
		}
	}
	return strings.Join(codes, ", ")
}

// measured are the steps that have a result.
func measured(steps []record.Step) []record.Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s record.Step) bool { return !s.Measured() })
}

// once leaves out warnings that were there before.
func once(warnings []record.Warning) []record.Warning {
	var all []record.Warning
	seen := map[record.Warning]bool{}
	for _, w := range warnings {
		if !seen[w] {
			seen[w] = true
			all = append(all, w)
		}
	}
	return all
}

// ofAKind leaves one warning of each kind, which says how many there are: below a plot
// of thirty steps, thirty that differ in a figure hide the plot. All stand with the steps.
func ofAKind(warnings []record.Warning) []record.Warning {
	var all []record.Warning
	more := map[string]int{}
	for _, w := range once(warnings) {
		if slices.ContainsFunc(all, func(earlier record.Warning) bool { return earlier.Code == w.Code }) {
			more[w.Code]++
			continue
		}
		all = append(all, w)
	}
	for i, w := range all {
		if n := more[w.Code]; n > 0 {
			all[i].Text += fmt.Sprintf(" And %d more of this kind, listed with the steps.", n)
		}
	}
	return all
}

// rateIn writes a rate in the unit of an analysis, "IOPS" or "B/s".
func rateIn(unit string, v float64) string {
	if unit == "B/s" {
		return units.Bandwidth(v)
	}
	return units.IOPS(v) + " IOPS"
}

// rateColumn is the unit in which a column or an axis shows rates, and what divides
// them.
func rateColumn(unit string) (name string, by float64) {
	if unit == "B/s" {
		return "MB/s", 1e6
	}
	return "IOPS", 1
}

// boundsApart is how many times the lower bound of an interval the upper one may be for both to be worth a look.
const boundsApart = 100

// intervalText writes the bounds of an interval: "12 100 to 12 900"; "-" when there
// is none, and words when two repeats differ so much that it says nothing.
func intervalText(i record.Interval, write func(float64) string) string {
	switch {
	case i.Lower == nil || i.Upper == nil:
		return none
	case *i.Upper > boundsApart**i.Lower:
		return "repeats differ too much"
	}
	return write(*i.Lower) + " to " + write(*i.Upper)
}
