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

// spanSection shows how latency rises with the part of the target that is used.
func spanSection(r record.RunReport) []document.Section {
	if !slices.ContainsFunc(r.Analysis.Spans, func(s record.SpanSweep) bool { return len(s.Points) > 0 }) {
		return nil
	}
	sweeps := r.Analysis.Spans
	lowest := sweeps[0].Points[0].Mean
	for _, s := range sweeps {
		for _, p := range s.Points {
			lowest = min(lowest, p.Mean)
		}
	}
	unit := units.LatencyUnitFor(lowest)
	t := document.Table{
		Names: []string{"span", "", "IOPS", "mean", "p50", "p99", "mean, of the smallest", "95 % interval", "", "warnings"},
		Units: []string{"%", "", "", unit.Name, unit.Name, unit.Name, "times", "times", "", ""},
		Align: "rrrrrrrrll", Long: true,
	}
	diagram := plot.Plot{
		Title: "Mean latency over span",
		X:     plot.Axis{Label: "span, % of the target", Scale: plot.Log10},
		Y:     plot.Axis{Label: "mean latency, " + unit.Name, Scale: plot.Log10},
	}
	small := plot.Small{Caption: "mean latency in " + unit.Name + " of " + sweeps[0].Load + " over the span in %"}
	var shown []record.Warning
	for i, s := range sweeps {
		var points []plot.Point
		for k, p := range s.Points {
			warnings := spanWarnings(r, s, p)
			size := units.DriveSize(p.SpanBytes)
			mark := ""
			if p.SpanBytes == s.KneeBytes {
				mark = "knee"
			}
			row := t.Add(units.Count(p.Percent), size, units.IOPS(p.IOPS), cellOf(unit, p.Mean), cellOf(unit, p.P50), hintOf(p.P99Unsure, cellOf(unit, p.P99)),
				units.Ratio(p.Rise.Value), intervalText(p.Rise, units.Ratio), mark, warned(warnings))
			if k == 0 {
				row.Group = &document.Group{Name: s.Load}
			}
			points = append(points, plot.Point{
				X: float64(p.Percent), Y: unit.In(p.Mean), Doubt: len(warnings) > 0,
				Note: fmt.Sprintf("%s over %s (%d %%): mean %s, %s IOPS%s", s.Load, size, p.Percent, units.Latency(p.Mean), units.IOPS(p.IOPS), noteOf(warnings)),
			})
			if i == 0 {
				small.Add(unit.In(p.Mean), fmt.Sprintf("%d", p.Percent))
			}
			shown = append(shown, warnings...)
		}
		diagram.Series = append(diagram.Series, plot.Series{Name: s.Load, Points: points, Colour: 1 + i%6, Dashed: s.Direction == record.Write})
	}
	return []document.Section{{
		ID: "span", Title: "Latency over span", Lead: spanSentence(sweeps),
		Answer: []document.Block{document.Gap{}, t},
		Blocks: []document.Block{
			document.Gap{}, drawn(diagram, "At a fixed depth IOPS are the depth divided by the mean latency; both are in the table. A drive that holds a part "+
				"of its mapping table in fast memory is slower beyond that part; a cache of data makes small spans faster.", shown, &small),
		},
	}}
}

// spanWarnings returns the warnings of the steps behind a point.
func spanWarnings(r record.RunReport, s record.SpanSweep, p record.SpanPoint) []record.Warning {
	var all []record.Warning
	for _, step := range measured(r.Steps) {
		if step.Workload == nil || step.Workload.SpanBytes != p.SpanBytes || step.Workload.SparePercent != nil {
			continue
		}
		w := *step.Workload
		if w.SpanPercent = 0; w.String() == s.Load && (w.Direction == "" || w.Direction == s.Direction) {
			all = append(all, step.Warnings...)
		}
	}
	return all
}

// spanSentence describes the load that gets slower the most, and how many others do.
func spanSentence(sweeps []record.SpanSweep) string {
	of := map[record.SpanVerdict][]record.SpanSweep{}
	for _, s := range sweeps {
		of[s.Verdict] = append(of[s.Verdict], s)
	}
	knees, unsure := of[record.SpanKnee], of[record.SpanUnsure]
	rise := func(s record.SpanSweep) record.SpanPoint { return s.Points[len(s.Points)-1] }
	switch {
	case len(knees) > 0:
		worst := slices.MaxFunc(knees, func(a, b record.SpanSweep) int { return int(1e6 * (rise(a).Rise.Value - rise(b).Rise.Value)) })
		last := rise(worst)
		text := fmt.Sprintf("%s: the knee is %s; over %s an I/O takes %s as long on average as over %s",
			worst.Load, kneeText(worst), units.DriveSize(last.SpanBytes), units.Ratio(last.Rise.Value), units.DriveSize(worst.Points[0].SpanBytes))
		return text + spanOthers(len(knees)-1, len(of[record.SpanFlat]), len(unsure)) + "."
	case len(unsure) > 0:
		why := "repeats lie too far apart"
		switch last := rise(unsure[0]).Rise; {
		case len(unsure[0].Codes) > 0:
			why = "steps did not measure the drive alone (" + strings.Join(unsure[0].Codes, ", ") + ")"
		case last.Lower == nil:
			why = "there are too few repeats"
		case *last.Upper < unsure[0].Limit:
			why = "smaller spans are slower than the largest one"
		}
		text := fmt.Sprintf("Whether latency has a knee over span is not known for %d of %s: %s", len(unsure), units.Plural(len(sweeps), "load"), why)
		return text + spanOthers(0, len(of[record.SpanFlat]), 0) + "."
	default:
		worst := slices.MaxFunc(sweeps, func(a, b record.SpanSweep) int { return int(1e6 * (rise(a).Rise.Value - rise(b).Rise.Value)) })
		last := rise(worst)
		return fmt.Sprintf("Latency does not rise with span: over %s an I/O takes at most %s as long as over %s (%s, 95 %% interval %s).",
			units.DriveSize(last.SpanBytes), units.Ratio(last.Rise.Value), units.DriveSize(worst.Points[0].SpanBytes), worst.Load, intervalText(last.Rise, units.Ratio))
	}
}

