package document

import "slices"

// Table is a table with one unit per column, which the header names. Renderers leave out
// empty columns.
type Table struct {
	Names []string
	Units []string // nil when no column has one
	Align string   // a letter per column: l for text, r for numbers
	Rows  []Row
	// Spare names the columns that a narrow terminal may leave out, in the order in which
	// they go.
	Spare []string
	// Long says that text output may leave out the middle of the table too.
	Long bool
}

// Row is one line of a table.
type Row struct {
	// Group starts a group of rows; nil for a row that continues the group before.
	Group *Group
	Cells []string
	// Notes are about the row, and follow it.
	Notes []Block
}

// Group is the heading of rows that belong together.
type Group struct {
	Name  string
	About []string
	Notes []Block
}

// Without returns the table without a column.
func (t Table) Without(name string) Table {
	i := slices.Index(t.Names, name)
	if i < 0 {
		return t
	}
	t.Names, t.Align = slices.Delete(slices.Clone(t.Names), i, i+1), t.Align[:i]+t.Align[i+1:]
	if len(t.Units) > 0 {
		t.Units = slices.Delete(slices.Clone(t.Units), i, i+1)
	}
	rows := slices.Clone(t.Rows)
	for k := range rows {
		if i < len(rows[k].Cells) {
			rows[k].Cells = slices.Delete(slices.Clone(rows[k].Cells), i, i+1)
		}
	}
	t.Rows = rows
	return t
}

// Add appends a row, and returns it.
func (t *Table) Add(cells ...string) *Row {
	t.Rows = append(t.Rows, Row{Cells: cells})
	return &t.Rows[len(t.Rows)-1]
}

// Grouped reports whether any row starts a group.
func (t Table) Grouped() bool {
	for _, r := range t.Rows {
		if r.Group != nil {
			return true
		}
	}
	return false
}

const (
	// mostRows is the largest number of rows shown. Beyond that, people want the JSON and a
	// program.
	mostRows = 200
	// lastRows is how many of them are taken from the end of a longer table.
	lastRows = 50
)

// Bounded leaves out rows in the middle of a long table. leftOut rows are missing before row
// at. Groups stay whole.
func (t Table) Bounded() (short Table, leftOut, at int) {
	if len(t.Rows) <= mostRows {
		return t, 0, 0
	}
	at, end := mostRows-lastRows, len(t.Rows)-lastRows
	if t.Grouped() {
		for at > 0 && t.Rows[at].Group == nil {
			at--
		}
		for end < len(t.Rows) && t.Rows[end].Group == nil {
			end++
		}
	}
	short = t
	short.Rows = append(append([]Row(nil), t.Rows[:at]...), t.Rows[end:]...)
	return short, end - at, at
}

// Used returns the table without its empty columns.
func (t Table) Used() Table {
	used := make([]bool, len(t.Align))
	for _, row := range t.Rows {
		for i, cell := range row.Cells {
			used[i] = used[i] || cell != ""
		}
	}
	only := func(cells []string) []string {
		var left []string
		for i, cell := range cells {
			if used[i] {
				left = append(left, cell)
			}
		}
		return left
	}
	shown := Table{Names: only(t.Names), Units: only(t.Units), Spare: t.Spare, Long: t.Long}
	for i := range t.Align {
		if used[i] {
			shown.Align += t.Align[i : i+1]
		}
	}
	for _, row := range t.Rows {
		row.Cells = only(row.Cells)
		shown.Rows = append(shown.Rows, row)
	}
	return shown
}

// Items returns the group as one list: "qd1: 4 KiB random read", "10 s".
func (g Group) Items() []string {
	if len(g.About) == 0 {
		return []string{g.Name}
	}
	return append([]string{g.Name + ": " + g.About[0]}, g.About[1:]...)
}
