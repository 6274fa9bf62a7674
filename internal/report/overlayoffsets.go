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

// overlaidLine holds the speeds over one device of one run.
type overlaidLine struct {
	run  int
	line offsetLine
}

func (o overlaidLine) label() string {
	if o.line.name == "" {
		return Letter(o.run)
	}
	return Letter(o.run) + ", " + o.line.name
}

// overlaidOffsets draws the speeds over the device of all runs in one drawing. When runs have several devices, one
// drawing shows the first device of each run, the next one the second, and so on. Steps are compared in the same
// order.
func overlaidOffsets(runs []record.RunReport) []document.Section {
	var devices [][]overlaidLine
	for i, r := range runs {
		for _, line := range offsetLines(r) {
			for line.device >= len(devices) {
				devices = append(devices, nil)
			}
			devices[line.device] = append(devices[line.device], overlaidLine{run: i, line: line})
		}
	}
	var sections []document.Section
	alone := 0
	for k, lines := range devices {
		if !slices.ContainsFunc(lines, func(l overlaidLine) bool { return l.run != lines[0].run }) {
			alone++
			continue
		}
		which := "the device"
		if len(devices) > 1 {
			which = fmt.Sprintf("device %d of each run", k+1)
		}
		sections = append(sections, offsetOverlay(which, lines))
	}
	sections = limited(sections)
	if n := len(sections); n > 0 && alone > 0 {
		last := &sections[n-1]
		last.Blocks = append(last.Blocks, document.Sentence(fmt.Sprintf("Not drawn: %s that only one run has.", units.Plural(alone, "device"))))
	}
	return sections
}

func offsetOverlay(which string, lines []overlaidLine) document.Section {
	var most int64
	for _, l := range lines {
		most = max(most, l.line.speeds.Points[len(l.line.speeds.Points)-1].OffsetBytes)
	}
	name, by := offsetUnit(most)
	diagram := plot.Plot{
		Title: "Sequential speed over " + which,
		X:     plot.Axis{Label: "offset on the device, " + name}, Y: plot.Axis{Label: "sequential speed, MB/s", Zero: true},
	}
	caption := whiskers
	var warnings []record.Warning
	var leads []string
	for _, l := range lines {
		points, own := l.line.drawn(l.label(), name, by)
		warnings = append(warnings, own...)
		speeds := l.line.speeds
		if speeds.Beside > 0 {
			caption = besideOthers + " " + whiskers
		}
		diagram.Series = append(diagram.Series, plot.Series{Name: l.label(), Points: points, Colour: l.run + 1, Dashed: speeds.Beside > 0})
		lead := disregardedText(speeds.Disregarded, speeds.Codes)
		if speeds.Fastest.BytesPerSecond > 0 {
			lead = fmt.Sprintf("%s at the slowest place, %s of its fastest", units.Bandwidth(speeds.Slowest.BytesPerSecond), units.Percent(speeds.Evenness))
		}
		leads = append(leads, l.label()+": "+lead)
	}
	return document.Section{
		Title: "Speed over " + which, Lead: strings.Join(leads[:min(len(leads), mostOverlaid)], "; ") + ".",
		Blocks: []document.Block{drawn(diagram, caption, warnings, nil)},
	}
}
