package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// htmlResults is the table of all steps.
type htmlResults struct {
	Names, Units []string
	Steps        []htmlStep
	Unsure       string
}

type htmlStep struct {
	Name, About string
	Rows        [][]string
	Errors      string
	Warnings    []record.Warning
	LeftOut     int // steps that are not shown before this one
}

func htmlResultsOf(r record.RunReport) htmlResults {
	unit := units.LatencyUnitFor(lowestMedian(r))
	v := htmlResults{
		Names: []string{"", "IOPS", "MB/s", "min", "mean", "p50", "p95", "p99", "p99.9", "max", "CPU", "errors"},
		Units: []string{"", "", "", unit.Name, unit.Name, unit.Name, unit.Name, unit.Name, unit.Name, unit.Name, "%", ""},
	}
	steps, leftOut := r.Steps, 0
	if len(steps) > mostRows {
		leftOut = len(steps) - mostRows
		steps = slices.Concat(steps[:mostRows-lastRows], steps[len(steps)-lastRows:])
	}
	for i, step := range steps {
		rows, unsure := stepRows(step, unit)
		text := stepText(step)
		s := htmlStep{Name: clean(step.Name), Warnings: step.Warnings}
		about := strings.TrimPrefix(text[0], step.Name)
		text[0] = strings.TrimPrefix(about, ": ")
		if text[0] == "" {
			text = text[1:]
		}
		s.About = clean(strings.Join(text, ", "))
		for _, row := range rows {
			var cells []string
			for _, cell := range row.cells {
				cells = append(cells, clean(cell))
			}
			s.Rows = append(s.Rows, cells)
		}
		if len(step.Errors) > 0 {
			s.Errors = clean(strings.Join(errorsList(step.Errors), ", "))
		}
		if leftOut > 0 && i == mostRows-lastRows {
			s.LeftOut = leftOut
		}
		if unsure {
			v.Unsure = fmt.Sprintf("fewer than %d I/Os lie above this percentile: a hint only; measure longer to know it.", minimumAbove)
		}
		v.Steps = append(v.Steps, s)
	}
	return v
}

func htmlComparisonOf(c Comparison) *htmlComparison {
	v := &htmlComparison{Headline: clean(c.headline()), Warnings: c.Warnings}
	switch c.Verdict {
	case Slower:
		v.Tone = "bad"
	case Faster, Same:
		v.Tone = "good"
	case Incomplete:
		v.Tone = "quiet"
	}
	for _, change := range c.Conditions {
		v.Changes = append(v.Changes, htmlFact{clean(record.ConditionTitle(change.Condition)), clean(orUnknown(change.From) + " → " + orUnknown(change.To))})
	}
	for _, u := range c.NotCompared {
		v.NotCompared = append(v.NotCompared, clean(joined(u.Step, u.Direction)+": "+u.Reason))
	}
	t := sheet{header: [2][]string{{"step", "", "statistic", "baseline", "now", "times slower", "verdict"}, nil}, align: "lllrrrl"}
	for _, step := range c.Steps {
		for i, s := range step.Statistics {
			before, now := pair(s)
			verdict := string(s.Verdict)
			if !s.Counts {
				verdict = "~" + verdict
			}
			name, direction := "", ""
			if i == 0 {
				name, direction = step.Step, step.Direction
			}
			row := t.add(name, direction, StatisticName(s.Statistic), before, now, units.Ratio(s.Ratio), verdict)
			if i == 0 {
				for _, w := range step.Warnings {
					row.notes = append(row.notes, "warning: "+w.Text+" ("+w.Code+")")
				}
			}
		}
	}
	if len(t.rows) > 0 {
		v.Table = t.html()
	}
	return v
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
