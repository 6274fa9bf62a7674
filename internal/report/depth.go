package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// sweep is one load at several depths.
type sweep struct {
	load   string
	jobs   bool // the depth comes from several jobs
	points []depthPoint
	knee   *record.Knee
	// differ is how far the repeats of a point lie apart, relative to their mean, when that is too far to tell a knee; 0
	// otherwise.
	differ float64
}

// depthPoint is the result at one depth; repeats count as their mean.
type depthPoint struct {
	depth          int
	seen           float64 // the mean depth that the kernel saw; 0 when not known
	seenOf         int     // repeats for which it is known
	iops           float64
	mean, p50, p99 time.Duration
	unsure         bool // the p99: too few I/Os of a repeat lie above it
	warnings       []record.Warning
	repeats        int
	series         []string // measured at this depth, each with its direction
}

// sweeps returns the loads that were measured at three or more depths.
func sweeps(r record.RunReport) []sweep {
	var order []string
	all := map[string]*sweep{}
	for _, s := range measured(r.Steps) {
		if !s.Workload.OfDrive() || s.Workload.Round > 0 {
			continue
		}
		for _, p := range parts(s) {
			if p.direction == partSync {
				continue
			}
			name := analysis.SweepName(*s.Workload, record.Direction(p.direction))
			if all[name] == nil {
				all[name] = &sweep{load: name}
				order = append(order, name)
			}
			all[name].add(s, p)
		}
	}
	var found []sweep
	for _, name := range order {
		s := all[name]
		if len(s.points) < 3 {
			continue
		}
		slices.SortFunc(s.points, func(a, b depthPoint) int { return cmp.Compare(a.depth, b.depth) })
		if r.Analysis != nil {
			for _, k := range r.Analysis.Knees {
				if k.Load == name {
					s.knee = &k
				}
			}
		}
		s.doubt(r)
		found = append(found, *s)
	}
	return found
}

// doubt drops a knee if any point has an interval wider than its value.
func (s *sweep) doubt(r record.RunReport) {
	if s.knee == nil || r.Analysis == nil {
		return
	}
	for _, spread := range r.Analysis.Spreads {
		i := spread.IOPS.Mean
		within := slices.ContainsFunc(s.points, func(p depthPoint) bool { return slices.Contains(p.series, spread.Load+" "+string(spread.Direction)) })
		if within && i.Wide() {
			s.differ = max(s.differ, (spread.IOPS.Max-spread.IOPS.Min)/i.Value)
		}
	}
	if s.differ > 0 {
		s.knee = nil
	}
}

func (s *sweep) add(step record.Step, measured part) {
	r := measured.result
	depth := step.Workload.InFlight()
	s.jobs = s.jobs || step.Workload.Jobs > 1
	i := slices.IndexFunc(s.points, func(p depthPoint) bool { return p.depth == depth })
	if i < 0 {
		s.points = append(s.points, depthPoint{depth: depth})
		i = len(s.points) - 1
	}
	p := &s.points[i]
	p.series = append(p.series, step.Series+" "+measured.direction)
	p.repeats++
	n := float64(p.repeats)
	p.iops += (r.IOPS - p.iops) / n
	if d := step.Depth; d != nil && d.Mean > 0 {
		p.seenOf++
		p.seen += (d.Mean - p.seen) / float64(p.seenOf)
	}
	for _, l := range []struct {
		to   *time.Duration
		take time.Duration
	}{{&p.mean, r.Mean}, {&p.p50, r.Quantile(0.5)}, {&p.p99, r.Quantile(0.99)}} {
		*l.to += time.Duration(float64(l.take-*l.to) / n)
	}
	p.unsure = p.unsure || r.Unsure(0.99)
	p.warnings = append(p.warnings, step.Warnings...)
}

// depthSections shows for each load where more depth stops paying off.
func depthSections(r record.RunReport) []document.Section {
	var all []document.Section
	for i, s := range sweeps(r) {
		lowest := s.points[0].mean
		for _, p := range s.points {
			lowest = min(lowest, p.mean)
		}
		unit := units.LatencyUnitFor(lowest)
		all = append(all, document.Section{
			ID: fmt.Sprintf("depth-%d", i+1), Title: "IOPS and latency over depth: " + s.load, Lead: s.sentence(),
			Blocks: []document.Block{document.Gap{}, s.plot(unit), document.Gap{}, s.table(unit)},
		})
	}
	return all
}

func (s sweep) sentence() string {
	switch {
	case s.differ > 0:
		return fmt.Sprintf("%s: the knee is not known: repeats differ by %s.", s.load, units.Percent(s.differ))
	case s.knee == nil:
		return ""
	case s.knee.Deepest == 0:
		return fmt.Sprintf("%s: the knee is not known: %s.", s.load, disregardedText(s.knee.Disregarded, s.knee.Codes))
	}
	text := fmt.Sprintf("%s: no knee up to depth %d: IOPS still grow faster than latency.", s.load, s.knee.Deepest)
	if s.knee.Depth > 0 {
		text = s.kneeText()
	}
	if s.knee.Disregarded > 0 {
		text += fmt.Sprintf(" Left out: %s.", disregardedText(s.knee.Disregarded, s.knee.Codes))
	}
	return text
}

