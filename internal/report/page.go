package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// pageWidth is where sentences are wrapped. Tables and single words, ids above
// all, are never cut.
const pageWidth = 118

// page gathers text in memory, so that a report is written whole or not at all.
type page struct{ b strings.Builder }

func (p *page) writeTo(w io.Writer, what string) error {
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

func (p *page) blank() { p.b.WriteByte('\n') }

// sentence writes prefix and words, wrapped between words. Double spaces stay:
// they may be part of a path.
func (p *page) sentence(prefix, words string) { p.flow(prefix, strings.Split(words, " ")) }

// list writes prefix and items, separated by commas and wrapped between items.
func (p *page) list(prefix string, items []string) {
	chunks := slices.Clone(items)
	for i := range len(chunks) - 1 {
		chunks[i] += ","
	}
	p.flow(prefix, chunks)
}

// flow writes prefix and chunks, further lines hanging under the first chunk, or
// by four spaces when there is no prefix. A chunk is never broken.
func (p *page) flow(prefix string, chunks []string) {
	line, used := prefix, utf8.RuneCountInString(prefix)
	indent := used
	if indent == 0 {
		indent = 4
	}
	for i, chunk := range chunks {
		chunk = clean(chunk)
		width := utf8.RuneCountInString(chunk)
		switch {
		case i == 0:
		case used+1+width > pageWidth:
			p.line(line)
			line, used = strings.Repeat(" ", indent), indent
		default:
			line += " "
			used++
		}
		line += chunk
		used += width
	}
	p.line(line)
}

func (p *page) line(s string) { p.b.WriteString(strings.TrimRight(s, " ") + "\n") }

// warnings writes one sentence per warning, its code last.
func (p *page) warnings(indent string, warnings []record.Warning) {
	for _, w := range warnings {
		p.sentence(indent+"warning: ", fmt.Sprintf("%s (%s)", finding.Advised(w), w.Code))
	}
}

// grid is a table whose rows may have sentences around them.
type grid struct {
	header [][]string
	align  string // a letter per column: l for text, r for numbers
	indent string
	rows   []gridRow
}

type gridRow struct {
	above func(*page) // may be nil
	cells []string
	below func(*page) // may be nil
}

// grid writes a table without borders: columns two spaces apart, as single
// spaces occur within cells.
func (p *page) grid(g grid) {
	t := table.NewWriter()
	t.SetStyle(gridStyle())
	t.SetColumnConfigs(g.columns())
	for _, cells := range g.header {
		t.AppendHeader(tableRow(cells))
	}
	for _, row := range g.rows {
		t.AppendRow(tableRow(row.cells))
	}
	// No cell holds a line break, so rows and lines correspond.
	lines := strings.Split(t.Render(), "\n")
	head := len(g.header)
	for _, line := range lines[:head] {
		p.line(g.indent + line)
	}
	for i, row := range g.rows {
		if row.above != nil {
			row.above(p)
		}
		p.line(g.indent + lines[head+i])
		if row.below != nil {
			row.below(p)
		}
	}
}

func (g grid) columns() []table.ColumnConfig {
	columns := make([]table.ColumnConfig, len(g.align))
	for i, letter := range g.align {
		align := text.AlignLeft
		if letter == 'r' {
			align = text.AlignRight
		}
		columns[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	return columns
}

func gridStyle() table.Style {
	return table.Style{
		Name:   "plain",
		Box:    table.BoxStyle{PaddingRight: "  "},
		Format: table.FormatOptions{Header: text.FormatDefault, Row: text.FormatDefault},
	}
}

func tableRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, cell := range cells {
		row[i] = clean(cell)
	}
	return row
}

// clean is what may be shown of a text from outside.
func clean(s string) string { return printable.Text(s) }
