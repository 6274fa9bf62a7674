package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// schema is a JSON schema, draft 7, as far as the configuration needs it (https://json-schema.org/draft-07). It
// agrees with the form, with two differences, because a chart's values are parsed as YAML before they are validated:
// texts that YAML would take for something else (007) must be quoted, and numbers and switches must not be quoted.
type schema struct {
	Dialect     string            `json:"$schema,omitempty"`
	Comment     string            `json:"$comment,omitempty"`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	Type        types             `json:"type,omitempty"`
	Enum        []string          `json:"enum,omitempty"`
	Default     any               `json:"default,omitempty"`
	Pattern     string            `json:"pattern,omitempty"`
	Minimum     *float64          `json:"minimum,omitempty"`
	Maximum     *float64          `json:"maximum,omitempty"`
	MinLength   int               `json:"minLength,omitempty"`
	MinItems    int               `json:"minItems,omitempty"`
	Items       *schema           `json:"items,omitempty"`
	Required    []string          `json:"required,omitempty"`
	LeastKeys   int               `json:"minProperties,omitempty"`
	Properties  map[string]schema `json:"properties,omitempty"`
	// OtherKeys is false in sections, and absent elsewhere.
	OtherKeys *bool `json:"additionalProperties,omitempty"`
}

// types lists the types that a value may have.
type types []string

// MarshalJSON implements json.Marshaler. A single type is written as a word.
func (t types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Schema returns the JSON schema of the configuration file, for editors and for the values of the Helm chart. It has
// the keys, types, words and units, and the limits of numbers. Limits of texts with a unit are only in the
// descriptions. Parse checks these limits, and whether keys contradict each other.
func Schema() ([]byte, error) {
	c := Default()
	s := c.form().about().schema
	s.Dialect, s.Title = "http://json-schema.org/draft-07/schema#", "Configuration of ssdprobe"
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return nil, fmt.Errorf("write the schema of the configuration: %w", err)
	}
	return []byte(b.String()), nil
}

// plain returns the JSON value of a node that the form wrote.
func plain(n *yaml.Node) any {
	var v any
	if err := n.Decode(&v); err != nil || n.Tag == "!!str" {
		return n.Value
	}
	return v
}

// bound adds limits of numbers to the schema; high is nil for none.
func (s *schema) bound(low float64, high *float64) {
	if s.Minimum != nil { // texts have no order
		s.Minimum, s.Maximum = &low, high
	}
}
