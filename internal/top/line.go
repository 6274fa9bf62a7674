package top

import (
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/printable"
)

// Tone is how a text looks on a terminal with colours. A tone never carries information that the text lacks.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Faint
	Good
	Warn
	Bad
	Strong
	Selected // not a colour: reversed even without colours
)

// Span is text of one tone, and Line the text of one line.
type (
	Span struct {
		Text string
		Tone Tone
	}
	Line []Span
)

func line(tone Tone, text string) Line { return Line{{printable.Text(text), tone}} }

// Text returns the text of the line without its tones.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// clip cuts the line to a width in characters; 0 means unlimited.
func (l Line) clip(width int) Line {
	if width <= 0 {
		return l
	}
	var cut Line
	for _, s := range l {
		runes := []rune(s.Text)
		if len(runes) <= width {
			width -= len(runes)
			cut = append(cut, s)
			continue
		}
		if width > 0 {
			cut = append(cut, Span{string(runes[:width-1]) + "…", s.Tone})
		}
		break
	}
	return cut
}

// wrap breaks a text between words into lines of at most width characters, unless a word is longer.
func wrap(tone Tone, text string, width int) (lines []Line) {
	now := ""
	for _, word := range strings.Fields(text) {
		if now != "" && len([]rune(now+" "+word)) > width {
			lines, now = append(lines, line(tone, now)), ""
		}
		now = strings.TrimSpace(now + " " + word)
	}
	return append(lines, line(tone, now))
}

// pad pads a text to the width of a column, or cuts it if it is longer.
func pad(text string, width int, left bool) string {
	runes := []rune(text)
	if len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	blanks := strings.Repeat(" ", width-len(runes))
	if left {
		return text + blanks
	}
	return blanks + text
}
