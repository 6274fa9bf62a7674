// Package printable escapes text from outside so that it is displayed as what it is:
// what drives report about themselves, paths, and names of processes and control groups.
// Everything that is not printable is escaped: control characters, which move a
// terminal's cursor; characters that change the writing direction or have no width; line
// separators; bytes that are not UTF-8; and code points that Unicode has not assigned.
//
//	printable.Name("S3\u202e1") // `S3\u202e1`: where a drive's text is read
//	printable.Text("a\x1b[2J")  // `a\x1b[2J`: where text is displayed
//
// A drive's text is escaped once, where it is read, so that everything that displays it,
// and the name that a user types for `--destroy`, has the same spelling. Paths must lead
// to their files, so they are escaped where they are displayed.
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

// Name escapes backslashes and everything but printable characters and the space, so
// that different texts remain different.
func Name(s string) string {
	return escape(strings.ReplaceAll(s, `\`, `\\`), unicode.IsPrint)
}

// Text escapes what must not reach a terminal, a page or a label. It does not change
// printable text, in particular the result of Name.
func Text(s string) string { return escape(s, shows) }

// Lines is Text for text of several lines; it keeps line feeds and tabs.
func Lines(s string) string {
	return escape(s, func(r rune) bool { return r == '\n' || r == '\t' || shows(r) })
}

// JSON escapes the same characters in a JSON document without changing the meaning of
// its strings. Outside of strings, a valid document has nothing to escape.
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

// shows reports whether a character is displayed as itself; spaces of any width are.
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
