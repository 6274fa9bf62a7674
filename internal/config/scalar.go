package config

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// scalar is a single value. It is read as written, whatever type YAML would give it: a serial number such as 5002e38
// remains text.
type scalar[T comparable] struct {
	dst *T
	// noun is the type of the value, with its unit if it has one.
	noun   string
	parse  func(string) (T, error)
	format func(T) string
	// tag is the YAML tag of texts, so that a text is quoted where it would be read as something else; empty for
	// values that are never quoted.
	tag string
	// omitZero leaves out a zero value, and does not check it.
	omitZero bool
	// needed is true for values that must be given.
	needed bool
	rules  []rule[T]
	// shape is the schema of all values of this kind.
	shape schema
}

func (s scalar[T]) read(n *yaml.Node, name string, f *findings) {
	if !f.accept(n, name, yaml.ScalarNode, "a single value") {
		return
	}
	text := n.Value
	if absent(n) {
		if s.tag != "" {
			f.add(Problem{Line: n.Line, Field: name, Wrong: "is empty", Want: "a value, or the key left out"})
			return
		}
		text = ""
	}
	v, err := s.parse(text)
	if err != nil {
		p := Problem{Value: text, Wrong: err.Error()}
		errors.As(err, &p)
		p.Line, p.Field = n.Line, name
		f.add(p)
		return
	}
	*s.dst = v
}

func (s scalar[T]) check(name string, f *findings) {
	if s.leftOut() {
		return
	}
	for _, r := range s.rules {
		if !r.holds(*s.dst) {
			p := r.problem(*s.dst)
			p.Field = name
			f.need(false, p)
		}
	}
}

func (s scalar[T]) write() *yaml.Node {
	if s.leftOut() {
		return nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: s.tag, Value: s.format(*s.dst)}
}

// as sets the noun, which says what a number counts.
func (s scalar[T]) as(noun string) scalar[T] {
	s.noun = noun
	return s
}

func (s scalar[T]) leftOut() bool {
	var zero T
	return s.omitZero && *s.dst == zero
}

func (s scalar[T]) about() about {
	a := about{kind: s.noun, required: s.needed, schema: s.shape}
	var all []string
	for _, r := range s.rules {
		if r.says != "" {
			all = append(all, r.says)
		}
		if r.tighten != nil {
			r.tighten(&a.schema)
		}
	}
	a.says = strings.Join(all, ", ")
	if value := s.write(); value != nil && !s.needed {
		a.schema.Default = plain(value)
	}
	return a
}

func optional[T comparable](s scalar[T]) scalar[T] {
	s.omitZero = true
	return s
}

func text[T ~string](dst *T) scalar[T] {
	return scalar[T]{
		dst: dst, noun: "text", tag: "!!str",
		parse:  func(s string) (T, error) { return T(s), nil },
		format: func(v T) string { return string(v) },
		rules:  []rule[T]{printable[T]()},
		shape:  schema{Type: types{"string"}},
	}
}

// cleanPath is a path that is cleaned when read; an empty one stays empty.
func cleanPath(dst *string) scalar[string] {
	s := text(dst)
	s.noun = "path"
	s.parse = func(s string) (string, error) {
		if s == "" {
			return "", nil
		}
		return filepath.Clean(s), nil
	}
	return s
}

func size(dst *int64) scalar[int64] {
	return scalar[int64]{
		dst: dst, noun: "size", parse: ParseSize, format: FormatSize,
		shape: schema{Type: types{"integer", "string"}, Minimum: new(0.0), Pattern: `^[0-9]+ ?(([KMGT]i|[kMGT])?B)?$`},
	}
}

// bound is a size limit. 0 stands for no limit and must not be written.
func bound(dst *int64) scalar[int64] {
	s := size(dst)
	s.parse = func(text string) (int64, error) {
		n, err := ParseSize(text)
		if err == nil && n == 0 {
			err = Problem{Value: text, Wrong: "sets no limit", Want: "1 byte or more, or the key left out"}
		}
		return n, err
	}
	s = optional(atLeast(s, 1))
	s.rules[0].says = "" // the limit of 1 is not worth mentioning
	return s
}

func duration(dst *time.Duration) scalar[time.Duration] {
	return scalar[time.Duration]{
		dst: dst, noun: "duration", parse: ParseDuration, format: FormatDuration,
		shape: schema{Type: types{"string"}, Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d))+$`},
	}
}

func ratio(dst *float64) scalar[float64] {
	return scalar[float64]{
		dst: dst, noun: "ratio", parse: ParseRatio, format: FormatNumber,
		shape: schema{Type: types{"number", "string"}, Minimum: new(0.0), Pattern: `^[0-9]+(\.[0-9]+)? ?%$`},
	}
}

// number is a number that is not a share of anything.
func number(dst *float64) scalar[float64] {
	return scalar[float64]{
		dst: dst, noun: "number", parse: ParseNumber, format: FormatNumber,
		shape: schema{Type: types{"number"}, Minimum: new(0.0)},
	}
}

func count[T int | int64](dst *T) scalar[T] {
	const want = "a whole number, e.g. 32"
	return scalar[T]{
		dst: dst, noun: "number",
		parse: func(s string) (T, error) {
			if s == "" || strings.Trim(s, "0123456789") != "" {
				return 0, notA("a count", s, want)
			}
			n, err := strconv.Atoi(s)
			if err != nil {
				return 0, Problem{Value: s, Wrong: "is too large for a count", Want: want}
			}
			return T(n), nil
		},
		format: formatCount[T],
		shape:  schema{Type: types{"integer"}, Minimum: new(0.0)},
	}
}

func formatCount[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

func flag(dst *bool) scalar[bool] {
	return scalar[bool]{
		dst: dst, noun: "switch",
		parse: func(s string) (bool, error) {
			if s != "true" && s != "false" {
				return false, notA("a switch", s, "true or false")
			}
			return s == "true", nil
		},
		format: strconv.FormatBool,
		shape:  schema{Type: types{"boolean"}},
	}
}
