package config

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Difference is a key that has another value than by default.
type Difference struct {
	// Key is its name; an item of a list that has a name is in brackets: probes[read-4k].interval.
	Key string
	// Value and Default are written as in the file; Default is empty for an item that is none by default, and Value for one
	// that was left out.
	Value, Default string
}

// Differences lists where the configuration differs from the defaults, in the order of the file.
func (c Config) Differences() []Difference {
	usual := Default()
	return differences("", c.form().write(), usual.form().write())
}

func differences(key string, now, usual *yaml.Node) []Difference {
	var all []Difference
	switch {
	case now.Kind == yaml.MappingNode && usual.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(now.Content); i += 2 { // both are written by one form: their keys are the same
			all = append(all, differences(join(key, now.Content[i].Value), now.Content[i+1], usual.Content[i+1])...)
		}
		return all
	case now.Kind == yaml.SequenceNode && len(usual.Content) > 0 && nameOf(usual.Content[0]) != "":
		for _, one := range now.Content {
			at := fmt.Sprintf("%s[%s]", key, nameOf(one))
			if builtIn := named(usual, nameOf(one)); builtIn != nil {
				all = append(all, differences(at, one, builtIn)...)
			} else {
				all = append(all, Difference{Key: at, Value: line(one)})
			}
		}
		for _, one := range usual.Content {
			if named(now, nameOf(one)) == nil {
				all = append(all, Difference{Key: fmt.Sprintf("%s[%s]", key, nameOf(one)), Default: line(one)})
			}
		}
		return all
	}
	if value, before := line(now), line(usual); value != before {
		all = append(all, Difference{key, value, before})
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
