package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// steadySection shows the approach to the steady state and the window that is steady.
func steadySection(r record.RunReport) []document.Section {
	if r.Analysis.Steady == nil || len(r.Analysis.Steady.Path) == 0 {
		return nil
	}
	s := *r.Analysis.Steady
	name, by := rateColumn(s.Unit)
	warnings := map[int][]record.Warning{}
	for _, step := range r.Steps {
		if step.Workload != nil && step.Workload.Round > 0 {
			warnings[step.Workload.Round] = append(warnings[step.Workload.Round], step.Warnings...)
		}
	}
	slowest := s.Path[0].Mean
	for _, round := range s.Path {
		slowest = min(slowest, round.Mean)
	}
	unit := units.LatencyUnitFor(slowest)
	t := document.Table{
		Names: []string{"round", name, "mean", "written", "phase", "warnings"},
		Units: []string{"", "", unit.Name, "GB", "", ""},
		Align: "rrrrll", Long: true,
	}
	small := plot.Small{Caption: name + " over the rounds"}
	var all []record.Warning
	for _, round := range s.Path {
		t.Add(units.Count(round.Round), units.Number(round.Value/by), cellOf(unit, round.Mean), units.Number(float64(round.WrittenBytes)/1e9), round.Phase, warned(warnings[round.Round]))
		small.Add(round.Value/by, strconv.Itoa(round.Round))
		all = append(all, warnings[round.Round]...)
	}
	return []document.Section{{
		ID: "steady", Title: "Approach to the steady state", Lead: steadySentence(s),
		Blocks: append(append([]document.Block{document.Sentence(steadyRule(s))}, purgeNote(r)...),
			document.Gap{}, drawn(steadyPlot(s, warnings), "", all, &small), document.Gap{}, t),
	}}
}

func steadySentence(s record.Steady) string {
	doubt := ""
	if len(s.Codes) > 0 {
		doubt = fmt.Sprintf(" Some of these rounds did not measure the drive alone (%s).", strings.Join(s.Codes, ", "))
	}
	switch {
	case few(s):
		return fmt.Sprintf("Whether it is steady is not known: that takes %s, and %d ran to the end, at %s on average.",
			units.Plural(s.Window, "round"), len(s.Path), rateIn(s.Unit, s.Mean)) + doubt
	case !s.Reached:
		return fmt.Sprintf("Not steady after %s: the last ones have a range of %s and a slope of %s around %s.",
			units.Plural(len(s.Path), "round"), units.Percent(s.RangeRatio), units.Percent(s.SlopeRatio), rateIn(s.Unit, s.Mean)) + doubt
	}
	text := fmt.Sprintf("Steady at %s, reached with round %d", rateIn(s.Unit, s.Mean), s.Round)
	switch {
	case s.Fresh > 1:
		text += fmt.Sprintf("; the first round was %s as fast", units.Ratio(s.Fresh))
	case s.Fresh > 0:
		text += fmt.Sprintf("; the first round was no faster (%s)", units.Ratio(s.Fresh))
	}
	return text + "." + doubt
}

// few reports whether there are fewer rounds than the rule takes, as of a run that was stopped. One round has no range at all.
func few(s record.Steady) bool { return len(s.Path) < s.Window }

func steadyWord(s record.Steady) string {
	switch {
	case few(s):
		return "too few rounds"
	case !s.Reached:
		return "not steady"
	}
	return "steady"
}

func steadyRule(s record.Steady) string {
	here := func(ratio float64) string {
		if few(s) {
			return ""
		}
		return fmt.Sprintf(" (here %s)", units.Percent(ratio))
	}
	return fmt.Sprintf("Steady by the SNIA Performance Test Specification: over %s, a range of at most %s of the mean%s "+
		"and a fitted line that rises or falls by at most %s of it%s.",
		units.Plural(s.Window, "round"), units.Percent(s.MaxRange), here(s.RangeRatio), units.Percent(s.MaxSlope), here(s.SlopeRatio))
}

// purgeNote says how far the purge can be trusted. A drive completes a format before it answers, but no drive confirms
// that it carried out a discard.
func purgeNote(r record.RunReport) []document.Block {
	ran := func(name string) bool {
		return slices.ContainsFunc(r.Steps, func(s record.Step) bool { return s.Name == name })
	}
	s := *r.Analysis.Steady
	const asked = "The purge was a discard of all blocks, which a drive may postpone or ignore"
	switch i := slices.IndexFunc(r.Steps, func(s record.Step) bool { return s.Name == "format" }); {
	case i >= 0:
		return []document.Block{document.Sentence("The purge was NVMe Format, which erased all user data in " + units.Span(r.Steps[i].Duration) + ".")}
	case !ran("purge"):
		return nil
	case ran("precondition") || !s.Reached || s.Fresh <= 0:
		return []document.Block{document.Sentence(asked + "; this run does not show whether it did.")}
	case s.Fresh > freshFrom:
		return []document.Block{document.Sentence(asked + fmt.Sprintf("; the first round was %s as fast as the steady ones, so the drive probably obeyed it.", units.Ratio(s.Fresh)))}
	default:
		return []document.Block{document.Sentence(asked + fmt.Sprintf("; the first round was hardly faster than the steady ones (%s), so the drive probably ignored it, "+
			"or needs no blocks in reserve.", units.Ratio(s.Fresh)))}
	}
}

// freshFrom is the ratio of the first round to the steady ones above which the drive counts as fresh.
const freshFrom = 1.2

func steadyPlot(s record.Steady, warnings map[int][]record.Warning) plot.Plot {
	name, by := rateColumn(s.Unit)
	var path []plot.Point
	phases := map[string][]plot.Point{}
	for _, round := range s.Path {
		p := plot.Point{
			X: float64(round.Round), Y: round.Value / by, Doubt: len(warnings[round.Round]) > 0,
			Note: fmt.Sprintf("round %d, %s: %s, mean %s, %s written so far%s", round.Round, round.Phase,
				rateIn(s.Unit, round.Value), units.Latency(round.Mean), units.DriveSize(round.WrittenBytes), noteOf(warnings[round.Round])),
		}
		path, phases[round.Phase] = append(path, p), append(phases[round.Phase], p)
	}
	diagram := plot.Plot{
		Title:  "Approach to the steady state",
		X:      plot.Axis{Label: "round", Whole: true},
		Y:      plot.Axis{Label: name, Zero: true},
		Series: []plot.Series{{Points: path, Shape: plot.Line, Colour: 6}},
	}
	for _, phase := range []struct {
		name   string
		colour int
	}{{"fresh", 2}, {"transition", 4}, {"steady", 3}} {
		if points := phases[phase.name]; len(points) > 0 {
			diagram.Series = append(diagram.Series, plot.Series{Name: phase.name, Points: points, Shape: plot.Points, Colour: phase.colour})
		}
	}
	if s.Reached {
		diagram.Bands = []plot.Band{{
			From: float64(s.Round-s.Window) + 0.5, To: float64(s.Round) + 0.5,
			Label: fmt.Sprintf("window: range %s, slope %s", units.Percent(s.RangeRatio), units.Percent(s.SlopeRatio)),
		}}
		diagram.Marks = []plot.Mark{{Y: new(s.Mean / by), Label: "mean of the window: " + rateIn(s.Unit, s.Mean)}}
	}
	return diagram
}
