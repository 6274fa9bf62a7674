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
		if len(e.field.about().keys) == 0 {
			e.row(&b, "")
			continue
		}
		fmt.Fprintf(&sections, "\n### %s\n\n%s\n\n%s", e.key, strings.ReplaceAll(e.effect(), "\n", "\n\n"), tableHead)
		e.inner(&sections, "")
	}
	return b.String() + sections.String()
}

const tableHead = "| key | type | default | valid | effect |\n|---|---|---|---|---|\n"

// inner writes the rows of the keys in a section or in the items of a list.
func (e entry) inner(b *strings.Builder, in string) {
	a, name := e.field.about(), join(in, e.key)
	if a.isList {
		name += "[]"
	}
	for _, key := range a.keys {
		key.row(b, name)
		key.inner(b, name)
	}
}

func (e entry) row(b *strings.Builder, in string) {
	a := e.field.about()
	cells := []string{"`" + strings.TrimPrefix(in+"."+e.key, ".") + "`", a.kind, e.standard(), a.says, strings.ReplaceAll(e.effect(), "\n", "<br>")}
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// effect is what the key does.
func (e entry) effect() string {
	if e.field.about().atStart {
		return e.help + " A change needs a restart."
	}
	return e.help
}

// standard is the default value, as the file has it.
func (e entry) standard() string {
	node := e.field.write(none)
	switch {
	case e.field.about().required:
		return "required"
	case node == nil:
		return "none"
	case len(node.Content) > 0 && len(node.Content[0].Content) > 0:
		return "see deploy/ssdprobe.yaml"
	case node.Value != "":
		return "`" + node.Value + "`"
	}
	text, err := json.Marshal(plain(node))
	if err != nil {
		return err.Error() // a test compares the document
	}
	return "`" + string(text) + "`"
}
