package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const besideOthers = "Dashed: while others were read."

// offsetSection shows the speed over the offset, for one device or for each of several.
func offsetSection(r record.RunReport) []document.Section {
	lines := offsetLines(r)
	if len(lines) == 0 {
		return nil
	}
	var most int64
	for _, l := range lines {
		most = max(most, l.speeds.Points[len(l.speeds.Points)-1].OffsetBytes)
	}
	name, by := offsetUnit(most)
	diagram := plot.Plot{
		Title: "Sequential speed over the offset",
		X:     plot.Axis{Label: "offset on the device, " + name},
		Y:     plot.Axis{Label: "sequential speed, MB/s", Zero: true},
	}
	var all []record.Warning
	for _, l := range lines {
		points, own := l.drawn(l.name, name, by)
		all = append(all, own...)
		if l.device < plot.Colours {
			diagram.Series = append(diagram.Series, plot.Series{Name: l.name, Points: points, Colour: l.device + 1, Dashed: l.speeds.Beside > 0})
		}
	}
	s := document.Section{ID: "offsets", Title: "Speed over the device"}
	if len(lines) == 1 {
		table, small := lines[0].table(name, by)
		s.Lead = offsetSentence(lines[0].speeds)
		s.Blocks = []document.Block{document.Gap{}, drawn(diagram, "", all, &small), document.Gap{}, table}
		return []document.Section{s}
	}
	caption := ""
	if slices.ContainsFunc(lines, func(l offsetLine) bool { return l.speeds.Beside > 0 }) {
		caption = besideOthers
	}
	if devices := lines[len(lines)-1].device + 1; devices > plot.Colours {
		caption += fmt.Sprintf(" Drawn are the first %d of %d devices.", plot.Colours, devices)
	}
	s.Title, s.Lead = "Speed over the devices", offsetsSentence(lines)
	s.Answer = []document.Block{document.Gap{}, offsetsTable(lines), document.Sentence(numberedText(r.Targets))}
	s.Blocks = []document.Block{document.Gap{}, drawn(diagram, caption, all, nil)}
	return []document.Section{s}
}

// numberedText says which targets drive-1, drive-2 and so on are in the names of steps.
func numberedText(targets []record.RunTarget) string {
	texts := make([]string, len(targets))
	for i, t := range targets {
		texts[i] = fmt.Sprintf("drive-%d is %s", i+1, t.Path)
	}
	return "In the names of steps, " + strings.Join(texts, ", ") + "."
}

// disregardedText says how many steps may not decide, and why.
func disregardedText(n int, codes []string) string {
	if slices.Equal(codes, []string{record.WarnBrief}) {
		return fmt.Sprintf("%s took a few milliseconds, too short to be timed (%s)", units.Plural(n, "step"), record.WarnBrief)
	}
	return fmt.Sprintf("%s did not measure the drive alone (%s)", units.Plural(n, "step"), strings.Join(codes, ", "))
}

func offsetSentence(o record.OffsetSpeeds) string {
	if o.Fastest.BytesPerSecond == 0 {
		return fmt.Sprintf("The evenness of the speed is not known: %s.", disregardedText(o.Disregarded, o.Codes))
	}
	return fmt.Sprintf("The slowest place, at %s, reaches %s of the speed of the fastest, at %s: %s against %s.",
		units.DriveSize(o.Slowest.OffsetBytes), units.Percent(o.Evenness), units.DriveSize(o.Fastest.OffsetBytes),
		units.Bandwidth(o.Slowest.BytesPerSecond), units.Bandwidth(o.Fastest.BytesPerSecond))
}

// offsetsSentence names the device that others slow down most, or says that no device is
// certainly slower. Without a comparison, it names the least even device.
func offsetsSentence(lines []offsetLine) string {
	var compared []record.OffsetSpeeds // with their speed alone, the slowest first
	var uneven *record.OffsetSpeeds
	for i := range lines {
		o := &lines[i].speeds
		if o.AgainstAlone != nil {
			compared = append(compared, *o)
		}
		if o.Beside == 0 && o.Fastest.BytesPerSecond > 0 && (uneven == nil || o.Evenness < uneven.Evenness) {
			uneven = o
		}
	}
	slices.SortStableFunc(compared, func(a, b record.OffsetSpeeds) int { return cmp.Compare(a.AgainstAlone.Value, b.AgainstAlone.Value) })
	slowed := slices.IndexFunc(compared, func(o record.OffsetSpeeds) bool { return o.AgainstAlone.Value < 1 && o.AgainstAlone.Excludes(1) })
	switch {
	case slowed >= 0:
		o, others := compared[slowed], "of all devices it is slowed down most"
		if slowed > 0 {
			others = compared[0].Target + " may be slowed down more"
		}
		return fmt.Sprintf("Beside %s, %s reads at %s of its speed alone over all its length (95 %% interval %s); %s.",
			units.Plural(o.Beside, "other"), o.Target, units.Percent(o.AgainstAlone.Value), intervalText(*o.AgainstAlone, units.Percent), others)
	case len(compared) > 0 && compared[0].AgainstAlone.Upper != nil:
		slowest, fastest := compared[0], compared[len(compared)-1]
		text := fmt.Sprintf("Beside %s, no device is certainly slower: each reads at %s to %s of its speed alone.",
			units.Plural(slowest.Beside, "other"), units.Percent(slowest.AgainstAlone.Value), units.Percent(fastest.AgainstAlone.Value))
		if uneven != nil {
			text += " The least even device is " + uneven.Target + ". " + offsetSentence(*uneven)
		}
		return text
	case uneven != nil:
		return "The least even device is " + uneven.Target + ". " + offsetSentence(*uneven)
	}
	var all record.OffsetSpeeds
	for _, l := range lines {
		all.Disregarded += l.speeds.Disregarded
		all.Codes = append(all.Codes, l.speeds.Codes...)
	}
	slices.Sort(all.Codes)
	all.Codes = slices.Compact(all.Codes)
	return offsetSentence(all)
}

