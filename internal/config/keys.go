package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Key is what can be said of a key of the file, for the documents about it.
type Key struct {
	Name string
	// Help is what the key does, a paragraph a line; in an item of a list, a few words.
	Help string
	// Kind is the type of the value with its unit, Valid what it has to be in a few words.
	Kind, Valid string
	// Required keys have no default; AtStart keys need a restart to change.
	Required, AtStart bool
	// Default is the value as the file has it, and Example what to show of an empty list; nil for none.
	Default, Example *yaml.Node
	// Keys are those of a section, or of the items of a list.
	Keys   []Key
	IsList bool
}

// Keys are all keys of the file, in order.
func Keys() []Key {
	c := Default()
	return c.form().describe()
}

func (s section) describe() []Key {
	var all []Key
	for _, e := range s {
		a := e.field.about()
		k := Key{
			Name: e.key, Help: e.help, Kind: a.kind, Valid: a.says, Required: a.required, AtStart: a.atStart,
			Default: e.field.write(), Keys: a.keys.describe(), IsList: a.isList,
		}
		if a.example != nil {
			k.Example = a.example.write()
		}
		all = append(all, k)
	}
	return all
}

// Description is what the key means, and what its value may be.
func (k Key) Description() string {
	help := strings.ReplaceAll(k.Help, "\n", " ")
	if help != "" && k.Valid != "" {
		if strings.HasSuffix(help, ".") {
			return help + " " + strings.ToUpper(k.Valid[:1]) + k.Valid[1:] + "."
		}
		return help + "; " + k.Valid
	}
	return help + k.Valid
}