func (s sweep) kneeText() string {
	if s.knee.Mean == 0 {
		return fmt.Sprintf("%s: the knee is at depth %d with %s IOPS; from there to depth %d IOPS grow %s. Latencies were not measured.",
			s.load, s.knee.Depth, units.IOPS(s.knee.IOPS), s.knee.Deepest, units.Ratio(s.knee.IOPSGain))
	}
	return fmt.Sprintf("%s: the knee is at depth %d with %s IOPS at %s; from there to depth %d IOPS grow %s and mean latency %s.",
		s.load, s.knee.Depth, units.IOPS(s.knee.IOPS), units.Latency(s.knee.Mean), s.knee.Deepest, units.Ratio(s.knee.IOPSGain), units.Ratio(s.knee.LatencyGrowth))
}

func (s sweep) axis() plot.Axis {
	a := plot.Axis{Label: "queue depth, I/Os in flight"}
	if s.points[0].depth > 0 && s.points[len(s.points)-1].depth >= 16*s.points[0].depth {
		a.Scale = plot.Log2
	}
	if s.jobs {
		a.Label = "I/Os in flight, depth × jobs"
	}
	return a
}

func (s sweep) plot(unit units.LatencyUnit) document.Plot {
	small := plot.Small{Caption: "IOPS over " + s.axis().Label}
	var iops, mean, p99 []plot.Point
	var warnings []record.Warning
	var lowest, highest time.Duration
	for _, p := range s.points {
		at, doubt, why := float64(p.depth), len(p.warnings) > 0, noteOf(p.warnings)
		iops = append(iops, plot.Point{X: at, Y: p.iops, Doubt: doubt, Note: fmt.Sprintf("depth %d: %s IOPS%s", p.depth, units.IOPS(p.iops), why)})
		if p.mean > 0 {
			mean = append(mean, plot.Point{X: at, Y: unit.In(p.mean), Doubt: doubt, Note: fmt.Sprintf("depth %d: mean %s%s", p.depth, units.Latency(p.mean), why)})
		}
		if p.p99 > 0 {
			p99 = append(p99, plot.Point{X: at, Y: unit.In(p.p99), Doubt: doubt || p.unsure, Note: fmt.Sprintf("depth %d: p99 %s%s", p.depth, units.Latency(p.p99), why)})
		}
		small.Add(p.iops, strconv.Itoa(p.depth))
		warnings = append(warnings, p.warnings...)
		if p.mean > 0 && (lowest == 0 || p.mean < lowest) {
			lowest = p.mean
		}
		highest = max(highest, p.mean, p.p99)
	}
	latency := plot.Axis{Label: "latency, " + unit.Name, Zero: true}
	if lowest > 0 && highest > 100*lowest {
		latency.Scale = plot.Log10
	}
	diagram := plot.Plot{
		Title: "IOPS and latency over depth, " + s.load, X: s.axis(),
		Y: plot.Axis{Label: "IOPS", Zero: true}, Right: &latency,
		Series: []plot.Series{
			{Name: "IOPS (left)", Points: iops, Colour: 1},
			{Name: "mean latency (right)", Points: mean, Colour: 2, Right: true},
			{Name: "p99 latency (right)", Points: p99, Colour: 5, Right: true, Dashed: true},
		},
	}
	caption := "Read IOPS together with latency: past the knee, only the waiting time grows."
	if s.knee != nil && s.knee.Depth > 0 {
		diagram.Marks = []plot.Mark{{X: new(float64(s.knee.Depth)), Label: fmt.Sprintf("knee: depth %d", s.knee.Depth)}}
	}
	return drawn(diagram, caption, warnings, &small)
}

func (s sweep) table(unit units.LatencyUnit) document.Table {
	t := document.Table{
		Names: []string{"depth", "depth", "IOPS", "mean", "p50", "p99", "", "warnings"},
		Units: []string{"asked", "seen", "", unit.Name, unit.Name, unit.Name, "", ""},
		Align: "rrrrrrll", Long: true,
	}
	for _, p := range s.points {
		mark := ""
		if s.knee != nil && s.knee.Depth == p.depth {
			mark = "knee"
		}
		seen := ""
		if p.seen > 0 {
			seen = units.Number(p.seen)
		}
		t.Add(units.Count(p.depth), seen, units.IOPS(p.iops), cellOf(unit, p.mean), cellOf(unit, p.p50), hintOf(p.unsure, cellOf(unit, p.p99)), mark, warned(p.warnings))
	}
	return t
}

// noteOf returns the warnings of a point for its note.
func noteOf(warnings []record.Warning) string {
	if len(warnings) == 0 {
		return ""
	}
	return " (" + warned(warnings) + ")"
}

// cellOf formats d in the unit, "-" when there is none.
func cellOf(u units.LatencyUnit, d time.Duration) string {
	if d <= 0 {
		return none
	}
	return u.Format(d)
}

// hintOf puts a "~" before a figure that is only a hint.
func hintOf(unsure bool, figure string) string {
	if unsure {
		return "~" + figure
	}
	return figure
}
