package report

import (
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// drawn returns a plot whose caption says that points with warnings are hollow.
func drawn(d document.Drawing, caption string, warnings []record.Warning, small *plot.Small) document.Plot {
	if len(warnings) > 0 {
		caption = strings.TrimSpace(caption + " Hollow points have warnings.")
	}
	return document.Plot{Drawing: d, Caption: caption, Warnings: ofAKind(warnings), Small: small}
}

// sections returns all sections that the run has data for, the most important first.
func sections(r record.RunReport) []document.Section {
	if r.Analysis == nil {
		r.Analysis = &record.Analysis{}
	}
	var all []document.Section
	for _, build := range []func(record.RunReport) []document.Section{
		modelSection, steadySection, syncSection, scalingSections, cpuSections, depthSections, spanSection, spareSection, offsetSection, effectSection,
		sheetSection, repeatSection, boundSection, interruptSection, targetSection,
	} {
		all = append(all, build(r)...)
	}
	return all
}

// codesOf returns the codes of warnings, without repetitions.
func codesOf(warnings []record.Warning) (codes []string) {
	for _, w := range warnings {
		if !slices.Contains(codes, w.Code) {
			codes = append(codes, w.Code)
		}
	}
	return codes
}

// warned returns the codes of warnings for one cell.
func warned(warnings []record.Warning) string { return strings.Join(codesOf(warnings), ", ") }

// measured returns the steps that have a result.
func measured(steps []record.Step) []record.Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s record.Step) bool { return !s.Measured() })
}

// once removes duplicate warnings.
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

// ofAKind keeps one warning of each kind, and says when there are more. Below a plot of thirty steps, thirty warnings
// that differ in a figure would bury the plot. All of them are listed with the steps. It gives no number: steps with the
// same figure share a warning.
func ofAKind(warnings []record.Warning) []record.Warning {
	var all []record.Warning
	more := map[string]bool{}
	for _, w := range once(warnings) {
		if slices.ContainsFunc(all, func(earlier record.Warning) bool { return earlier.Code == w.Code }) {
			more[w.Code] = true
			continue
		}
		all = append(all, w)
	}
	for i, w := range all {
		if more[w.Code] {
			all[i].Text += " More of this kind are listed with the steps."
		}
	}
	return all
}

// rateIn formats a rate in the unit of an analysis, "IOPS" or "B/s".
func rateIn(unit string, v float64) string {
	if unit == "B/s" {
		return units.Bandwidth(v)
	}
	return units.IOPS(v) + " IOPS"
}

// rateColumn returns the unit in which a column or an axis shows rates, and the divisor for it.
func rateColumn(unit string) (name string, by float64) {
	if unit == "B/s" {
		return "MB/s", 1e6
	}
	return "IOPS", 1
}

// boundsApart is the largest ratio of the bounds of an interval for which both are worth showing.
const boundsApart = 100

// intervalText formats the bounds of an interval: "12 100 to 12 900"; "-" when there is none. When two repeats
// differ so much that the bounds say nothing, it says so in words.
func intervalText(i record.Interval, write func(float64) string) string {
	switch {
	case i.Lower == nil || i.Upper == nil:
		return none
	case *i.Upper > boundsApart**i.Lower:
		return "repeats differ too much"
	}
	return write(*i.Lower) + " to " + write(*i.Upper)
}
