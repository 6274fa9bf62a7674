package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// column is a column of the CSV, with its unit in the name.
type column struct {
	name string
	of   func(r record.RunReport, s record.Step, p *Summary) string
}

// CSV writes runs for spreadsheets and programs: a row for each step and direction, and a
// row without figures for a step that has none. Unknown values are empty.
func CSV(w io.Writer, documents ...Document) error {
	columns := runColumns()
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = c.name
	}
	rows := [][]string{head}
	for _, d := range documents {
		for _, step := range d.Report.Steps {
			figures := []*Summary{nil}
			if present := parts(step); len(present) > 0 && !step.Impossible() {
				figures = nil
				for _, p := range present {
					figures = append(figures, new(summarise(step, p)))
				}
			}
			for _, p := range figures {
				row := make([]string, len(columns))
				for i, c := range columns {
					row[i] = c.of(d.Report, step, p)
				}
				rows = append(rows, row)
			}
		}
	}
	return WriteCSV(w, rows)
}

// WriteCSV writes rows for spreadsheets and programs. It keeps spreadsheets from taking the name of a drive or a path for a
// formula.
func WriteCSV(w io.Writer, rows [][]string) error {
	for _, row := range rows {
		for i, cell := range row {
			if row[i] = printable.Text(cell); isFormula(row[i]) {
				row[i] = "'" + row[i]
			}
		}
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// isFormula reports whether a spreadsheet would evaluate a cell. It leaves negative numbers as they are.
func isFormula(cell string) bool {
	if cell == "" || !strings.ContainsRune("=+-@", rune(cell[0])) {
		return false
	}
	_, err := strconv.ParseFloat(cell, 64)
	return cell[0] != '-' || err != nil
}

// runColumns returns the columns in their order.
func runColumns() []column {
	ofRun := func(of func(r record.RunReport) string) func(record.RunReport, record.Step, *Summary) string {
		return func(r record.RunReport, _ record.Step, _ *Summary) string { return of(r) }
	}
	ofStep := func(of func(s record.Step) string) func(record.RunReport, record.Step, *Summary) string {
		return func(_ record.RunReport, s record.Step, _ *Summary) string { return of(s) }
	}
	measured := func(of func(s record.Step) string) func(record.RunReport, record.Step, *Summary) string {
		return ofStep(func(s record.Step) string {
			if s.Impossible() {
				return ""
			}
			return of(s)
		})
	}
	load := func(of func(w record.Workload) string) func(record.RunReport, record.Step, *Summary) string {
		return ofStep(func(s record.Step) string {
			if s.Workload == nil {
				return ""
			}
			return of(*s.Workload)
		})
	}
	figure := func(of func(p Summary) float64) func(record.RunReport, record.Step, *Summary) string {
		return func(_ record.RunReport, _ record.Step, p *Summary) string {
			if p == nil || of(*p) <= 0 {
				return ""
			}
			return digits(new(of(*p)))
		}
	}
	latency := func(of func(p Summary) time.Duration) func(record.RunReport, record.Step, *Summary) string {
		return figure(func(p Summary) float64 { return of(p).Seconds() })
	}
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []column{
		{"suite", ofRun(func(r record.RunReport) string { return r.Suite })},
		{"node", ofRun(func(r record.RunReport) string { return r.Node })},
		{"target", ofRun(func(r record.RunReport) string { return r.Target })},
		{"target_id", ofRun(func(r record.RunReport) string { return r.TargetID })},
		{"model", ofRun(func(r record.RunReport) string { return r.Conditions.Model })},
		{"firmware", ofRun(func(r record.RunReport) string { return r.Conditions.Firmware })},
		{"engine", ofRun(func(r record.RunReport) string { return r.Conditions.Engine })},
		{"run_started_utc", ofRun(func(r record.RunReport) string { return r.Started.UTC().Format("2006-01-02 15:04:05") })},
		{"step", ofStep(func(s record.Step) string { return s.Name })},
		{"series", ofStep(func(s record.Step) string { return s.Series })},
		{"plan", ofStep(func(s record.Step) string { return s.Plan })},
		{"block_bytes", load(func(w record.Workload) string { return whole(w.BlockBytes) })},
		{"queue_depth", load(func(w record.Workload) string { return strconv.Itoa(w.QueueDepth) })},
		{"jobs", load(func(w record.Workload) string { return strconv.Itoa(w.Jobs) })},
		{"offset_bytes", load(func(w record.Workload) string { return whole(w.OffsetBytes) })},
		{"targets_at_once", ofStep(func(s record.Step) string { return strconv.Itoa(max(1, len(s.Parts))) })},
		{"duration_seconds", ofStep(func(s record.Step) string { return digits(new(s.Duration.Seconds())) })},
		{"direction", func(_ record.RunReport, _ record.Step, p *Summary) string {
			if p == nil {
				return ""
			}
			return p.Direction
		}},
		{"ios", figure(func(p Summary) float64 { return float64(p.IOs) })},
		{"iops", figure(func(p Summary) float64 { return p.IOPS })},
		{"bytes_per_second", figure(func(p Summary) float64 { return p.BytesPerSecond })},
		{"latency_min_seconds", latency(func(p Summary) time.Duration { return p.Min })},
		{"latency_mean_seconds", latency(func(p Summary) time.Duration { return p.Mean })},
		{"latency_p50_seconds", latency(func(p Summary) time.Duration { return p.P50 })},
		{"latency_p95_seconds", latency(func(p Summary) time.Duration { return p.P95 })},
		{"latency_p99_seconds", latency(func(p Summary) time.Duration { return p.P99 })},
		{"latency_p99_9_seconds", latency(func(p Summary) time.Duration { return p.P999 })},
		{"latency_max_seconds", latency(func(p Summary) time.Duration { return p.Max })},
		{"percentiles_of_few_ios", func(_ record.RunReport, _ record.Step, p *Summary) string {
			if p == nil {
				return ""
			}
			return strings.Join(p.Unsure, " ")
		}},
		{"cpus_used", measured(func(s record.Step) string { return digits(new(s.UserCPU + s.SystemCPU)) })},
		{"interrupts_per_io", measured(func(s record.Step) string {
			if s.InterruptsPerIO < 0 {
				return ""
			}
			return digits(&s.InterruptsPerIO)
		})},
		{"interrupts_per_second", measured(func(s record.Step) string {
			if s.InterruptsPerSecond == 0 {
				return ""
			}
			return digits(&s.InterruptsPerSecond)
		})},
		{"queue_depth_seen", measured(func(s record.Step) string {
			if s.Depth == nil || s.Depth.Mean == 0 {
				return ""
			}
			return digits(&s.Depth.Mean)
		})},
		{"errors", ofStep(func(s record.Step) string { return strings.Join(errorsList(s.Errors), " ") })},
		{"warnings", ofStep(func(s record.Step) string { return warned(s.Warnings) })},
		{"run_warnings", ofRun(func(r record.RunReport) string { return warned(r.Warnings) })},
		{"parameters", ofRun(func(r record.RunReport) string {
			var set []string
			for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
				set = append(set, name+"="+r.Settings[name])
			}
			return strings.Join(set, " ")
		})},
	}
}

// digits formats a value for programs; empty when it is not known.
func digits(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 9, 64)
}
