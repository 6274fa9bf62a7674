package html

import (
	"bytes"
	_ "embed" // for the page and its style
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// Write writes pages as one file. An error while rendering leaves w untouched.
func Write(w io.Writer, pages ...document.Page) error {
	t := template.New("page")
	render := func(b document.Block) (template.HTML, error) { return block(t, b) }
	if _, err := t.Funcs(template.FuncMap{"render": render, "join": strings.Join, "finding": finding.OfWarning}).Parse(pageText); err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	view := struct {
		Style template.CSS
		Pages []page
	}{Style: template.CSS(Style())}
	for i, p := range pages {
		view.Pages = append(view.Pages, page{p, i + 1})
	}
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	if _, err := io.WriteString(w, printable.Lines(b.String())); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// Style returns the style sheet of a page, for a server whose policy allows no other
// styles.
func Style() string { return pageStyle + "\n" + string(plot.Style()) }

// page is one of several pages in a file.
type page struct {
	document.Page
	number int
}

// Anchor returns the id of a section, or that of the page when section is empty.
func (p page) Anchor(section string) string {
	if section == "" {
		section = "top"
	}
	return fmt.Sprintf("run-%d-%s", p.number, section)
}

// block renders a block by the template for its kind.
func block(t *template.Template, block document.Block) (template.HTML, error) {
	var name string
	data := any(block)
	switch b := block.(type) {
	case document.Gap:
		return "", nil
	case document.Note:
		name = "note"
	case document.Warnings:
		name = "warnings"
	case document.Facts:
		name = "facts"
	case document.Plot:
		name = "plot"
	case document.Section:
		name = "section"
		if b.Folded {
			name = "folded"
		}
	case document.Code:
		name = "code"
	case document.Table:
		name, data = "table", newTable(b)
	default:
		return "", fmt.Errorf("no template for %T", block)
	}
	var text strings.Builder
	err := t.ExecuteTemplate(&text, name, data)
	return template.HTML(text.String()), err // the template has escaped it
}

// mostUnfolded is the largest number of rows for which a table beside a plot of the same
// figures is shown at once.
const mostUnfolded = 16

// table is the data of the table template.
type table struct {
	document.Table
	LeftOut, At, Columns int
	// Folded is how many rows are hidden until the reader opens the table; 0 when they are
	// shown.
	Folded int
}

func newTable(t document.Table) table {
	short, leftOut, at := t.Used().Bounded()
	shown := table{Table: short, LeftOut: leftOut, At: at, Columns: len(short.Names)}
	if t.Long && len(t.Rows) > mostUnfolded {
		shown.Folded = len(t.Rows)
	}
	return shown
}

// Right reports whether a column holds numbers.
func (t table) Right(column int) bool { return t.Align[column] == 'r' }
