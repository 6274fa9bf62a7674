package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// reference returns tables of all keys with their types, defaults, limits and effects, in Markdown.
func reference() (string, error) {
	var b, sections strings.Builder
	b.WriteString(tableHead)
	for _, k := range config.Keys() {
		if len(k.Keys) == 0 {
			if err := row(&b, k, ""); err != nil {
				return "", err
			}
			continue
		}
		fmt.Fprintf(&sections, "\n### %s\n\n%s\n\n%s", k.Name, strings.ReplaceAll(effect(k), "\n", "\n\n"), tableHead)
		if k.IsList {
			list := k
			list.Help, list.AtStart = "A list. Its items have the keys below.", false // what it is for is said above the table
			if err := row(&sections, list, ""); err != nil {
				return "", err
			}
		}
		if err := inner(&sections, k, ""); err != nil {
			return "", err
		}
		items(&sections, k)
	}
	return b.String() + sections.String(), nil
}

const tableHead = "| key | type | default | valid | effect |\n|---|---|---|---|---|\n"

// inner writes the rows of the keys in a section or in the items of a list.
func inner(b *strings.Builder, k config.Key, in string) error {
	name := strings.TrimPrefix(in+"."+k.Name, ".")
	if k.IsList {
		name += "[]"
	}
	for _, key := range k.Keys {
		if err := row(b, key, name); err != nil {
			return err
		}
		if err := inner(b, key, name); err != nil {
			return err
		}
	}
	return nil
}

// items writes a table of the items that a list has by default, if there are any: a row for each.
func items(b *strings.Builder, k config.Key) {
	if !k.IsList || len(k.Default.Content) == 0 {
		return
	}
	b.WriteString("\nThe default:\n\n|")
	for _, key := range k.Keys {
		b.WriteString(" " + key.Name + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(k.Keys)) + "\n")
	for _, item := range k.Default.Content {
		b.WriteString("|")
		for pair := range slices.Chunk(item.Content, 2) {
			b.WriteString(" `" + pair[1].Value + "` |")
		}
		b.WriteString("\n")
	}
}

func row(b *strings.Builder, k config.Key, in string) error {
	value, err := standard(k)
	if err != nil {
		return err
	}
	cells := []string{"`" + strings.TrimPrefix(in+"."+k.Name, ".") + "`", k.Kind, value, k.Valid, strings.ReplaceAll(effect(k), "\n", "<br>")}
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	return nil
}

// effect returns what the key does. The documents that it names are links.
func effect(k config.Key) string {
	help := regexp.MustCompile(`docs/([a-z-]+\.md)(#[a-z-]+)?`).ReplaceAllString(k.Help, "[$1]($1$2)")
	if k.AtStart {
		return help + " A change needs a restart."
	}
	return help
}

// standard returns the default value as written in the file.
func standard(k config.Key) (string, error) {
	node := k.Default
	switch {
	case k.Required:
		return "required", nil
	case node == nil:
		return "none", nil
	case len(node.Content) > 0 && len(node.Content[0].Content) > 0:
		return "see below", nil
	case node.Value != "":
		return "`" + node.Value + "`", nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return "", fmt.Errorf("default of %s: %w", k.Name, err)
	}
	text, err := json.Marshal(value)
	return "`" + string(text) + "`", err
}
