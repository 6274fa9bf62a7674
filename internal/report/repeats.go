package report

import (
	"fmt"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// leastSpan is the smallest range that an axis of deviations shows on either side, in
// percent. Noise of a tenth of a percent must not look like chaos.
const leastSpan = 5.0

// repeatSection shows how far the repeats of each load lie apart.
func repeatSection(r record.RunReport) []document.Section {
	if len(r.Analysis.Spreads) == 0 {
		return nil
	}
	t := document.Table{
		Names: []string{"load", "", "repeats", "IOPS", "95 % interval", "min", "max", "MB/s", "mean latency", "min", "max", "warnings"},
		Units: []string{"", "", "", "mean", "IOPS", "IOPS", "IOPS", "mean", "µs", "µs", "µs", ""},
		Align: "llrrrrrrrrrl", Long: true,
	}
	strips := plot.Strips{
		Title: "Repeats of each load around their mean",
		X:     deviationAxis("IOPS, deviation from the mean of the repeats, %"),
		Mark:  &plot.Mark{X: new(0.0), Label: "mean"},
	}
	var warnings []record.Warning
	worst, widest := -1, 0.0
	for i, s := range r.Analysis.Spreads {
		row, own := spreadRow(r, s)
		strips.Rows = append(strips.Rows, row)
		warnings = append(warnings, own...)
		us := func(seconds float64) string { return units.Number(seconds * 1e6) }
		t.Add(s.Load, string(s.Direction), units.Count(s.Repeats),
			units.IOPS(s.IOPS.Mean.Value), intervalText(s.IOPS.Mean, units.IOPS), units.IOPS(s.IOPS.Min), units.IOPS(s.IOPS.Max),
			units.Number(s.BytesPerSecond.Mean.Value/1e6), us(s.MeanSeconds.Mean.Value), us(s.MeanSeconds.Min), us(s.MeanSeconds.Max), warned(own))
		if mean := s.IOPS.Mean.Value; mean > 0 {
			if width := (s.IOPS.Max - s.IOPS.Min) / mean; worst < 0 || width > widest {
				worst, widest = i, width
			}
		}
	}
	s := document.Section{
		ID: "repeats", Title: "Repeats and their spread", Minor: true,
		Blocks: []document.Block{
			drawn(strips, "A point is one repeat, the bar the 95 % interval of their mean."+leftOut(strips.LeftOut()), warnings, nil),
			document.Gap{}, t,
		},
	}
	if worst >= 0 {
		w := r.Analysis.Spreads[worst]
		s.Lead = fmt.Sprintf("The repeats of %s %s lie furthest apart: from %s to %s IOPS, %s of their mean.",
			w.Load, w.Direction, units.IOPS(w.IOPS.Min), units.IOPS(w.IOPS.Max), units.Percent(widest))
	}
	return []document.Section{s}
}

// spreadRow returns a load with its repeats, in percent around their mean.
func spreadRow(r record.RunReport, s record.Spread) (plot.Row, []record.Warning) {
	mean := s.IOPS.Mean.Value
	deviation := func(v float64) float64 { return 100 * (v/mean - 1) }
	row := plot.Row{
		Label: fmt.Sprintf("%s, %s: %s IOPS", s.Load, s.Direction, units.IOPS(mean)), Mean: new(0.0), Colour: 1,
	}
	if s.Direction == record.Write {
		row.Colour = 2
	}
	if s.IOPS.Mean.Lower != nil && s.IOPS.Mean.Upper != nil {
		row.Low, row.High = new(deviation(*s.IOPS.Mean.Lower)), new(deviation(*s.IOPS.Mean.Upper))
	}
	var warnings []record.Warning
	for _, step := range measured(r.Steps) {
		if step.Series != s.Load {
			continue
		}
		for _, p := range parts(step) {
			if p.direction != string(s.Direction) {
				continue
			}
			row.Values = append(row.Values, plot.Point{
				X: deviation(p.result.IOPS), Doubt: len(step.Warnings) > 0,
				Note: fmt.Sprintf("%s: %s IOPS%s", step.Name, units.IOPS(p.result.IOPS), noteOf(step.Warnings)),
			})
			warnings = append(warnings, step.Warnings...)
		}
	}
	return row, warnings
}

// effectSection shows the effects of changed settings.
func effectSection(r record.RunReport) []document.Section {
	if len(r.Analysis.Effects) == 0 {
		return nil
	}
	t := document.Table{
		Names: []string{"load", "", "setting", "from", "to", "IOPS", "95 % interval", "mean latency", "95 % interval", "verdict"},
		Units: []string{"", "", "", "", "", "times", "times", "times", "times", ""},
		Align: "lllllrrrrl", Long: true,
	}
	strips := plot.Strips{
		Title: "IOPS under a changed setting",
		X:     deviationAxis("change of IOPS, %"),
		Mark:  &plot.Mark{X: new(0.0), Label: "no change"},
	}
	certain, unknown := 0, 0
	for _, e := range r.Analysis.Effects {
		verdict := string(e.Verdict)
		switch {
		case e.Verdict == record.Slower || e.Verdict == record.Faster:
			certain++
		case len(e.Codes) > 0:
			verdict += " (" + strings.Join(e.Codes, ", ") + ")"
			unknown++
		case e.IOPS.Lower == nil:
			verdict += " (one run each)"
		}
		t.Add(e.Load, string(e.Direction), e.Setting, e.From, e.To, units.Ratio(e.IOPS.Value), intervalText(e.IOPS, units.Ratio),
			units.Ratio(e.Latency.Value), intervalText(e.Latency, units.Ratio), verdict)
		strips.Rows = append(strips.Rows, changeRow(fmt.Sprintf("%s, %s: %s %s → %s", e.Load, e.Direction, e.Setting, e.From, e.To), e.IOPS, e.Verdict))
	}
	return []document.Section{{
		ID: "effects", Title: "What the settings do", Lead: effectLead(certain, len(r.Analysis.Effects), unknown),
		Blocks: []document.Block{
			drawn(strips, "A line is the change, the bar its 95 % interval; a bar over the zero line is within the spread of the repeats: inconclusive."+
				leftOut(strips.LeftOut()), nil, nil),
			document.Gap{}, t,
		},
	}}
}

// changeRow draws a ratio and its interval as a change in percent.
func changeRow(label string, i record.Interval, v record.Verdict) plot.Row {
	colours := map[record.Verdict]int{record.Slower: 2, record.Faster: 3, record.Inconclusive: 6}
	row := plot.Row{Label: label, Colour: colours[v], Mean: new(100 * (i.Value - 1))}
	if i.Lower != nil && i.Upper != nil {
		row.Low, row.High = new(100*(*i.Lower-1)), new(100*(*i.Upper-1))
	} else {
		row.Values = []plot.Point{{X: *row.Mean, Doubt: true, Note: "one run each: no interval"}}
	}
	return row
}

func deviationAxis(label string) plot.Axis {
	return plot.Axis{Label: label, Room: &plot.Room{From: -leastSpan, To: leastSpan}, Format: func(v float64) string {
		if v > 0 {
			return "+" + plot.Tick(v)
		}
		return plot.Tick(v)
	}}
}

func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s are only in the table.", units.Plural(n, "row"))
}

// effectLead counts the comparisons in which a setting certainly changes IOPS. unknown is how many do not decide.
func effectLead(certain, all, unknown int) string {
	var text string
	switch all -= unknown; {
	case all == 0:
		return "What the setting changes is not known, because steps did not measure the drive alone."
	case certain == 0:
		text = fmt.Sprintf("The setting changes IOPS beyond the spread in none of %s.", units.Plural(all, "comparison"))
	case certain == all:
		text = fmt.Sprintf("The setting changes IOPS beyond the spread in every comparison (%d).", all)
	default:
		text = fmt.Sprintf("The setting changes IOPS beyond the spread in %d of %s.", certain, units.Plural(all, "comparison"))
	}
	if unknown > 0 {
		text += fmt.Sprintf(" Left out: %s, where steps did not measure the drive alone.", units.Plural(unknown, "comparison"))
	}
	return text
}
