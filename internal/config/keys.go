package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Key describes a key of the file, for the documents.
type Key struct {
	Name string
	// Help says what the key does, one paragraph per line; in an item of a list, a few words.
	Help string
	// Kind is the type of the value with its unit. Valid says in a few words what the value has to be.
	Kind, Valid string
	// Required is true for keys without a default, AtStart for keys whose change needs a restart.
	Required, AtStart bool
	// Default is the default value in the form of the file. Example is shown for an empty list. Either may be nil.
	Default, Example *yaml.Node
	// Keys are the keys of a section, or of the items of a list.
	Keys   []Key
	IsList bool
}

// Keys returns all keys of the file, in order.
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

// Description says what the key means, and what its value may be.
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
