package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Reference returns tables of all keys with their types, defaults, limits and effects, in
// Markdown: the part of docs/configuration.md that is made from the form.
func Reference() string {
	c := Default()
	var b, sections strings.Builder
	b.WriteString(tableHead)
	for _, e := range c.form() {
		rows := e.inner(e.key)
		if len(rows) == 0 {
			b.WriteString(e.row(""))
			continue
		}
		fmt.Fprintf(&sections, "\n### %s\n\n%s\n\n%s", e.key, strings.ReplaceAll(e.effect(), "\n", "\n\n"), tableHead)
		for _, r := range rows {
			sections.WriteString(r)
		}
	}
	return b.String() + sections.String()
}

const tableHead = "| key | type | default | valid | effect |\n|---|---|---|---|---|\n"

// inner are the rows of the keys in a section or in the items of a list.
func (e entry) inner(name string) []string {
	f := e.field
	if fixed, ok := f.(atStart); ok {
		f = fixed.field
	}
	var rows []string
	if l, ok := f.(interface{ item() field }); ok {
		f, name = l.item(), name+"[]"
	}
	for _, inner := range keysOf(f) {
		rows = append(rows, inner.row(name))
		rows = append(rows, inner.inner(join(name, inner.key))...)
	}
	return rows
}

// keysOf are the entries of a section.
func keysOf(f field) section {
	switch s := f.(type) {
	case section:
		return s
	case filled:
		return s.section
	default:
		return nil
	}
}

// item is one of the list of which nothing is given yet.
func (l list[T]) item() field {
	v := l.fresh()
	return l.form(&v)
}

func (e entry) row(in string) string {
	name := e.key
	if in != "" {
		name = in + "." + name
	}
	cells := []string{"`" + name + "`", e.field.kind(), e.standard(), e.field.says(), strings.ReplaceAll(e.effect(), "\n", "<br>")}
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// effect is what the key does.
func (e entry) effect() string {
	if _, ok := e.field.(atStart); ok {
		return e.help + " A change needs a restart."
	}
	return e.help
}

// standard is the default value, as the file has it.
func (e entry) standard() string {
	if v, ok := e.field.(interface{ required() bool }); ok && v.required() {
		return "required"
	}
	node := e.field.write(none)
	if node == nil {
		return "none"
	}
	if len(node.Content) > 0 && len(node.Content[0].Content) > 0 {
		return "see deploy/ssdprobe.yaml"
	}
	text, err := json.Marshal(plain(node))
	if err != nil {
		return err.Error() // a test compares the document
	}
	value := string(text)
	if word := node.Value; word != "" {
		value = word
	}
	return "`" + value + "`"
}
