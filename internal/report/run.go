package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Run writes a run report as text: what was run where and the conclusion, the warnings,
// the conditions, a table with a row per step and direction, and the analysis with small
// plots. A percentile based on too few I/Os (see record.Supported) has a "~" before it.
// CPU is in percent of one CPU.
func Run(w io.Writer, r record.RunReport) error {
	blocks := []document.Block{document.Sentence(runTitle(r) + ", " + strings.Join(runAbout(r), ", "))}
	all := sections(r)
	if len(r.Steps) > 0 {
		blocks = append(blocks, document.Sentence(leadOf(r, all)))
	}
	blocks = append(blocks, document.Gap{}, document.Warnings(r.Warnings))
	if doubt := doubtSentence(r); doubt != "" {
		blocks = append(blocks, document.Note{Label: "warning: ", Text: doubt})
	}
	blocks = append(blocks, document.Gap{}, runFacts(r), document.Gap{})
	if len(r.Steps) == 0 {
		return text.Write(w, "run report", append(blocks, document.Sentence("Nothing was measured."))...)
	}
	blocks = append(blocks, runTable(r)...)
	for _, s := range all {
		blocks = append(blocks, document.Gap{}, s)
	}
	return text.Write(w, "run report", blocks...)
}

// leadOf returns the answer to the suite's question in a sentence, or else the best
// figures.
func leadOf(r record.RunReport, all []document.Section) string {
	for _, s := range all {
		if s.Lead != "" && !s.Minor {
			return s.Lead
		}
	}
	return bestSentence(r)
}

func runTitle(r record.RunReport) string { return r.Suite + " on " + r.TargetText() }

// runAbout returns when the run was, and its size: "3 steps in 31.4 s".
func runAbout(r record.RunReport) []string {
	steps := units.Plural(len(r.Steps), "step")
	if r.Finished.After(r.Started) {
		steps += " in " + units.Span(r.Finished.Sub(r.Started))
	}
	return []string{units.Time(r.Started), steps}
}

func runFacts(r record.RunReport) document.Facts {
	device := DeviceText(r.Device)
	if device == "" {
		device = "not known"
	} else if r.Device.Name != "" && device != r.Device.Name {
		device += " (" + r.Device.Name + ")"
	}
	facts := document.Facts{
		{Name: "device", Value: device},
		{Name: "target id", Value: r.TargetID},
		{Name: "file", Value: fileText(r.File)},
	}
	// The report knows more of these than the conditions say, or has said it with the device.
	known := map[string]string{"model": "", "firmware": "", "transport": r.Device.Transport, "engine": r.Engine}
	if r.Device.Link != nil {
		known["pcie_link"] = LinkText(*r.Device.Link)
	}
	for _, c := range r.Conditions.List() {
		if value, ok := known[c.Name]; ok {
			c.Value = value
		}
		facts = append(facts, document.Fact{Name: record.ConditionTitle(c.Name), Value: c.Value})
	}
	return append(facts, document.Fact{Name: "measured by", Value: measuredBy(r)})
}

// fileText describes the file: "1 GiB, made for this run"; empty for a raw device.
func fileText(f *record.RunFile) string {
	switch {
	case f == nil:
		return ""
	case f.Reused:
		return units.BlockSize(f.Bytes) + ", there before this run"
	default:
		return units.BlockSize(f.Bytes) + ", made for this run"
	}
}

func measuredBy(r record.RunReport) string {
	if r.Node == "" {
		return r.Generator
	}
	return strings.TrimSpace(r.Generator + " on " + r.Node)
}

func runTable(r record.RunReport) []document.Block {
	unit := units.LatencyUnitFor(lowestMedian(r))
	t := document.Table{
		Names: []string{"", "IOPS", "MB/s", "min", "mean", "p50", "p95", "p99", "p99.9", "max", "CPU", "errors"},
		Units: []string{"", "", "", unit.Name, unit.Name, unit.Name, unit.Name, unit.Name, unit.Name, unit.Name, "%", ""},
		Align: "lrrrrrrrrrrr",
	}
	unsure := false
	for _, step := range r.Steps {
		rows, anyUnsure := stepRows(step, unit)
		t.Rows = append(t.Rows, rows...)
		unsure = unsure || anyUnsure
	}
	blocks := []document.Block{t}
	if unsure {
		blocks = append(blocks, document.Gap{}, unsureNote())
	}
	return blocks
}

