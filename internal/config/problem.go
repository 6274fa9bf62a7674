package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Problem is one problem of a configuration, or of a value given as text.
type Problem struct {
	// Line counts from 1; 0 when the value does not come from a file.
	Line int
	// Field is the path to the value, "probes[1].block_size"; empty for the file as a whole, and for a text that
	// belongs to no field.
	Field string
	// Value is the value as written; empty when there is none to show.
	Value string
	// Wrong describes the problem: "is not a size".
	Wrong string
	// Want says what would be valid; empty when Wrong makes that clear.
	Want string
}

// Error returns one line: `line 12: probes[1].block_size: "4KB0" is not a size; want …`.
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

// Problems lists all problems of a configuration, in the order of lines.
type Problems []Problem

// Error lists the problems, one per line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// maxProblems limits the output for a file that is garbage.
const maxProblems = 100

// findings collects problems, and knows which fields have one. Problems that follow from another problem are not
// worth a line.
type findings struct {
	problems Problems
	bad      map[string]bool
	partly   map[string]bool // sections and lists that contain a problem
	unlisted int
	places   map[string]place // of the fields read; nil without a file
}

// place is the position of a field in the file.
type place struct {
	line int
	text string // as written; empty for sections and lists
}

// add records a problem, and that its field has no usable value.
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

// located adds the line and the text of the field to a problem that was found after reading.
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

// need adds the problem unless ok is true or a problem is already known for the field or one of the others involved.
func (f *findings) need(ok bool, p Problem, others ...string) {
	if !ok && f.sound(p.Field) && f.sound(others...) {
		f.add(p)
	}
}

// sound reports whether there is no problem yet with any of the fields or with what contains them.
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

// err returns the problems in the order of lines, or nil when there are none.
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

// join returns the field of a key in a section.
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

// parent returns the field that contains a field: "a[1]" for "a[1].b", and "a" for "a[1]".
func parent(field string) string {
	return field[:max(strings.LastIndexAny(field, ".["), 0)]
}

// quoted returns a text in quotes, on one line, shortened to 60 characters.
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

// notA returns the problem that text is not what noun says. noun includes its article.
func notA(noun, text, want string) Problem {
	if text == "" {
		return Problem{Wrong: "is empty", Want: want}
	}
	return Problem{Value: text, Wrong: "is not " + noun, Want: want}
}
