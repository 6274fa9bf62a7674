package config

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// schema is a JSON schema, draft 7, as far as the configuration needs it
// (https://json-schema.org/draft-07). It says what the form says, with two differences,
// both because a chart's values pass through YAML before they get here: texts that YAML
// takes for something else (007) have to be quoted, numbers and switches must not be.
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
	// OtherKeys is false in sections and not there elsewhere.
	OtherKeys *bool `json:"additionalProperties,omitempty"`
}

// types are what a value may be.
type types []string

// MarshalJSON implements json.Marshaler: one type is a word.
func (t types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Schema returns the JSON schema of the configuration file, for editors and for the
// values of the Helm chart: its keys, types, words and limits, none left open. What it
// cannot say (two keys that contradict each other) is for Parse to find.
func Schema() ([]byte, error) {
	c := Default()
	s := c.form().schema()
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

func (s section) schema() schema {
	all := schema{Type: types{"object", "null"}, Properties: map[string]schema{}, OtherKeys: new(false)}
	for _, e := range s {
		of := e.field.schema()
		of.Description = e.description()
		all.Properties[e.key] = of
		if v, ok := e.field.(interface{ required() bool }); ok && v.required() {
			all.Required = append(all.Required, e.key)
		}
	}
	return all
}

func (s filled) schema() schema {
	all := s.section.schema()
	all.LeastKeys = s.least
	return all
}

func (l list[T]) schema() schema {
	v := l.fresh()
	items := l.form(&v).schema()
	items.Type = items.Type[:1] // a dash with nothing behind it is refused
	all := schema{Type: types{"array", "null"}, Items: &items}
	if l.empty != nil {
		all.MinItems = 1
	}
	return all
}

// plain is what JSON has for a value as the form writes it.
func plain(n *yaml.Node) any {
	var v any
	if err := n.Decode(&v); err != nil || n.Tag == "!!str" {
		return n.Value
	}
	return v
}

// spanOfNumbers bounds what is a number in JSON too.
func spanOfNumbers[T int | int64 | float64](to *schema, low T, high *T) {
	to.Minimum = new(float64(low))
	if high != nil {
		to.Maximum = new(float64(*high))
	}
}

// spanOfRatios bounds shares, which are numbers or percentages.
func spanOfRatios(to *schema, low float64, high *float64) {
	spanOfNumbers(to, low, high)
	percent := `[0-9]+`
	if high != nil { // exact to a percent at the upper limit, and to the next one at the lower
		percent = wholeNumbers(int64(low*100), int64(*high*100))
	}
	to.Pattern = `^` + percent + `(\.[0-9]+)? ?%$`
}

// spanOfSizes bounds sizes, which are numbers of bytes or texts with a unit.
func spanOfSizes(to *schema, low int64, high *int64) {
	to.Minimum = new(float64(low))
	if high != nil {
		to.Maximum = new(float64(*high))
	}
	units := grouped{}
	for _, u := range sizeUnits() {
		if number, ok := inUnits(low, high, u.bytes); ok {
			units.add(number, u.name)
		}
	}
	to.Pattern = "^(?:" + units.expression(" ?") + ")$"
}

// spanOfDurations bounds durations of one unit; those of several (1h30m) and fractions
// are for the check.
func spanOfDurations(to *schema, low time.Duration, high *time.Duration) {
	const several = `[0-9]+(?:\.[0-9]+|[nuµmshd]+[0-9][0-9nuµmshd.]*)[nuµmshd]+`
	units := grouped{}
	for _, u := range []struct {
		name string
		is   time.Duration
	}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}, {"µs", time.Microsecond}, {"ns", 1}} {
		if number, ok := inUnits(low, high, u.is); ok {
			units.add(number, u.name)
		}
	}
	to.Pattern = "^(?:" + units.expression("") + "|" + several + ")$"
}

// inUnits is the expression for numbers of a unit that lie between limits; not ok when
// there are none. People read it in what Helm says, so that it is exact only where the
// limits have few digits, in the units that people write them in; the check is exact.
func inUnits[T ~int64](low T, high *T, unit T) (string, bool) {
	const few = 1000
	least := int64((low + unit - 1) / unit)
	most := int64(math.MaxInt64)
	if high != nil {
		most = int64(*high / unit)
	}
	switch {
	case most < least:
		return "", false
	case least >= few:
		return fmt.Sprintf(`[0-9]{%d,}`, len(strconv.FormatInt(least, 10))), true
	case most >= few:
		return wholeNumbersFrom(least), true
	}
	return wholeNumbers(least, most), true
}

// grouped are the expressions of numbers with the units that they go with.
type grouped struct {
	numbers []string
	units   map[string][]string
}

func (g *grouped) add(number, unit string) {
	if g.units == nil {
		g.units = map[string][]string{}
	}
	if g.units[number] == nil {
		g.numbers = append(g.numbers, number)
	}
	g.units[number] = append(g.units[number], regexp.QuoteMeta(unit))
}

func (g *grouped) expression(between string) string {
	all := make([]string, len(g.numbers))
	for i, number := range g.numbers {
		all[i] = number + between + oneOfAll(g.units[number])
	}
	return strings.Join(all, "|")
}