// kneeText says where the knee is: at a span, or between two spans when the repeats do not
// decide about the spans between them.
func kneeText(s record.SpanSweep) string {
	knee := slices.IndexFunc(s.Points, func(p record.SpanPoint) bool { return p.SpanBytes == s.KneeBytes })
	for i, p := range s.Points[knee+1:] {
		if p.Rise.Value >= s.Limit && p.Rise.Lower != nil && *p.Rise.Lower > 1 {
			if i > 0 {
				return fmt.Sprintf("between spans of %s and %s", units.DriveSize(s.KneeBytes), units.DriveSize(p.SpanBytes))
			}
			break
		}
	}
	return "at a span of " + units.DriveSize(s.KneeBytes)
}

// spanOthers describes the other loads: "; also: 2 loads with a knee, too, 1 load without
// one".
func spanOthers(knees, flat, unsure int) string {
	var texts []string
	if knees > 0 {
		texts = append(texts, units.Plural(knees, "load")+" with a knee, too")
	}
	if flat > 0 {
		texts = append(texts, units.Plural(flat, "load")+" without one")
	}
	if unsure > 0 {
		texts = append(texts, units.Plural(unsure, "load")+" for which it is not known")
	}
	if len(texts) == 0 {
		return ""
	}
	return "; also: " + strings.Join(texts, ", ")
}

// spareSection shows the effect of over-provisioning.
func spareSection(r record.RunReport) []document.Section {
	if len(r.Analysis.Spares) == 0 {
		return nil
	}
	spares := r.Analysis.Spares
	name, by := rateColumn(spares[0].Steady.Unit)
	lowest := spares[0].MeanLatency
	for _, s := range spares {
		lowest = min(lowest, s.MeanLatency)
	}
	unit := units.LatencyUnitFor(lowest)
	t := document.Table{
		Names: []string{"spare", "filled", "", "steady " + name, "range", "slope", "mean", "p99", "rounds", "first round", "", "warnings"},
		Units: []string{"%", "%", "", "", "", "", unit.Name, unit.Name, "", "times", "", ""},
		Align: "rrrrrrrrrrll", Long: true,
	}
	small := plot.Small{Caption: "steady " + name + " over the spare part in %"}
	var points []plot.Point
	var shown []record.Warning
	for _, s := range spares {
		var warnings []record.Warning
		for _, step := range r.Steps {
			if step.Workload != nil && step.Workload.SparePercent != nil && *step.Workload.SparePercent == s.SparePercent {
				warnings = append(warnings, step.Warnings...)
			}
		}
		mark := steadyWord(s.Steady)
		t.Add(units.Count(s.SparePercent), units.Count(100-s.SparePercent), units.DriveSize(s.FilledBytes), units.Number(s.Steady.Mean/by),
			units.Percent(s.Steady.RangeRatio), units.Percent(s.Steady.SlopeRatio), cellOf(unit, s.MeanLatency), hintOf(s.P99Unsure, cellOf(unit, s.P99)),
			units.Count(len(s.Steady.Path)), units.Ratio(s.Steady.Fresh), mark, warned(warnings))
		points = append(points, plot.Point{
			X: float64(s.SparePercent), Y: s.Steady.Mean / by, Doubt: !s.Steady.Reached || len(warnings) > 0,
			Note: fmt.Sprintf("%d %% spare: %s, mean %s, %s%s", s.SparePercent, rateIn(s.Steady.Unit, s.Steady.Mean), units.Latency(s.MeanLatency), mark, noteOf(warnings)),
		})
		small.Add(s.Steady.Mean/by, fmt.Sprintf("%d", s.SparePercent))
		shown = append(shown, warnings...)
	}
	diagram := plot.Plot{
		Title: "Steady state over over-provisioning", X: plot.Axis{Label: "discarded and left alone, % of the device"},
		Y: plot.Axis{Label: "steady " + name, Zero: true}, Series: []plot.Series{{Points: points, Colour: 3}},
	}
	caption := "Before each, all blocks were discarded, which a drive may postpone or ignore."
	if slices.ContainsFunc(spares, func(s record.SpareState) bool { return !s.Steady.Reached }) {
		caption += " Hollow points are not steady, or have warnings."
	}
	return []document.Section{{
		ID: "spare", Title: "Over-provisioning", Lead: spareSentence(spares),
		Blocks: []document.Block{document.Gap{}, document.Plot{Drawing: diagram, Caption: caption, Warnings: ofAKind(shown), Small: &small}, document.Gap{}, t},
	}}
}

func spareSentence(spares []record.SpareState) string {
	var texts []string
	for _, s := range spares {
		text := fmt.Sprintf("%s with %d %% spare", rateIn(s.Steady.Unit, s.Steady.Mean), s.SparePercent)
		if !s.Steady.Reached {
			text += " (" + steadyWord(s.Steady) + ")"
		}
		if len(s.Steady.Codes) > 0 {
			text += " (" + strings.Join(s.Steady.Codes, ", ") + ")"
		}
		texts = append(texts, text)
	}
	return "Writes settle at " + strings.Join(texts, ", ") + "."
}
