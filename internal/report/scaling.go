package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// scalingSections shows for each load what every added device contributed.
func scalingSections(r record.RunReport) []document.Section {
	var all []document.Section
	for i, s := range r.Analysis.Scalings {
		if len(s.Points) == 0 {
			continue
		}
		name, by := rateColumn(s.Unit)
		t := document.Table{
			Names: []string{"devices", "added", "group", "total", "of ideal", "slowest", "fastest", "warnings"},
			Units: []string{"", "", "", name, "", name, name, ""},
			Align: "rllrrrrl", Long: true,
		}
		warnings := scalingWarnings(r, s)
		var shown []record.Warning
		small := plot.Small{Caption: "total " + name + " over the number of devices"}
		for _, p := range s.Points {
			row := t.Add(units.Count(p.Devices), p.Added, p.Group, units.Number(p.Total/by), units.Percent(p.Linearity), units.Number(p.Slowest/by), units.Number(p.Fastest/by),
				warned(warnings[p.Devices]))
			shown = append(shown, warnings[p.Devices]...)
			switch {
			case p.Devices == s.BreaksAt:
				row.Notes = []document.Block{document.Sentence(breakSentence(s))}
			case p.Unclear(s.Limit):
				row.Notes = []document.Block{document.Sentence(unclearSentence(p))}
			}
			small.Add(p.Total/by, strconv.Itoa(p.Devices))
		}
		hollow := fmt.Sprintf("Hollow points are below %s of it.", units.Percent(s.Limit))
		if len(shown) > 0 {
			hollow = fmt.Sprintf("Hollow points are below %s of it, or have warnings.", units.Percent(s.Limit))
		}
		all = append(all, document.Section{
			ID: fmt.Sprintf("scaling-%d", i+1), Title: "Several devices at once: " + s.Load, Lead: scalingSentence(s),
			Blocks: []document.Block{document.Gap{}, document.Plot{
				Drawing: scalingPlot(s, warnings), Caption: "Ideal is what the devices reach alone, added up; one that was not measured alone counts as the first. " + hollow,
				Warnings: ofAKind(shown), Small: &small,
			}, document.Gap{}, t},
		})
	}
	return all
}

// scalingWarnings returns the warnings of the steps of a load, by the number of devices.
func scalingWarnings(r record.RunReport, s record.Scaling) map[int][]record.Warning {
	all := map[int][]record.Warning{}
	for _, step := range r.Steps {
		other := len(step.Parts) == 1 && step.Parts[0].Target != s.Points[0].Added // another device alone
		if step.Workload != nil && analysis.LoadName(*step.Workload) == s.Load && !other {
			all[len(step.Parts)] = append(all[len(step.Parts)], step.Warnings...)
		}
	}
	return all
}

func scalingSentence(s record.Scaling) string {
	last := s.Points[len(s.Points)-1]
	text := fmt.Sprintf("%s: %s reach %s together, %s of the ideal", s.Load, units.Plural(last.Devices, "device"), rateIn(s.Unit, last.Total), units.Percent(last.Linearity))
	unknown := slices.IndexFunc(s.Points, func(p record.ScalePoint) bool { return p.Devices > 1 && len(p.Codes) > 0 })
	unclear := slices.IndexFunc(s.Points, func(p record.ScalePoint) bool { return p.Unclear(s.Limit) })
	switch {
	case s.BreaksAt > 0:
		return text + "; " + breakSentence(s)
	case unclear >= 0:
		return text + "; " + unclearSentence(s.Points[unclear])
	case unknown >= 0:
		p := s.Points[unknown]
		return text + fmt.Sprintf("; whether %d devices slow each other down is not known: steps did not measure the drives alone (%s).", p.Devices, strings.Join(p.Codes, ", "))
	}
	return text + ": they do not slow each other down."
}

func unclearSentence(p record.ScalePoint) string {
	return fmt.Sprintf("whether %d devices slow each other down is not known: they reach between %s and %s of the ideal; want more --repeats.",
		p.Devices, units.Percent(*p.Lower), units.Percent(*p.Upper))
}

func breakSentence(s record.Scaling) string {
	text := fmt.Sprintf("below %s from %s on", units.Percent(s.Limit), units.Plural(s.BreaksAt, "device"))
	if s.Group != "" {
		text += fmt.Sprintf(", where those of %s fall to %s of what they reach alone", s.Group, units.Percent(s.GroupRatio))
	}
	return text + "."
}

func scalingPlot(s record.Scaling, warnings map[int][]record.Warning) plot.Plot {
	name, by := rateColumn(s.Unit)
	var total, ideal []plot.Point
	for _, p := range s.Points {
		x := float64(p.Devices)
		total = append(total, plot.Point{
			X: x, Y: p.Total / by, Doubt: p.Linearity < s.Limit || len(warnings[p.Devices]) > 0,
			Note: fmt.Sprintf("%s, added %s %s: %s, %s of the ideal", units.Plural(p.Devices, "device"), p.Added, p.Group, rateIn(s.Unit, p.Total), units.Percent(p.Linearity)),
		})
		ideal = append(ideal, plot.Point{X: x, Y: cmp.Or(p.Ideal, x*s.Alone) / by})
	}
	diagram := plot.Plot{
		Title: "Total over the number of devices, " + s.Load,
		X:     plot.Axis{Label: "devices at once", Whole: true},
		Y:     plot.Axis{Label: "total, " + name, Zero: true},
		Series: []plot.Series{
			{Name: "measured", Points: total, Colour: 1},
			{Name: "ideal", Points: ideal, Shape: plot.Line, Colour: 6, Dashed: true},
		},
	}
	if s.BreaksAt > 0 {
		diagram.Marks = []plot.Mark{{X: new(float64(s.BreaksAt)), Label: fmt.Sprintf("below %s from %d on", units.Percent(s.Limit), s.BreaksAt)}}
	}
	return diagram
}
