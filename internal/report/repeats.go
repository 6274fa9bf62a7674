package report

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// leastSpan is the least that an axis of deviations shows to both sides, in percent:
// noise of a tenth must not look like chaos.
const leastSpan = 5.0

// repeatSection shows how far the repeats of each load lie apart.
func repeatSection(r record.RunReport) []section {
	if r.Analysis == nil || len(r.Analysis.Spreads) == 0 {
		return nil
	}
	t := &sheet{
		header: [2][]string{
			{"load", "", "repeats", "IOPS", "95 % interval", "min", "max", "MB/s", "mean latency", "min", "max"},
			{"", "", "", "mean", "IOPS", "IOPS", "IOPS", "mean", "µs", "µs", "µs"},
		},
		align: "llrrrrrrrrr",
	}
	drawn := plot.Strips{
		Title: "Repeats of each load around their mean",
		X:     deviationAxis("IOPS, deviation from the mean of the repeats, %"),
		Mark:  &plot.Mark{X: new(0.0), Label: "mean"},
		Room:  &plot.Room{From: -leastSpan, To: leastSpan},
	}
	var warnings []record.Warning
	worst, widest := -1, 0.0
	for i, s := range r.Analysis.Spreads {
		row, own := spreadRow(r, s)
		drawn.Rows = append(drawn.Rows, row)
		warnings = append(warnings, own...)
		us := func(seconds float64) string { return units.Number(seconds * 1e6) }
		t.add(s.Load, string(s.Direction), units.Count(s.Repeats),
			units.IOPS(s.IOPS.Mean.Value), intervalText(s.IOPS.Mean, IOPS), units.IOPS(s.IOPS.Min), units.IOPS(s.IOPS.Max),
			units.Number(s.BytesPerSecond.Mean.Value/1e6), us(s.MeanSeconds.Mean.Value), us(s.MeanSeconds.Min), us(s.MeanSeconds.Max))
		if mean := s.IOPS.Mean.Value; mean > 0 {
			if width := (s.IOPS.Max - s.IOPS.Min) / mean; worst < 0 || width > widest {
				worst, widest = i, width
			}
		}
	}
	s := section{
		id: "repeats", title: "Repeats and their spread", table: t, minor: true,
		plots: []picture{pictured(drawn.SVG(),
			"A point is one repeat, the bar the 95 % interval of their mean."+leftOut(drawn.LeftOut()), warnings)},
	}
	if worst >= 0 {
		w := r.Analysis.Spreads[worst]
		s.lead = fmt.Sprintf("The repeats of %s %s lie furthest apart: from %s to %s IOPS, %s of their mean.",
			w.Load, w.Direction, units.IOPS(w.IOPS.Min), units.IOPS(w.IOPS.Max), units.Percent(widest))
	}
	return []section{s}
}

// spreadRow is a load with its repeats, in percent around their mean.
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

// effectSection shows what changed settings did.
func effectSection(r record.RunReport) []section {
	if r.Analysis == nil || len(r.Analysis.Effects) == 0 {
		return nil
	}
	t := &sheet{
		header: [2][]string{
			{"load", "", "setting", "from", "to", "IOPS", "95 % interval", "mean latency", "95 % interval", ""},
			{"", "", "", "", "", "times", "times", "times", "times", ""},
		},
		align: "lllllrrrrl",
	}
	drawn := plot.Strips{
		Title: "IOPS under a changed setting",
		X:     deviationAxis("change of IOPS, %"),
		Mark:  &plot.Mark{X: new(0.0), Label: "no change"},
		Room:  &plot.Room{From: -leastSpan, To: leastSpan},
	}
	certain := 0
	for _, e := range r.Analysis.Effects {
		var verdict string
		switch {
		case e.IOPS.Lower == nil:
			verdict = "one run each"
		case !e.Certain:
			verdict = "~"
		default:
			certain++
			verdict = changeWord(e.IOPS.Value > 1)
		}
		t.add(e.Load, string(e.Direction), e.Setting, e.From, e.To, units.Ratio(e.IOPS.Value), intervalText(e.IOPS, Ratio),
			units.Ratio(e.Latency.Value), intervalText(e.Latency, Ratio), verdict)
		drawn.Rows = append(drawn.Rows, changeRow(fmt.Sprintf("%s, %s: %s %s → %s", e.Load, e.Direction, e.Setting, e.From, e.To), e.IOPS, e.Certain))
	}
	return []section{{
		id: "effects", title: "What the settings do", table: t,
		lead: effectLead(certain, len(r.Analysis.Effects)),
		plots: []picture{{
			svg:     drawn.SVG(),
			caption: "A line is the change, the bar its 95 % interval; a bar over the zero line (~) is within the spread of the repeats." + leftOut(drawn.LeftOut()),
		}},
	}}
}

// changeRow draws a ratio and its interval as a change in percent.
func changeRow(label string, i record.Interval, certain bool) plot.Row {
	row := plot.Row{Label: label, Colour: 6, Mean: new(100 * (i.Value - 1))}
	if certain {
		row.Colour = 3
		if i.Value < 1 {
			row.Colour = 2
		}
	}
	if i.Lower != nil && i.Upper != nil {
		row.Low, row.High = new(100*(*i.Lower-1)), new(100*(*i.Upper-1))
	} else {
		row.Values = []plot.Point{{X: *row.Mean, Doubt: true, Note: "one run each: no interval"}}
	}
	return row
}

func changeWord(faster bool) string {
	if faster {
		return string(Faster)
	}
	return string(Slower)
}

func deviationAxis(label string) plot.Axis {
	return plot.Axis{Label: label, Format: func(v float64) string {
		if v > 0 {
			return "+" + tick(v)
		}
		return tick(v)
	}}
}

func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s are in the table alone.", units.Plural(n, "row"))
}

func effectLead(certain, all int) string {
	switch certain {
	case 0:
		return fmt.Sprintf("The setting changes IOPS nowhere beyond the spread, in %s.", units.Plural(all, "comparison"))
	case all:
		return fmt.Sprintf("The setting changes IOPS beyond the spread in every comparison (%d).", all)
	default:
		return fmt.Sprintf("The setting changes IOPS beyond the spread in %d of %s.", certain, units.Plural(all, "comparison"))
	}
}
