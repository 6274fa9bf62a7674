package config

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Difference is a key that has another value than before, or than by default.
type Difference struct {
	// Key is its name; an item of a list that has a name is in brackets: probes[read-4k].interval.
	Key string
	// Value and Before are written as in the file; Before is empty for an item that was added, and Value for one that was
	// left out.
	Value, Before string
}

// String is the key and what changed: "probes[read-4k].interval: 30s → 20s".
func (d Difference) String() string {
	switch {
	case d.Before == "":
		return d.Key + ": added " + d.Value
	case d.Value == "":
		return d.Key + ": left out"
	}
	return d.Key + ": " + d.Before + " → " + d.Value
}

// Since lists where the configuration differs from an earlier one, in the order of the file.
func (c Config) Since(before Config) []Difference {
	return differences("", c.form().write(), before.form().write())
}

func differences(key string, now, before *yaml.Node) []Difference {
	var all []Difference
	switch {
	case now.Kind == yaml.MappingNode && before.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(now.Content); i += 2 { // both are written by one form: their keys are the same
			all = append(all, differences(join(key, now.Content[i].Value), now.Content[i+1], before.Content[i+1])...)
		}
		return all
	case now.Kind == yaml.SequenceNode && len(before.Content) > 0 && nameOf(before.Content[0]) != "":
		for _, one := range now.Content {
			at := fmt.Sprintf("%s[%s]", key, nameOf(one))
			if was := named(before, nameOf(one)); was != nil {
				all = append(all, differences(at, one, was)...)
			} else {
				all = append(all, Difference{Key: at, Value: line(one)})
			}
		}
		for _, one := range before.Content {
			if named(now, nameOf(one)) == nil {
				all = append(all, Difference{Key: fmt.Sprintf("%s[%s]", key, nameOf(one)), Before: line(one)})
			}
		}
		return all
	}
	if value, was := line(now), line(before); value != was {
		all = append(all, Difference{key, value, was})
	}
	return all
}

// named is the item of a list that has a name; nil when none has it.
func named(list *yaml.Node, name string) *yaml.Node {
	for _, one := range list.Content {
		if nameOf(one) == name {
			return one
		}
	}
	return nil
}

// nameOf is the value of the key name of an item; empty when it has none.
func nameOf(item *yaml.Node) string {
	if item.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(item.Content); i += 2 {
		if item.Content[i].Value == "name" {
			return item.Content[i+1].Value
		}
	}
	return ""
}

// line writes a value on one line.
func line(n *yaml.Node) string {
	one := *n
	if n.Kind != yaml.ScalarNode {
		one.Style = yaml.FlowStyle
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	if err := e.Encode(&one); err != nil {
		return n.Value
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
