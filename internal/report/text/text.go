package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	gopretty "github.com/jedib0t/go-pretty/v6/text"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
)

// Write renders all blocks before it writes anything. what names them in an error.
func Write(w io.Writer, what string, blocks ...document.Block) error {
	p := page{screen: screenOf(w)}
	p.blocks(0, blocks)
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// page collects text in memory.
type page struct {
	screen
	b   strings.Builder
	gap bool // an empty line is due before the next one
}

func (p *page) blocks(indent int, blocks []document.Block) {
	for _, block := range blocks {
		p.block(indent, block)
	}
}

func (p *page) block(indent int, block document.Block) {
	switch b := block.(type) {
	case document.Gap:
		p.gap = p.b.Len() > 0
	case document.Note:
		p.note(indent, b)
	case document.Warnings:
		for _, w := range b {
			f := finding.OfWarning(w)
			p.note(indent, document.Note{Label: f.Severity.String() + ": ", Text: fmt.Sprintf("%s (%s)", f.Advised(), f.Code)})
		}
	case document.Facts:
		p.facts(indent, b.Known())
	case document.Table:
		p.table(indent, b.Used())
	case document.Plot:
		p.plot(indent, b)
	case document.Section:
		p.section(indent, b)
	case document.Code:
		for line := range strings.Lines(string(b)) {
			p.line(strings.Repeat(" ", indent) + clean(strings.TrimSuffix(line, "\n")))
		}
	}
}

// note writes a label and text, wrapped between words or between items. Double spaces are
// kept, as they may be part of a path.
func (p *page) note(indent int, n document.Note) {
	var chunks []string
	if n.Text != "" {
		chunks = strings.Split(n.Text, " ")
	}
	for i, item := range n.Items {
		if i < len(n.Items)-1 {
			item += ","
		}
		chunks = append(chunks, item)
	}
	label := clean(n.Label)
	if word, isState := strings.CutSuffix(label, ": "); isState {
		label = p.painted(word) + ": "
	}
	p.flow(strings.Repeat(" ", indent)+label, chunks)
}

// flow writes prefix and chunks. Further lines are aligned with the first chunk, or
// indented by four spaces when there is no prefix.
func (p *page) flow(prefix string, chunks []string) {
	indent := gopretty.StringWidthWithoutEscSequences(prefix)
	if indent == 0 {
		indent = 4
	}
	p.fold(prefix, indent, chunks)
}

// fold writes prefix and chunks, with further lines indented. A chunk is never broken.
func (p *page) fold(prefix string, indent int, chunks []string) {
	line, used := prefix, gopretty.StringWidthWithoutEscSequences(prefix)
	for i, chunk := range chunks {
		chunk = clean(chunk)
		room := utf8.RuneCountInString(chunk)
		switch {
		case i == 0:
		case used+1+room > p.width:
			p.line(line)
			line, used = strings.Repeat(" ", indent), indent
		default:
			line += " "
			used++
		}
		line += chunk
		used += room
	}
	p.line(line)
}

func (p *page) line(s string) {
	if p.gap {
		p.b.WriteByte('\n')
		p.gap = false
	}
	p.b.WriteString(strings.TrimRight(s, " ") + "\n")
}

// facts writes values in one column.
func (p *page) facts(indent int, facts document.Facts) {
	column := 0
	for _, f := range facts {
		column = max(column, utf8.RuneCountInString(f.Name)+2)
	}
	for _, f := range facts {
		p.note(indent, document.Note{Label: f.Name + strings.Repeat(" ", column-utf8.RuneCountInString(f.Name)), Text: f.Value + f.More})
	}
}

func (p *page) plot(indent int, d document.Plot) {
	if d.Small == nil {
		return
	}
	for line := range strings.Lines(d.Small.Text()) {
		p.line(strings.Repeat(" ", indent) + strings.TrimSuffix(line, "\n"))
	}
}

func (p *page) section(indent int, s document.Section) {
	if s.Title != "" {
		p.note(indent, document.Sentence(s.Title))
	}
	if indent += s.Indent; s.Indent == 0 {
		indent += 2
	}
	if s.Lead != "" {
		p.note(indent, document.Sentence(s.Lead))
	}
	p.blocks(indent, s.Answer)
	p.blocks(indent, s.Blocks)
}

// clean returns a text from outside without characters that must not be shown.
func clean(s string) string { return printable.Text(s) }