// unsureNote explains the "~".
func unsureNote() document.Note {
	return document.Note{
		Label: "~ ", Text: fmt.Sprintf("fewer than %d I/Os lie above this percentile, so it is only a hint; measure longer.", record.MinimumAbove),
	}
}

// lowestMedian returns the lowest median latency. It decides the unit of all latencies in
// the table: small values keep their digits, large ones get more of them.
func lowestMedian(r record.RunReport) time.Duration {
	var lowest time.Duration
	for _, s := range Summarise(r) {
		if s.P50 > 0 && (lowest == 0 || s.P50 < lowest) {
			lowest = s.P50
		}
	}
	return lowest
}

// stepRows returns the rows of a step, with its plan above the first and its errors and
// warnings below the last. CPU and errors belong to the whole step, so only the first row
// has them.
func stepRows(step record.Step, unit units.LatencyUnit) (rows []document.Row, unsure bool) {
	cpu, errors := none, units.Count(sum(step.Errors))
	if used := step.UserCPU + step.SystemCPU; used > 0 {
		cpu = units.Number(used * 100)
	}
	for _, part := range parts(step) {
		s := summarise(step, part)
		unsure = unsure || len(s.Unsure) > 0
		if step.Impossible() {
			s.Direction += " (impossible)"
		}
		rows = append(rows, document.Row{Cells: append(s.cells(unit), cpu, errors)})
		cpu, errors = "", ""
	}
	if len(rows) == 0 {
		empty := slices.Repeat([]string{none}, 10)
		empty[0] = noResult(step)
		rows = []document.Row{{Cells: append(empty, cpu, errors)}}
	}
	rows[0].Group = &document.Group{Name: step.Name, About: stepAbout(step)}
	last := &rows[len(rows)-1]
	if len(step.Errors) > 0 {
		last.Notes = append(last.Notes, document.List("errors: ", errorsList(step.Errors)...))
	}
	if len(step.Warnings) > 0 {
		last.Notes = append(last.Notes, document.Warnings(step.Warnings))
	}
	return rows, unsure
}

// stepAbout describes a step: "4 KiB random read, depth 1", "10 s", "381 200 I/Os".
func stepAbout(step record.Step) []string {
	var about []string
	if step.Plan != "" {
		about = append(about, step.Plan)
	}
	if step.Duration > 0 {
		about = append(about, units.Span(step.Duration))
	}
	var ios int64
	for _, part := range parts(step) {
		if part.direction != partSync {
			ios += part.result.IOs
		}
	}
	about = append(about, units.Count(ios)+" I/Os")
	if step.InterruptsPerIO >= 0 {
		about = append(about, units.Number(step.InterruptsPerIO)+" interrupts per I/O")
	}
	if step.InterruptsPerSecond > 0 {
		about = append(about, units.Number(step.InterruptsPerSecond)+" interrupts per second")
	}
	if step.Depth != nil && step.Depth.String() != "" {
		about = append(about, "depth seen by the kernel "+step.Depth.String())
	}
	for _, p := range step.Parts {
		if p.Depth != nil && p.Depth.String() != "" {
			about = append(about, "of "+p.Target+" "+p.Depth.String())
		}
	}
	return about
}

// cells returns the figures of a row, without those of the whole step.
func (s Summary) cells(unit units.LatencyUnit) []string {
	bandwidth := none
	if s.BytesPerSecond > 0 {
		bandwidth = units.Number(s.BytesPerSecond / 1e6)
	}
	iops := none
	if s.IOPS > 0 {
		iops = units.IOPS(s.IOPS)
	}
	latency := func(name string, d time.Duration) string {
		switch {
		case d <= 0:
			return none
		case slices.Contains(s.Unsure, name):
			return hintOf(true, unit.Format(d))
		default:
			return unit.Format(d)
		}
	}
	return []string{
		s.Direction, iops, bandwidth,
		latency("min", s.Min), latency("mean", s.Mean), latency("p50", s.P50), latency("p95", s.P95),
		latency("p99", s.P99), latency("p99.9", s.P999), latency("max", s.Max),
	}
}

// errorsList lists errnos by name: "EIO 3", "ENODATA 1".
func errorsList(errors map[string]int64) []string {
	var texts []string
	for _, errno := range slices.Sorted(maps.Keys(errors)) {
		texts = append(texts, errno+" "+units.Count(errors[errno]))
	}
	return texts
}

func sum(counts map[string]int64) int64 {
	var n int64
	for _, count := range counts {
		n += count
	}
	return n
}
