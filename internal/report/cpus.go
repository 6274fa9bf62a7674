package report

import (
	"fmt"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// cpuSections shows for each load its rate on different numbers of CPUs.
func cpuSections(r record.RunReport) []document.Section {
	var all []document.Section
	for i, c := range r.Analysis.CPUs {
		if len(c.Points) == 0 {
			continue
		}
		name, by := rateColumn(c.Unit)
		lowest := c.Points[0].Mean
		for _, p := range c.Points {
			lowest = min(lowest, p.Mean)
		}
		unit := units.LatencyUnitFor(lowest)
		t := document.Table{
			Names: []string{"CPUs", "cores", "NUMA nodes", name, "mean", "p99", "CPUs used", "limit", "warnings"},
			Units: []string{"", "", "", "", unit.Name, unit.Name, "", "", ""},
			Align: "rrlrrrrll", Long: true,
		}
		diagram := plot.Plot{
			Title: name + " over the number of CPUs, " + c.Load,
			X:     plot.Axis{Label: "CPUs that the jobs may use", Scale: plot.Log2}, Y: plot.Axis{Label: name, Zero: true},
			Right: &plot.Axis{Label: "CPUs used", Zero: true},
		}
		small := plot.Small{Caption: name + " over the number of CPUs"}
		var rate, used []plot.Point
		var shown []record.Warning
		for _, p := range c.Points {
			warnings := cpuWarnings(r, c, p)
			shown = append(shown, warnings...)
			t.Add(units.Count(p.CPUs), units.Count(p.Cores), nodesText(p.Nodes), units.Number(p.Rate/by), cellOf(unit, p.Mean), hintOf(p.P99Unsure, cellOf(unit, p.P99)),
				units.Number(p.Used), limitText(p.Limit), warned(warnings))
			note := fmt.Sprintf("%s: %s, mean %s, %s used%s", units.Plural(p.CPUs, "CPU"), rateIn(c.Unit, p.Rate), units.Latency(p.Mean), units.Number(p.Used), noteOf(warnings))
			rate = append(rate, plot.Point{X: float64(p.CPUs), Y: p.Rate / by, Doubt: len(warnings) > 0, Note: note})
			used = append(used, plot.Point{X: float64(p.CPUs), Y: p.Used, Doubt: len(warnings) > 0, Note: note})
			small.Add(p.Rate/by, fmt.Sprint(p.CPUs))
		}
		diagram.Series = []plot.Series{
			{Name: name + " (left)", Points: rate, Colour: 1},
			{Name: "CPUs used (right)", Points: used, Colour: 2, Right: true, Dashed: true},
		}
		if c.EnoughAt > c.Points[0].CPUs {
			diagram.Marks = []plot.Mark{{X: new(float64(c.EnoughAt)), Label: fmt.Sprintf("enough: %d", c.EnoughAt)}}
		}
		all = append(all, document.Section{
			ID: fmt.Sprintf("cpus-%d", i+1), Title: "How many CPUs it takes: " + c.Load, Lead: cpuSentence(c),
			Blocks: []document.Block{document.Gap{}, drawn(diagram, "While the jobs use all CPUs that they may use, the CPUs are the limit. "+
				"CPUs beyond the number of cores are further threads of the same cores.", shown, &small), document.Gap{}, t},
		})
	}
	return all
}

// cpuWarnings returns the warnings of the steps behind a point.
func cpuWarnings(r record.RunReport, c record.CPUScaling, p record.CPUPoint) []record.Warning {
	var all []record.Warning
	for _, s := range measured(r.Steps) {
		if s.Workload != nil && s.Workload.String() == c.Load && s.Workload.CPUCores > 0 && len(s.Workload.CPUs) == p.CPUs {
			all = append(all, s.Warnings...)
		}
	}
	return all
}

func nodesText(nodes []int) string {
	var texts []string
	for _, n := range nodes {
		if n >= 0 {
			texts = append(texts, fmt.Sprint(n))
		}
	}
	return strings.Join(texts, ", ")
}

func cpuSentence(c record.CPUScaling) string {
	first, last := c.Points[0], c.Points[len(c.Points)-1]
	with := func(p record.CPUPoint) string {
		return fmt.Sprintf("with %s %s", units.Plural(p.CPUs, "CPU"), rateIn(c.Unit, p.Rate))
	}
	figures := with(first)
	if len(c.Points) > 1 {
		figures += ", " + with(last)
	}
	limit := map[record.Limit]string{
		record.LimitDevice: "the drive", record.LimitLink: "the PCIe link", record.LimitLatency: "the latency of an I/O",
	}[c.Limit]
	switch {
	case c.EnoughAt > 0 && c.EnoughAt == first.CPUs:
		return fmt.Sprintf("%s is the limit even with %s: %s.", upper(limit), units.Plural(first.CPUs, "CPU"), figures)
	case c.EnoughAt > 0:
		return fmt.Sprintf("From %s on, %s is the limit: %s.", units.Plural(c.EnoughAt, "CPU"), limit, figures)
	case len(last.Codes) > 0 && last.Limit != record.LimitCPU:
		return fmt.Sprintf("The limit is not known, because steps did not measure the drive alone (%s): %s.", strings.Join(last.Codes, ", "), figures)
	default:
		return fmt.Sprintf("The CPUs are the limit, even with %s: %s.", units.Plural(last.CPUs, "CPU"), figures)
	}
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
