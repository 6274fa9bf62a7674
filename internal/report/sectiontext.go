package report

import (
	"fmt"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

// section writes what HTML shows with plots, with a small plot where one helps.
func (p *page) section(s section) {
	p.sentence("", s.title)
	for _, sentence := range append([]string{s.lead}, s.notes...) {
		if sentence != "" {
			p.sentence("  ", sentence)
		}
	}
	if s.small != nil {
		if drawing := s.small(); drawing != "" {
			p.blank()
			for line := range strings.Lines(drawing) {
				p.line("  " + strings.TrimSuffix(line, "\n"))
			}
		}
	}
	if s.table != nil {
		p.blank()
		p.sheet(*s.table)
	}
}

// sheet writes a table without the columns that hold nothing.
func (p *page) sheet(s sheet) {
	rows, leftOut, at := s.bounded()
	used := s.used(rows)
	g := grid{indent: "  "}
	for i := range s.align {
		if used[i] {
			g.align += s.align[i : i+1]
		}
	}
	g.header = append(g.header, only(s.header[0], used))
	if len(s.header[1]) > 0 {
		g.header = append(g.header, only(s.header[1], used))
	}
	for i, row := range rows {
		v := gridRow{cells: only(row.cells, used)}
		if leftOut > 0 && i == at {
			v.above = func(p *page) {
				p.line(fmt.Sprintf("  … %s are left out here; the JSON has all of them", units.Plural(leftOut, "row")))
			}
		}
		if len(row.notes) > 0 {
			v.below = func(p *page) {
				for _, note := range row.notes {
					p.sentence("    ", note)
				}
			}
		}
		g.rows = append(g.rows, v)
	}
	p.grid(g)
}
