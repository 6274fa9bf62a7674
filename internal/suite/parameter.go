package suite

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// Parameter is a parameter of a suite.
type Parameter struct {
	Name string `json:"name"`
	// Doc describes it in one line.
	Doc string `json:"doc"`
	// Default is the value if it is not set, as people write it.
	Default string `json:"default"`
	// Choices are the words that it accepts; empty if it accepts other values.
	Choices []string `json:"choices,omitempty"`

	parse func(string) (any, error)
}

// Values holds the values of a suite's parameters. The zero value holds the defaults.
type Values struct {
	set   map[string]any
	texts map[string]string // as they were written
}

// Text returns what a parameter was set to; empty if it was left at its default.
func (v Values) Text(name string) string { return v.texts[name] }

// Set parses settings of the form name=value. The error lists everything that is wrong
// with them, and what would be right.
func (s Suite) Set(settings []string) (Values, error) {
	v := Values{set: map[string]any{}}
	var wrong []error
	for _, setting := range settings {
		name, text, ok := strings.Cut(setting, "=")
		i := slices.IndexFunc(s.Parameters, func(p Parameter) bool { return p.Name == name })
		_, twice := v.set[name]
		switch {
		case !ok:
			wrong = append(wrong, fmt.Errorf("%q: not of the form name=value", setting))
			continue
		case i < 0:
			wrong = append(wrong, fmt.Errorf("%s: the suite %s has no such parameter; it has %s", name, s.Name, s.parameterNames()))
			continue
		case twice:
			wrong = append(wrong, fmt.Errorf("%s: set twice", name))
			continue
		}
		value, err := s.Parameters[i].parse(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
		v.set[name] = value
		if v.texts == nil {
			v.texts = map[string]string{}
		}
		v.texts[name] = text
	}
	if len(wrong) > 0 {
		return Values{}, errors.Join(wrong...)
	}
	if s.refuse != nil {
		if err := s.refuse(v); err != nil {
			return Values{}, err
		}
	}
	return v, nil
}

func (s Suite) parameterNames() string {
	names := make([]string, len(s.Parameters))
	for i, p := range s.Parameters {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// knob gives a plan typed access to a parameter.
type knob[T any] struct {
	name     string
	fallback T
}

func (k knob[T]) of(v Values) T {
	if set, ok := v.set[k.name]; ok {
		return set.(T)
	}
	return k.fallback
}

// form parses and formats the values of a type.
type form[T any] struct {
	parse func(string) (T, error)
	write func(T) string
	words []string // accepted words; empty for all but choices
}

// declare adds a parameter to a suite.
func declare[T any](s *Suite, name, doc string, fallback T, f form[T]) knob[T] {
	s.Parameters = append(s.Parameters, Parameter{
		Name: name, Doc: doc, Default: f.write(fallback), Choices: f.words,
		parse: func(text string) (any, error) { return f.parse(text) },
	})
	return knob[T]{name, fallback}
}

// duration is the form of a time of at least least: "30s", "2m".
func duration(least time.Duration) form[time.Duration] {
	return form[time.Duration]{write: config.FormatDuration, parse: func(text string) (time.Duration, error) {
		d, err := config.ParseDuration(text)
		if err == nil && d < least {
			err = fmt.Errorf("%q is too short; want at least %s", text, config.FormatDuration(least))
		}
		return d, err
	}}
}

// blockSize is the form of a size that direct I/O can use: a multiple of 512 bytes up
// to 16 MiB.
func blockSize() form[int64] {
	const sector, most = 512, 16 << 20
	return form[int64]{write: config.FormatSize, parse: func(text string) (int64, error) {
		n, err := config.ParseSize(text)
		if err == nil && (n <= 0 || n > most || n%sector != 0) {
			err = fmt.Errorf("%q is not the size of a block; want a multiple of 512 up to 16MiB", text)
		}
		return n, err
	}}
}

// count is the form of a whole number from least to most.
func count(least, most int) form[int] {
	return form[int]{write: strconv.Itoa, parse: func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("%q is not valid; want a whole number from %d to %d", text, least, most)
		}
		return n, nil
	}}
}

// list is the form of comma-separated values, at least one and without duplicates.
func list[T comparable](one form[T]) form[[]T] {
	return form[[]T]{
		words: one.words,
		write: func(values []T) string {
			texts := make([]string, len(values))
			for i, v := range values {
				texts[i] = one.write(v)
			}
			return strings.Join(texts, ",")
		},
		parse: func(text string) ([]T, error) {
			var values []T
			for part := range strings.SplitSeq(text, ",") {
				v, err := one.parse(strings.TrimSpace(part))
				if err != nil {
					return nil, err
				}
				if slices.Contains(values, v) {
					return nil, fmt.Errorf("%q is given twice", part)
				}
				values = append(values, v)
			}
			return values, nil
		},
	}
}

// choice is the form of one of the given words.
func choice(words ...string) form[string] {
	return form[string]{words: words, write: func(s string) string { return s }, parse: func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("%q is not valid; want %s", text, strings.Join(words, " or "))
		}
		return text, nil
	}}
}

// word is the form of text that parse converts to its canonical form.
func word(parse func(string) (string, error)) form[string] {
	return form[string]{write: func(s string) string { return s }, parse: parse}
}

// automatic is the form of values that are computed if none is given: nil, written
// "auto".
func automatic[T any](one form[[]T]) form[[]T] {
	const auto = "auto"
	return form[[]T]{
		words: one.words,
		write: func(values []T) string {
			if values == nil {
				return auto
			}
			return one.write(values)
		},
		parse: func(text string) ([]T, error) {
			if text == auto {
				return nil, nil
			}
			return one.parse(text)
		},
	}
}

// orNone is the form of values that may also be empty, written "no".
func orNone[T any](some form[[]T]) form[[]T] {
	return form[[]T]{
		words: some.words,
		write: func(values []T) string {
			if values != nil && len(values) == 0 {
				return no
			}
			return some.write(values)
		},
		parse: func(text string) ([]T, error) {
			if text == no {
				return []T{}, nil
			}
			return some.parse(text)
		},
	}
}

// bytes is the form of a size of at least least.
func bytes(least int64) form[int64] {
	return form[int64]{write: config.FormatSize, parse: func(text string) (int64, error) {
		n, err := config.ParseSize(text)
		if err == nil && n < least {
			err = fmt.Errorf("%q is too small; want at least %s", text, config.FormatSize(least))
		}
		return n, err
	}}
}

// share is the form of a share: "20%" or "0.2".
func share() form[float64] {
	return form[float64]{write: config.FormatNumber, parse: func(text string) (float64, error) {
		x, err := config.ParseRatio(text)
		if err == nil && !(x > 0 && x <= 1) {
			err = fmt.Errorf("%q is not valid; want more than 0 and no more than 100%%", text)
		}
		return x, err
	}}
}
