package config

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rule is what a value has to be besides being of its kind. One rule serves the check,
// the commented file and the JSON schema.
type rule[T any] struct {
	holds func(T) bool
	// problem says what is wrong with a value for which it does not hold; the field is the caller's.
	problem func(T) Problem
	// says is the rule in a few words, "1 to 64"; empty when the help has it.
	says string
	// tighten puts into the schema as much of the rule as a schema can say; nil for nothing.
	tighten func(*schema)
}

// obeying returns the scalar with one more rule.
func (s scalar[T]) obeying(r rule[T]) scalar[T] {
	s.rules = append(slices.Clip(s.rules), r)
	return s
}

// quantity is what has an order.
type quantity interface{ ~int | ~int64 | ~float64 }

// within bounds a value, limits included.
func within[T quantity](s scalar[T], low, high T) scalar[T] {
	return s.bounded(func(v T) bool { return v >= low && v <= high }, "is out of range", s.format(low)+" to "+s.format(high),
		func(to *schema) { to.bound(float64(low), new(float64(high))) })
}

// atLeast bounds a value from below, the limit included.
func atLeast[T quantity](s scalar[T], low T) scalar[T] {
	return s.bounded(func(v T) bool { return v >= low }, "is too small", s.format(low)+" or more",
		func(to *schema) { to.bound(float64(low), nil) })
}

func (s scalar[T]) bounded(holds func(T) bool, wrong, want string, tighten func(*schema)) scalar[T] {
	problem := func(v T) Problem { return Problem{Value: s.format(v), Wrong: wrong, Want: want} }
	return s.obeying(rule[T]{holds, problem, want, tighten})
}

// required refuses the zero value; want is an example of another.
func required[T comparable](s scalar[T], want string) scalar[T] {
	var zero T
	s.needed = true
	missing := rule[T]{
		holds:   func(v T) bool { return v != zero },
		problem: func(T) Problem { return Problem{Wrong: "is missing", Want: want} },
		tighten: func(to *schema) { to.MinLength = 1 },
	}
	s.rules = append([]rule[T]{missing}, s.rules...) // what is missing has nothing else wrong
	return s
}

// oneOf takes some words alone.
func oneOf[T ~string](s scalar[T], noun string, choices ...T) scalar[T] {
	words := make([]string, len(choices))
	for i, choice := range choices {
		words[i] = string(choice)
	}
	all, last := strings.Join(words, ", "), len(words)-1
	s.noun = "word"
	return s.obeying(rule[T]{
		holds:   func(v T) bool { return slices.Contains(choices, v) },
		problem: func(v T) Problem { return notA(noun, string(v), "one of "+all) },
		says:    strings.Join(words[:last], ", ") + " or " + words[last],
		tighten: func(to *schema) { to.Enum = words },
	})
}

// matching takes what an expression matches, which is given to the schema too.
func matching(s scalar[string], noun, want string, expression *regexp.Regexp) scalar[string] {
	return valid(s, noun, want, expression.String(), expression.MatchString)
}

// valid takes texts for which a function holds. All of them match the pattern, when there
// is one, and perhaps others.
func valid(s scalar[string], noun, want, pattern string, holds func(string) bool) scalar[string] {
	return s.obeying(rule[string]{
		holds:   holds,
		problem: func(v string) Problem { return notA(noun, v, want) },
		tighten: func(to *schema) {
			if pattern != "" {
				to.Pattern = pattern
			}
		},
	})
}

const (
	wantPath = "a path that begins with /"
	wantGlob = "a pattern of *, ? and [a-z], e.g. nvme*n1"
)

// absolute is a path that is cleaned and begins with /.
func absolute(dst *string) scalar[string] {
	return valid(cleanPath(dst), "an absolute path", wantPath, "^/", filepath.IsAbs)
}

// absoluteOrEmpty is absolute for keys whose empty value has a meaning.
func absoluteOrEmpty(dst *string) scalar[string] {
	return valid(cleanPath(dst), "an absolute path", wantPath, "^(/|$)", func(v string) bool { return v == "" || filepath.IsAbs(v) })
}

// glob is a pattern of path.Match.
func glob(dst *string) scalar[string] {
	s := text(dst)
	s.noun = "pattern"
	return valid(s, "a glob", wantGlob, "", func(v string) bool {
		_, err := path.Match(v, "")
		return err == nil
	})
}

// printable is the rule of all texts.
func printable[T ~string]() rule[T] {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	return rule[T]{
		holds: func(v T) bool { return utf8.ValidString(string(v)) && !strings.ContainsFunc(string(v), odd) },
		problem: func(v T) Problem {
			return Problem{Value: string(v), Wrong: "has characters that cannot be shown", Want: "letters, digits, signs and spaces"}
		},
	}
}
