package config

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Difference is a key whose value differs from an earlier one, or from the default.
type Difference struct {
	// Key is the name of the key. Items of a list are named in brackets if they have a name:
	// probes[read-4k].interval.
	Key string
	// Value and Before are in the form of the file. Before is empty for an added item, Value for a removed one.
	Value, Before string
}

// String returns text such as "probes[read-4k].interval: 30s → 20s".
func (d Difference) String() string {
	switch {
	case d.Before == "":
		return d.Key + ": added " + d.Value
	case d.Value == "":
		return d.Key + ": left out"
	}
	return d.Key + ": " + d.Before + " → " + d.Value
}

// Since lists the differences from an earlier configuration, in the order of the file.
func (c Config) Since(before Config) []Difference {
	return differences("", c.form().write(), before.form().write())
}

func differences(key string, now, before *yaml.Node) []Difference {
	var all []Difference
	switch {
	case now.Kind == yaml.MappingNode && before.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(now.Content); i += 2 { // both come from the same form, so their keys are the same
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

// named returns the item of a list with this name, or nil when there is none.
func named(list *yaml.Node, name string) *yaml.Node {
	for _, one := range list.Content {
		if nameOf(one) == name {
			return one
		}
	}
	return nil
}

// nameOf returns the value of an item's key name; empty when it has none.
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

// line returns a value on one line.
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
