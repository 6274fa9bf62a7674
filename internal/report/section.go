package report

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// section is one thing that a run comes to: what it says in a sentence, the plots
// that show it and the figures. Text and HTML are made of the same sections.
type section struct {
	id, title string
	// lead is one sentence; it stands in the summary too, and that of the first
	// section which answers what the suite asks is the summary.
	lead  string
	minor bool     // answers something beside
	notes []string // sentences below it
	plots []picture
	// small draws the most telling plot for a terminal; nil when there is none.
	small func() string
	table *sheet
}

// picture is a plot with what is to be known about it.
type picture struct {
	caption  string
	svg      template.HTML
	warnings []record.Warning // of the steps that it shows
	// hollow says what hollow points mean; empty when there are none.
	hollow string
}

// hollowWarned is what they mean where nothing else is said.
const hollowWarned = "Hollow points have warnings."

// pictured makes a picture of points, those with warnings hollow.
func pictured(svg template.HTML, caption string, warnings []record.Warning) picture {
	p := picture{svg: svg, caption: caption, warnings: ofAKind(warnings)}
	if len(warnings) > 0 {
		p.hollow = hollowWarned
	}
	return p
}

// sheet is a table: one unit per column, named in the header.
type sheet struct {
	header [2][]string // names and units
	align  string      // a letter per column: l for text, r for numbers
	rows   []sheetRow
}

type sheetRow struct {
	cells []string
	// notes are sentences about the row.
	notes []string
}

func (s *sheet) add(cells ...string) *sheetRow {
	s.rows = append(s.rows, sheetRow{cells: cells})
	return &s.rows[len(s.rows)-1]
}

const (
	// mostRows bounds a table. Beyond that people want the JSON and a program.
	mostRows = 200
	// lastRows are those of them that the end of a longer table gets.
	lastRows = 50
)

// bounded leaves rows out in the middle of a long table, and says how many.
func (s sheet) bounded() (rows []sheetRow, leftOut, at int) {
	if len(s.rows) <= mostRows {
		return s.rows, 0, 0
	}
	at = mostRows - lastRows
	rows = append(rows, s.rows[:at]...)
	return append(rows, s.rows[len(s.rows)-lastRows:]...), len(s.rows) - mostRows, at
}

// used tells which columns hold something.
func (s sheet) used(rows []sheetRow) []bool {
	used := make([]bool, len(s.align))
	for _, row := range rows {
		for i, cell := range row.cells {
			used[i] = used[i] || cell != ""
		}
	}
	return used
}

// only leaves the cells of the columns that are used.
func only(cells []string, used []bool) []string {
	var all []string
	for i, cell := range cells {
		if used[i] {
			all = append(all, cell)
		}
	}
	return all
}

// sections are all that the run has something to say about, the weightiest first.
func sections(r record.RunReport) []section {
	var all []section
	for _, build := range []func(record.RunReport) []section{
		steadySection, syncSection, scalingSections, depthSections, offsetSection, effectSection,
		sheetSection, repeatSection, boundSection, interruptSection, targetSection,
	} {
		all = append(all, build(r)...)
	}
	return all
}

// warned are the codes of warnings in one cell.
func warned(warnings []record.Warning) string {
	text := ""
	seen := map[string]bool{}
	for _, w := range warnings {
		if !seen[w.Code] {
			seen[w.Code] = true
			if text != "" {
				text += ", "
			}
			text += w.Code
		}
	}
	return text
}

// measured are the steps that came to their end with figures.
func measured(steps []record.Step) []record.Step {
	var all []record.Step
	for _, s := range steps {
		short := false
		for _, w := range s.Warnings {
			short = short || w.Code == record.WarnShort
		}
		if !short && (s.Read != nil || s.Write != nil) {
			all = append(all, s)
		}
	}
	return all
}

// once leaves out warnings that were there before.
func once(warnings []record.Warning) []record.Warning {
	var all []record.Warning
	seen := map[record.Warning]bool{}
	for _, w := range warnings {
		if !seen[w] {
			seen[w] = true
			all = append(all, w)
		}
	}
	return all
}

// ofAKind leaves one warning of each kind, which says how many there are: below a plot
// of thirty steps, thirty that differ in a figure hide the plot. All stand with the steps.
func ofAKind(warnings []record.Warning) []record.Warning {
	var all []record.Warning
	more := map[string]int{}
	for _, w := range once(warnings) {
		if slices.ContainsFunc(all, func(earlier record.Warning) bool { return earlier.Code == w.Code }) {
			more[w.Code]++
			continue
		}
		all = append(all, w)
	}
	for i, w := range all {
		if n := more[w.Code]; n > 0 {
			all[i].Text += fmt.Sprintf(" And %d more of this kind, which stand with the steps.", n)
		}
	}
	return all
}

// rateIn writes a rate in the unit of an analysis, "IOPS" or "B/s".
func rateIn(unit string, v float64) string {
	if unit == "B/s" {
		return units.Bandwidth(v)
	}
	return units.IOPS(v) + " IOPS"
}

// rateColumn is the unit in which a column or an axis shows rates, and what divides
// them.
func rateColumn(unit string) (name string, by float64) {
	if unit == "B/s" {
		return "MB/s", 1e6
	}
	return "IOPS", 1
}

// intervalText writes the bounds of an interval: "12 100 to 12 900"; "-" when there
// is none.
func intervalText(i record.Interval, write func(float64) string) string {
	if i.Lower == nil || i.Upper == nil {
		return none
	}
	return write(*i.Lower) + " to " + write(*i.Upper)
}