// offsetsTable returns a row for each device, alone and beside others.
func offsetsTable(lines []offsetLine) document.Table {
	t := document.Table{
		Names: []string{"device", "beside", "slowest", "at", "fastest", "evenness", "of alone", "95 % interval", "others", "warnings"},
		Units: []string{"", "others", "MB/s", "", "MB/s", "", "", "", "MB/s", ""},
		Align: "lrrrrrrrrl",
	}
	for _, l := range lines {
		o := l.speeds
		beside, alone, interval, others := "", "", "", ""
		if o.Beside > 0 {
			beside, others = units.Count(o.Beside), units.Number(o.OthersBytesPerSecond/1e6)
		}
		if o.AgainstAlone != nil {
			alone, interval = units.Percent(o.AgainstAlone.Value), intervalText(*o.AgainstAlone, units.Percent)
		}
		var own []record.Warning
		for _, p := range o.Points {
			own = append(own, l.warnings[p.OffsetBytes]...)
		}
		slowest, at, fastest, evenness := none, none, none, none
		if o.Fastest.BytesPerSecond > 0 {
			slowest, at = units.Number(o.Slowest.BytesPerSecond/1e6), units.DriveSize(o.Slowest.OffsetBytes)
			fastest, evenness = units.Number(o.Fastest.BytesPerSecond/1e6), units.Percent(o.Evenness)
		}
		t.Add(o.Target, beside, slowest, at, fastest, evenness, alone, interval, others, warned(own))
	}
	return t
}

// offsetUnit returns the unit of an axis whose largest value is most bytes.
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

// offsetLine holds the speeds over one drive, alone or beside others.
type offsetLine struct {
	name     string // distinguishes it from other lines of the run; empty when there are none
	device   int    // the number of the device in the run, from 0
	speeds   record.OffsetSpeeds
	warnings map[int64][]record.Warning // by offset
}

// offsetLines returns the lines of a run.
func offsetLines(r record.RunReport) []offsetLine {
	if r.Analysis == nil {
		return nil
	}
	var all []offsetLine
	var devices []string
	for _, speeds := range r.Analysis.Offsets {
		if len(speeds.Points) == 0 {
			continue
		}
		if !slices.Contains(devices, speeds.Target) {
			devices = append(devices, speeds.Target)
		}
		line := offsetLine{name: speeds.Target, device: slices.Index(devices, speeds.Target), speeds: speeds, warnings: map[int64][]record.Warning{}}
		if speeds.Beside > 0 {
			line.name += ", beside " + units.Plural(speeds.Beside, "other")
		}
		for _, s := range measured(r.Steps) {
			w := s.Workload
			if w == nil || w.Pattern != record.Sequential || len(w.Beside) != speeds.Beside || len(w.Targets) > 1 ||
				len(w.Targets) == 1 && w.Targets[0] != speeds.Target {
				continue
			}
			line.warnings[w.OffsetBytes] = append(line.warnings[w.OffsetBytes], s.Warnings...)
		}
		all = append(all, line)
	}
	return all
}

// table returns a row for each place.
func (l offsetLine) table(name string, by float64) (document.Table, plot.Small) {
	small := plot.Small{Caption: "sequential speed in MB/s over the offset in " + name}
	t := document.Table{Names: []string{"offset", "speed", "", "warnings"}, Units: []string{name, "MB/s", "", ""}, Align: "rrll", Long: true}
	for _, p := range l.speeds.Points {
		at := units.Number(float64(p.OffsetBytes) / by)
		small.Add(p.BytesPerSecond/1e6, at)
		mark := ""
		switch {
		case l.speeds.Fastest.BytesPerSecond == 0:
		case p.OffsetBytes == l.speeds.Slowest.OffsetBytes:
			mark = "slowest"
		case p.OffsetBytes == l.speeds.Fastest.OffsetBytes:
			mark = "fastest"
		}
		t.Add(at, units.Number(p.BytesPerSecond/1e6), mark, warned(l.warnings[p.OffsetBytes]))
	}
	return t, small
}

// drawn returns the points of a line, in MB/s, over an offset in the given unit.
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
