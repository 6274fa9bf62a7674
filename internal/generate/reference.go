package main

import (
	"encoding/json"
	"fmt"
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
		if err := inner(&sections, k, ""); err != nil {
			return "", err
		}
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

// effect returns what the key does.
func effect(k config.Key) string {
	if k.AtStart {
		return k.Help + " A change needs a restart."
	}
	return k.Help
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
		return "see deploy/ssdprobe.yaml", nil
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
