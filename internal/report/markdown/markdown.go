package markdown

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
)

// Write writes pages one below the other. It renders them before it writes anything.
func Write(w io.Writer, pages ...document.Page) error {
	var b strings.Builder
	for i, p := range pages {
		if i > 0 {
			b.WriteString("\n---\n\n")
		}
		page(&b, p)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}

func page(b *strings.Builder, p document.Page) {
	fmt.Fprintf(b, "# %s\n\n%s\n", escaped(p.Title), escaped(strings.Join(p.About, " · ")))
	paragraph(b, bold(p.Lead))
	for i, point := range p.Points {
		if i == 0 {
			b.WriteByte('\n')
		}
		item(b, escaped(point.Text))
	}
	paragraph(b, escaped(p.Doubt))
	block(b, 2, p.Warnings)
	for _, s := range p.Sections {
		section(b, 2, s)
	}
	paragraph(b, escaped(p.Foot))
}

// section writes the parts of a section that Markdown can represent, or nothing when there are
// none.
func section(b *strings.Builder, level int, s document.Section) {
	if s.Folded {
		return
	}
	var inside strings.Builder
	paragraph(&inside, escaped(s.Lead))
	for _, one := range slices.Concat(s.Answer, s.Blocks) {
		block(&inside, level+1, one)
	}
	if inside.Len() == 0 {
		return
	}
	if s.Title != "" {
		fmt.Fprintf(b, "\n%s %s\n", strings.Repeat("#", level), escaped(s.Title))
	}
	b.WriteString(inside.String())
}

func block(b *strings.Builder, level int, one document.Block) {
	switch v := one.(type) {
	case document.Note:
		paragraph(b, escaped(v.Label+v.Text+strings.Join(v.Items, ", ")))
	case document.Warnings:
		for i, w := range v {
			if i == 0 {
				b.WriteByte('\n')
			}
			f := finding.OfWarning(w)
			item(b, "**"+f.Severity.String()+":** "+escaped(f.Advised())+" (`"+f.Code+"`)")
		}
	case document.Facts:
		rows := document.Table{Names: []string{"", ""}, Align: "ll"}
		for _, f := range v.Known() {
			rows.Add(f.Name, f.Value+f.More)
		}
		table(b, level, rows)
	case document.Table:
		table(b, level, v)
	case document.Section:
		section(b, level, v)
	case document.Code:
		b.WriteByte('\n')
		for line := range strings.Lines(string(v)) {
			b.WriteString("    " + printable.Text(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
}

// table writes a table. Each row repeats the name of its group, so that it can be read alone. The
// notes on groups and rows follow the table.
func table(b *strings.Builder, level int, t document.Table) {
	t = t.Used()
	if len(t.Rows) == 0 {
		return
	}
	short, leftOut, at := t.Bounded()
	grouped := short.Grouped()
	cells := func(group string, cells []string) {
		if grouped {
			cells = append([]string{group}, cells...)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	b.WriteByte('\n')
	names := make([]string, len(short.Names))
	for i, name := range short.Names {
		names[i] = escaped(name)
		if i < len(short.Units) && short.Units[i] != "" {
			names[i] = strings.TrimSpace(names[i] + " " + escaped(short.Units[i]))
		}
	}
	cells("", names)
	rule := make([]string, len(short.Align))
	for i, side := range short.Align {
		rule[i] = "---"
		if side == 'r' {
			rule[i] = "---:"
		}
	}
	cells("---", rule)
	var notes strings.Builder
	group := ""
	about := func(who string, blocks []document.Block) {
		for _, one := range blocks {
			var text strings.Builder
			block(&text, level, one)
			for line := range strings.SplitSeq(text.String(), "\n") {
				if line = strings.TrimPrefix(line, "- "); line != "" {
					item(&notes, who+line)
				}
			}
		}
	}
	for i, row := range short.Rows {
		if leftOut > 0 && i == at {
			item(&notes, fmt.Sprintf("%d rows are left out; the JSON has all of them.", leftOut))
		}
		if row.Group != nil {
			group = escaped(row.Group.Name)
			if len(row.Group.About) > 0 {
				item(&notes, bold(row.Group.Name)+": "+escaped(strings.Join(row.Group.About, ", ")))
			}
			about(bold(row.Group.Name)+": ", row.Group.Notes)
		}
		line := make([]string, len(row.Cells))
		for k, c := range row.Cells {
			line[k] = escaped(c)
		}
		cells(group, line)
		who := cmp.Or(group, line[0]) // the notes follow the table, where nothing else says which row they are about
		if who != "" {
			who = "**" + who + "**: "
		}
		about(who, row.Notes)
	}
	if notes.Len() > 0 {
		b.WriteString("\n" + notes.String())
	}
}

// paragraph writes a text, and escapes a start that would make it a list or a heading.
func paragraph(b *strings.Builder, text string) {
	if text != "" {
		b.WriteString("\n" + regexp.MustCompile(`^([-+#]|\d+[.)])`).ReplaceAllString(text, `\$0`) + "\n")
	}
}

func item(b *strings.Builder, text string) { b.WriteString("- " + text + "\n") }

func bold(text string) string {
	if text == "" {
		return ""
	}
	return "**" + escaped(text) + "**"
}

// escaped returns a text on one line, with everything escaped that has a meaning in Markdown.
func escaped(text string) string {
	// Within a word only the characters that begin a tag, a link, code or a cell have a meaning.
	return regexp.MustCompile("[\\\\`*<>|~\\[\\]]|\\b_|_\\b").ReplaceAllString(printable.Text(text), `\$0`)
}
