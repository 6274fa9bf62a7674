package report

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// offsetSection shows the speed over the device.
func offsetSection(r record.RunReport) []document.Section {
	if r.Analysis == nil || r.Analysis.Offsets == nil || len(r.Analysis.Offsets.Points) == 0 {
		return nil
	}
	o := *r.Analysis.Offsets
	warnings := map[int64][]record.Warning{}
	for _, s := range measured(r.Steps) {
		if s.Workload != nil && s.Workload.Pattern == record.Sequential {
			at := s.Workload.OffsetBytes
			warnings[at] = append(warnings[at], s.Warnings...)
		}
	}
	name, by := offsetUnit(o.Points[len(o.Points)-1].OffsetBytes)
	points := make([]plot.Point, len(o.Points))
	small := plot.Small{Caption: "sequential speed in MB/s over the offset in " + name}
	var all []record.Warning
	t := document.Table{Names: []string{"offset", "speed", "", "warnings"}, Units: []string{name, "MB/s", "", ""}, Align: "rrll", Long: true}
	for i, p := range o.Points {
		at := units.Number(float64(p.OffsetBytes) / by)
		points[i] = plot.Point{
			X: float64(p.OffsetBytes) / by, Y: p.BytesPerSecond / 1e6, Doubt: len(warnings[p.OffsetBytes]) > 0,
			Note: fmt.Sprintf("at %s %s: %s%s", at, name, units.Bandwidth(p.BytesPerSecond), noteOf(warnings[p.OffsetBytes])),
		}
		small.Add(p.BytesPerSecond/1e6, at)
		all = append(all, warnings[p.OffsetBytes]...)
		mark := ""
		switch p.OffsetBytes {
		case o.Slowest.OffsetBytes:
			mark = "slowest"
		case o.Fastest.OffsetBytes:
			mark = "fastest"
		}
		t.Add(at, units.Number(p.BytesPerSecond/1e6), mark, warned(warnings[p.OffsetBytes]))
	}
	diagram := plot.Plot{
		Title:  "Sequential speed over the offset",
		X:      plot.Axis{Label: "offset on the device, " + name},
		Y:      plot.Axis{Label: "sequential speed, MB/s", Zero: true},
		Series: []plot.Series{{Points: points, Colour: 1}},
	}
	return []document.Section{{
		ID: "offsets", Title: "Speed over the device",
		Lead: fmt.Sprintf("The slowest place, at %s, reaches %s of the speed of the fastest, at %s: %s against %s.",
			units.DriveSize(o.Slowest.OffsetBytes), units.Percent(o.Evenness), units.DriveSize(o.Fastest.OffsetBytes),
			units.Bandwidth(o.Slowest.BytesPerSecond), units.Bandwidth(o.Fastest.BytesPerSecond)),
		Blocks: []document.Block{document.Gap{}, drawn(diagram, "", all, &small), document.Gap{}, t},
	}}
}

// offsetUnit is the unit of an axis that ends at most.
func offsetUnit(most int64) (name string, by float64) {
	switch {
	case most < 2e9:
		return "MB", 1e6
	case most < 2e12:
		return "GB", 1e9
	default:
		return "TB", 1e12
	}
}

// offsetLine is the speeds over one drive.
type offsetLine struct {
	name     string // tells it from others of the run; empty when there are none
	speeds   record.OffsetSpeeds
	warnings map[int64][]record.Warning // by offset
}

// offsetLines are those of a run.
func offsetLines(r record.RunReport) []offsetLine {
	if r.Analysis == nil || r.Analysis.Offsets == nil || len(r.Analysis.Offsets.Points) == 0 {
		return nil
	}
	line := offsetLine{speeds: *r.Analysis.Offsets, warnings: map[int64][]record.Warning{}}
	for _, s := range measured(r.Steps) {
		if s.Workload != nil && s.Workload.Pattern == record.Sequential {
			at := s.Workload.OffsetBytes
			line.warnings[at] = append(line.warnings[at], s.Warnings...)
		}
	}
	return []offsetLine{line}
}

// drawn are the points of a line, in MB/s over an offset in a unit.
func (l offsetLine) drawn(label, unit string, by float64) (points []plot.Point, warnings []record.Warning) {
	if label != "" {
		label += ", "
	}
	for _, p := range l.speeds.Points {
		own := l.warnings[p.OffsetBytes]
		warnings = append(warnings, own...)
		point := plot.Point{
			X: float64(p.OffsetBytes) / by, Y: p.BytesPerSecond / 1e6, Doubt: len(own) > 0,
			Note: fmt.Sprintf("%sat %s %s: %s%s", label, units.Number(float64(p.OffsetBytes)/by), unit, units.Bandwidth(p.BytesPerSecond), noteOf(own)),
		}
		if p.Lower != nil && p.Upper != nil {
			point.Low, point.High = new(*p.Lower/1e6), new(*p.Upper/1e6)
		}
		points = append(points, point)
	}
	return points, warnings
}
