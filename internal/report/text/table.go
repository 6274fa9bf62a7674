package text

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	gopretty "github.com/jedib0t/go-pretty/v6/text"

	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// table writes a table without borders. Columns are two spaces apart, as single spaces occur within cells. Rows are
// indented below the headings of their groups.
func (p *page) table(indent int, t document.Table) {
	leftOut, at := 0, 0
	if t.Long {
		t, leftOut, at = t.Bounded()
	}
	rowIndent := indent
	if t.Grouped() {
		rowIndent += 2
	}
	t = p.fitting(t, p.width-rowIndent)
	head, rows := p.folded(t, p.width-rowIndent)
	for _, line := range head {
		p.lines(rowIndent, line)
	}
	for i, row := range t.Rows {
		if leftOut > 0 && i == at {
			p.line(fmt.Sprintf("%*s… %s are left out here; the JSON has all of them", rowIndent, "", units.Plural(leftOut, "row")))
		}
		if g := row.Group; g != nil {
			p.note(indent, document.List("", g.Items()...))
			p.blocks(indent+4, g.Notes)
		}
		p.lines(rowIndent, rows[i])
		p.blocks(max(rowIndent+2, 4), row.Notes)
	}
}

// lines writes text that may have several lines.
func (p *page) lines(indent int, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		p.line(strings.Repeat(" ", indent) + line)
	}
}

// fitting returns a table without as many of its spare columns as it takes to fit on a narrow terminal. It returns the
// whole table when even that does not suffice.
func (p *page) fitting(t document.Table, room int) document.Table {
	if !p.narrow || len(t.Spare) == 0 {
		return t
	}
	less := t
	for _, spare := range t.Spare {
		if columnsOf(p.rendered(less)) <= room {
			break
		}
		less = less.Without(spare)
	}
	if columnsOf(p.rendered(less)) > room {
		return t
	}
	return less
}

// folded returns the lines of the header and those of the rows. On a narrow terminal, a header or row that does not
// fit continues on further lines.
func (p *page) folded(t document.Table, room int) (head, rows []string) {
	head, rows = p.rendered(t)
	if !p.narrow || columnsOf(head, rows) <= room || len(t.Align) < 2 {
		return head, rows
	}
	// Take as many columns as fit, but at least one.
	first := len(t.Align) - 1
	for ; first > 1; first-- {
		if columnsOf(p.rendered(part(t, 0, first))) <= room {
			break
		}
	}
	head, rows = p.rendered(part(t, 0, first))
	const further = "    "
	restHead, restRows := p.folded(part(t, first, len(t.Align)), room-len(further))
	join := func(a, b string) string {
		if strings.TrimSpace(b) == "" {
			return a
		}
		return a + "\n" + further + strings.ReplaceAll(b, "\n", "\n"+further)
	}
	for i := range rows {
		rows[i] = join(rows[i], restRows[i])
	}
	if len(head) == 2 { // the names and their units stay together
		return []string{head[0], head[1], further + strings.Join(restHead, "\n"+further)}, rows
	}
	return []string{join(head[0], restHead[0])}, rows
}

// part returns a table with some of its columns.
func part(t document.Table, from, to int) document.Table {
	some := document.Table{Names: t.Names[from:to], Align: t.Align[from:to]}
	if len(t.Units) > 0 {
		some.Units = t.Units[from:to]
	}
	for _, row := range t.Rows {
		some.Rows = append(some.Rows, document.Row{Cells: row.Cells[from:min(to, len(row.Cells))]})
	}
	return some
}

// columnsOf returns the width of the widest line, in columns.
func columnsOf(head, rows []string) int {
	widest := 0
	for _, line := range append(append([]string(nil), head...), rows...) {
		widest = max(widest, gopretty.StringWidthWithoutEscSequences(strings.TrimRight(line, " ")))
	}
	return widest
}

// rendered returns the lines of the header and those of the rows.
func (p *page) rendered(t document.Table) (head, rows []string) {
	w := table.NewWriter()
	w.SetStyle(table.Style{
		Name:   "plain",
		Box:    table.BoxStyle{PaddingRight: "  "},
		Format: table.FormatOptions{Header: gopretty.FormatDefault, Row: gopretty.FormatDefault},
	})
	columns := make([]table.ColumnConfig, len(t.Align))
	for i, letter := range t.Align {
		align := gopretty.AlignLeft
		if letter == 'r' {
			align = gopretty.AlignRight
		}
		columns[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	w.SetColumnConfigs(columns)
	count := 1
	w.AppendHeader(p.cells(t.Names))
	if len(t.Units) > 0 {
		w.AppendHeader(p.cells(t.Units))
		count++
	}
	for _, row := range t.Rows {
		w.AppendRow(p.cells(row.Cells))
	}
	// No cell holds a line break, so rows and lines correspond.
	lines := strings.Split(w.Render(), "\n")
	return lines[:count], lines[count:]
}

func (p *page) cells(texts []string) table.Row {
	row := make(table.Row, len(texts))
	for i, cell := range texts {
		row[i] = p.painted(clean(cell))
	}
	return row
}
