package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ssdprobe/ssdprobe/internal/glob"
)

// rule is a condition that a value must meet in addition to being of its kind. The check, the commented file and the
// JSON schema all use it.
type rule[T any] struct {
	holds func(T) bool
	// problem returns the problem of a value for which the rule does not hold. The caller sets the field.
	problem func(T) Problem
	// says is the rule in a few words, such as "1 to 64"; empty when the help has it.
	says string
	// tighten adds as much of the rule to the schema as a schema can express; nil for nothing.
	tighten func(*schema)
}

// obeying returns the scalar with one more rule.
func (s scalar[T]) obeying(r rule[T]) scalar[T] {
	s.rules = append(slices.Clip(s.rules), r)
	return s
}

// quantity is a type of numbers.
type quantity interface{ ~int | ~int64 | ~float64 }

// within limits a value to a range, including both ends.
func within[T quantity](s scalar[T], low, high T) scalar[T] {
	return s.bounded(func(v T) bool { return v >= low && v <= high }, "is out of range", s.format(low)+" to "+s.format(high),
		func(to *schema) { to.bound(float64(low), new(float64(high))) })
}

// atLeast limits a value from below; the limit itself is valid.
func atLeast[T quantity](s scalar[T], low T) scalar[T] {
	return s.bounded(func(v T) bool { return v >= low }, "is too small", s.format(low)+" or more",
		func(to *schema) { to.bound(float64(low), nil) })
}

func (s scalar[T]) bounded(holds func(T) bool, wrong, want string, tighten func(*schema)) scalar[T] {
	problem := func(v T) Problem { return Problem{Value: s.format(v), Wrong: wrong, Want: want} }
	return s.obeying(rule[T]{holds, problem, want, tighten})
}

// required rejects the zero value. want describes a valid one.
func required[T comparable](s scalar[T], want string) scalar[T] {
	var zero T
	s.needed = true
	missing := rule[T]{
		holds:   func(v T) bool { return v != zero },
		problem: func(T) Problem { return Problem{Wrong: "is missing", Want: want} },
		tighten: func(to *schema) { to.MinLength = 1 },
	}
	s.rules = append([]rule[T]{missing}, s.rules...) // a missing value has no other problem
	return s
}

// oneOf accepts only the given words.
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

// matching accepts what an expression matches. The schema uses the same expression.
func matching(s scalar[string], noun, want string, expression *regexp.Regexp) scalar[string] {
	return valid(s, noun, want, expression.String(), expression.MatchString)
}

// valid accepts texts for which holds returns true. The pattern, if there is one, must match all of these texts, and
// may match others.
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

// absolute is a clean path that begins with /.
func absolute(dst *string) scalar[string] {
	return valid(cleanPath(dst), "an absolute path", wantPath, "^/", filepath.IsAbs)
}

// absoluteOrEmpty is like absolute, for keys whose empty value has a meaning.
func absoluteOrEmpty(dst *string) scalar[string] {
	return valid(cleanPath(dst), "an absolute path", wantPath, "^(/|$)", func(v string) bool { return v == "" || filepath.IsAbs(v) })
}

// pattern is a pattern for glob.Match.
func pattern(dst *string) scalar[string] {
	s := text(dst)
	s.noun = "pattern"
	return valid(s, "a glob", wantGlob, "", func(v string) bool { return glob.Check(v) == nil })
}

// nameGlob is a glob of names in a directory. That of a path would never match, and a device that it is to exclude would be read.
func nameGlob(dst *string) scalar[string] {
	return valid(pattern(dst), "a name", "one without a directory, e.g. nvme0n1, or with by_id one of those in /dev/disk/by-id", "^([^/]|$)",
		func(v string) bool { return !strings.HasPrefix(v, "/") })
}

// printable is a rule for all texts.
func printable[T ~string]() rule[T] {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	return rule[T]{
		holds: func(v T) bool { return utf8.ValidString(string(v)) && !strings.ContainsFunc(string(v), odd) },
		problem: func(v T) Problem {
			return Problem{Value: string(v), Wrong: "has characters that cannot be printed", Want: "letters, digits, punctuation and spaces"}
		},
	}
}
