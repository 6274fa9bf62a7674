package text

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	gopretty "github.com/jedib0t/go-pretty/v6/text"

	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// table writes a table without borders: columns two spaces apart, as single spaces
// occur within cells. Rows are indented below what stands above their groups.
func (p *page) table(indent int, t document.Table) {
	leftOut, at := 0, 0
	if t.Long {
		t, leftOut, at = t.Bounded()
	}
	head, rows := rendered(t)
	rowIndent := indent
	if t.Grouped() {
		rowIndent += 2
	}
	for _, line := range head {
		p.line(strings.Repeat(" ", rowIndent) + line)
	}
	for i, row := range t.Rows {
		if leftOut > 0 && i == at {
			p.line(fmt.Sprintf("%*s… %s are left out here; the JSON has all of them", rowIndent, "", units.Plural(leftOut, "row")))
		}
		if g := row.Group; g != nil {
			p.note(indent, document.List("", g.Items()...))
			p.blocks(indent+4, g.Notes)
		}
		p.line(strings.Repeat(" ", rowIndent) + rows[i])
		p.blocks(max(rowIndent+2, 4), row.Notes)
	}
}

// rendered are the lines of the header and those of the rows.
func rendered(t document.Table) (head, rows []string) {
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
	w.AppendHeader(cells(t.Names))
	if len(t.Units) > 0 {
		w.AppendHeader(cells(t.Units))
		count++
	}
	for _, row := range t.Rows {
		w.AppendRow(cells(row.Cells))
	}
	// No cell holds a line break, so rows and lines correspond.
	lines := strings.Split(w.Render(), "\n")
	return lines[:count], lines[count:]
}

func cells(texts []string) table.Row {
	row := make(table.Row, len(texts))
	for i, cell := range texts {
		row[i] = clean(cell)
	}
	return row
}
