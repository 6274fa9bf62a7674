package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing that is wrong with a configuration or with a value given
// as text.
type Problem struct {
	// Line is counted from 1; 0 when the value does not come from a file.
	Line int
	// Field is the way to the value, "probes[1].block_size"; empty for the file
	// as a whole and for a text that belongs to no field.
	Field string
	// Value is the value as it was written; empty when there is none to show.
	Value string
	// Wrong is the finding: "is not a size".
	Wrong string
	// Want is what would be valid; empty when Wrong says it all.
	Want string
}

// Error is one line: `line 12: probes[1].block_size: "4KB0" is not a size; want …`.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	if p.Value != "" {
		b.WriteString(quoted(p.Value) + " ")
	}
	b.WriteString(p.Wrong)
	if p.Want != "" {
		b.WriteString("; want " + p.Want)
	}
	return b.String()
}

// Problems are all that is wrong with a configuration, in the order of lines.
type Problems []Problem

// Error lists the problems, one per line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// maxProblems bounds what a file of rubbish can make us say.
const maxProblems = 100

// findings gathers problems, and knows which fields have one: what follows from
// a value that is wrong already is not worth a line.
type findings struct {
	problems Problems
	bad      map[string]bool
	partly   map[string]bool // sections and lists in which something is wrong
	unlisted int
	places   map[string]place // of the fields that were read; nil without a file
}

// place is where a field is in the file.
type place struct {
	line int
	text string // as written; empty for sections and lists
}

// add notes a problem and that its field has no usable value.
func (f *findings) add(p Problem) {
	if f.bad == nil {
		f.bad, f.partly = map[string]bool{}, map[string]bool{}
	}
	f.bad[p.Field] = true
	for section := parent(p.Field); section != ""; section = parent(section) {
		f.partly[section] = true
	}
	f.list(f.located(p))
}

// located gives a problem that was found after reading the line and the text of its field.
func (f *findings) located(p Problem) Problem {
	if text := f.places[p.Field].text; p.Line == 0 && text != "" {
		p.Value = text
	}
	for field := p.Field; p.Line == 0 && field != ""; field = parent(field) {
		p.Line = f.places[field].line
	}
	return p
}

func (f *findings) list(p Problem) {
	if len(f.problems) == maxProblems {
		f.unlisted++
		return
	}
	f.problems = append(f.problems, p)
}

// need adds the problem when something is not ok, and nothing is known to be wrong yet
// with the field or with the others that were looked at.
func (f *findings) need(ok bool, p Problem, others ...string) {
	if !ok && f.sound(p.Field) && f.sound(others...) {
		f.add(p)
	}
}

// sound reports that nothing is wrong yet with any of the fields or with what
// they are part of.
func (f *findings) sound(fields ...string) bool {
	for _, field := range fields {
		for ; field != ""; field = parent(field) {
			if f.bad[field] {
				return false
			}
		}
	}
	return true
}

// err returns the problems in the order of lines, nil when there are none.
func (f *findings) err() error {
	if len(f.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(f.problems, func(a, b Problem) int { return a.Line - b.Line })
	if f.unlisted > 0 {
		return append(f.problems, Problem{Wrong: fmt.Sprintf("and %d more problems, not listed", f.unlisted)})
	}
	return f.problems
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,60}$`)

// join makes the field of a key in a section.
func join(section, key string) string {
	if !plainKey.MatchString(key) {
		key = quoted(key)
	}
	if section == "" {
		return key
	}
	return section + "." + key
}

func item(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// parent is what a field is part of: "a[1].b" is part of "a[1]", that of "a".
func parent(field string) string {
	return field[:max(strings.LastIndexAny(field, ".["), 0)]
}

// quoted shows a text on one line and not at any length.
func quoted(s string) string {
	runes := 0
	for i := range s {
		if runes == 60 {
			return strconv.Quote(s[:i] + "…")
		}
		runes++
	}
	return strconv.Quote(s)
}

// notA is the problem of a text that is not noun, which has its article.
func notA(noun, text, want string) Problem {
	if text == "" {
		return Problem{Wrong: "is empty", Want: want}
	}
	return Problem{Value: text, Wrong: "is not " + noun, Want: want}
}
