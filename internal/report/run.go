package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Run writes a run report as text: what was run where and what it comes to, the
// warnings, the conditions, a table with a row per step and direction, and what the
// analysis says, with small plots. A percentile that
// too few I/Os stand for (see Supported) has a "~" before it. CPU is in percent
// of one CPU.
func Run(w io.Writer, r record.RunReport) error {
	var p page
	all := sections(r)
	p.sentence("", runHeadline(r))
	if len(r.Steps) > 0 {
		p.sentence("", leadOf(r, all))
	}
	p.blank()
	if p.runWarnings(r) {
		p.blank()
	}
	p.facts(runFacts(r))
	p.blank()
	if len(r.Steps) == 0 {
		p.line("Nothing was measured.")
		return p.writeTo(w, "run report")
	}
	p.runTable(r)
	for _, s := range all {
		p.blank()
		p.section(s)
	}
	return p.writeTo(w, "run report")
}

// leadOf is what the suite asked for in a sentence, or what was reached at best.
func leadOf(r record.RunReport, all []section) string {
	for _, s := range all {
		if s.lead != "" && !s.minor {
			return s.lead
		}
	}
	return bestSentence(r)
}

func runHeadline(r record.RunReport) string {
	text := fmt.Sprintf("%s on %s, %s, %s", r.Suite, runTarget(r), units.Time(r.Started), units.Plural(len(r.Steps), "step"))
	if r.Finished.After(r.Started) {
		text += " in " + units.Span(r.Finished.Sub(r.Started))
	}
	return text
}

// runTarget names the target, and says how many others there are.
func runTarget(r record.RunReport) string {
	if n := len(r.Targets); n > 1 {
		return fmt.Sprintf("%s and %d more", r.Target, n-1)
	}
	return r.Target
}

// runWarnings writes the warnings of the whole run, points to those of the
// steps, and reports whether there was any.
func (p *page) runWarnings(r record.RunReport) bool {
	p.warnings("", r.Warnings)
	marked := 0
	for _, step := range r.Steps {
		if len(step.Warnings) > 0 {
			marked++
		}
	}
	switch {
	case marked > 1 && marked == len(r.Steps):
		p.sentence("warning: ", fmt.Sprintf("All %d steps had warnings, shown below the figures.", marked))
	case marked > 0:
		p.sentence("warning: ", fmt.Sprintf("%d of %s had warnings, shown below the figures.", marked, units.Plural(len(r.Steps), "step")))
	}
	return marked > 0 || len(r.Warnings) > 0
}

func runFacts(r record.RunReport) []fact {
	c := r.Conditions
	link := c.PCIeLink
	if r.Device.Link != nil {
		link = linkText(*r.Device.Link)
	}
	filesystem := c.Filesystem
	if c.MountOptions != "" {
		filesystem += " (" + c.MountOptions + ")"
	}
	device := deviceText(r.Device)
	if device == "" {
		device = "not known"
	} else if r.Device.Name != "" && device != r.Device.Name {
		device += " (" + r.Device.Name + ")"
	}
	scheduler := c.Scheduler
	if scheduler != "" && c.NrRequests != "" {
		scheduler += ", nr_requests " + c.NrRequests
	}
	return []fact{
		{"device", device},
		{"target id", r.TargetID},
		{"file", fileText(r.File)},
		{"transport", r.Device.Transport},
		{"PCIe link", link},
		{"ASPM", c.ASPM},
		{"NUMA node", c.NUMANode},
		{"format", c.Format},
		{"scheduler", scheduler},
		{"polling", c.Polling},
		{"write cache", c.WriteCache},
		{"drive cache", c.DriveCache},
		{"coalescing", c.Coalescing},
		{"power state", c.PowerState},
		{"stack", c.Stack},
		{"filesystem", filesystem},
		{"governor", c.Governor},
		{"kernel", c.Kernel},
		{"engine", r.Engine},
		{"measured by", measuredBy(r)},
	}
}

// fileText is "1 GiB, made for this run"; empty for a raw device.
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

func (p *page) runTable(r record.RunReport) {
	unit := units.LatencyUnitFor(lowestMedian(r))
	g := grid{
		header: [][]string{
			{"", "IOPS", "MB/s", "min", "mean", "p50", "p95", "p99", "p99.9", "max", "CPU", "errors"},
			{"", "", "", unit.Name, unit.Name, unit.Name, unit.Name, unit.Name, unit.Name, unit.Name, "%", ""},
		},
		align: "lrrrrrrrrrrr", indent: "  ",
	}
	unsure := false
	for _, step := range r.Steps {
		rows, anyUnsure := stepRows(step, unit)
		g.rows = append(g.rows, rows...)
		unsure = unsure || anyUnsure
	}
	p.grid(g)
	if unsure {
		p.blank()
		p.sentence("~ ", fmt.Sprintf("fewer than %d I/Os lie above this percentile: a hint only; measure longer to know it.", minimumAbove))
	}
}

// lowestMedian decides the unit of all latencies of the table: small ones keep
// their digits, large ones get more of them.
func lowestMedian(r record.RunReport) time.Duration {
	var lowest time.Duration
	for _, s := range Summarise(r) {
		if s.P50 > 0 && (lowest == 0 || s.P50 < lowest) {
			lowest = s.P50
		}
	}
	return lowest
}

// stepRows returns the rows of a step: its plan above the first, its errors and
// warnings below the last. CPU and errors belong to the step, so they stand in
// the first row alone.
func stepRows(step record.Step, unit units.LatencyUnit) (rows []gridRow, unsure bool) {
	cpu, errors := none, units.Count(sum(step.Errors))
	if used := step.UserCPU + step.SystemCPU; used > 0 {
		cpu = units.Number(used * 100)
	}
	for _, part := range parts(step) {
		s := summarise(step, part)
		unsure = unsure || len(s.Unsure) > 0
		rows = append(rows, gridRow{cells: append(s.cells(unit), cpu, errors)})
		cpu, errors = "", ""
	}
	if len(rows) == 0 {
		empty := slices.Repeat([]string{none}, 10)
		empty[0] = "no result"
		rows = []gridRow{{cells: append(empty, cpu, errors)}}
	}
	rows[0].above = func(p *page) { p.list("", stepText(step)) }
	rows[len(rows)-1].below = func(p *page) {
		if len(step.Errors) > 0 {
			p.list("    errors: ", errorsList(step.Errors))
		}
		p.warnings("    ", step.Warnings)
	}
	return rows, unsure
}

// stepText says what a step did: "qd1: 4 KiB random read, depth 1, 10 s, 381 200 I/Os".
func stepText(step record.Step) []string {
	about := []string{step.Name}
	if step.Plan != "" {
		about[0] += ": " + step.Plan
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
	return about
}

// cells are the figures of a row up to the step's own.
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
			return "~" + unit.Format(d)
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
