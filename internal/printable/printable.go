// Package printable writes text from outside so that it shows as what it is: what
// drives say of themselves, paths, names of processes and of control groups. Whatever is
// not printable is escaped: control characters, which move a terminal's cursor; marks
// that turn the direction of writing or take no room; line separators; bytes that are
// not UTF-8; what Unicode has not assigned.
//
//	printable.Name("S3\u202e1") // `S3\u202e1`: where text of a drive is read
//	printable.Text("a\x1b[2J")  // `a\x1b[2J`: where text is shown
//
// What a drive says is escaped once, where it is read, so that all that shows it, and
// the name that a user types for `--destroy`, have one spelling. Paths have to lead to
// their files, so they are escaped where they are shown.
package printable

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Name escapes all but printable characters and the blank, and backslashes, so that two
// texts that differ stay different.
func Name(s string) string {
	return escape(strings.ReplaceAll(s, `\`, `\\`), unicode.IsPrint)
}

// Text escapes what must not reach a terminal, a page or a label. Printable text,
// that of Name above all, stays as it is.
func Text(s string) string { return escape(s, shows) }

// Lines is Text for text of several lines, whose ends and tabs stay.
func Lines(s string) string {
	return escape(s, func(r rune) bool { return r == '\n' || r == '\t' || shows(r) })
}

// JSON escapes the same in a JSON document, whose strings mean what they did before.
// Outside of strings, a valid document has nothing to be escaped.
func JSON(document []byte) []byte {
	keep := func(r rune) bool { return r == '\n' || r == '\t' || r == '\r' || shows(r) }
	if !bytes.ContainsFunc(document, func(r rune) bool { return !keep(r) }) {
		return document
	}
	var b bytes.Buffer
	for _, r := range string(document) {
		if keep(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}

// shows reports whether a character shows as itself; blanks of any width do.
func shows(r rune) bool { return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) }

func escape(s string, keep func(rune) bool) string {
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case keep(r):
			b.WriteString(s[:size])
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		s = s[size:]
	}
	return b.String()
}
