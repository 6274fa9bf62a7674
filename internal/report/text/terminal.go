package text

import (
	"io"
	"os"
	"slices"

	gopretty "github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// width is the column at which sentences are wrapped, both without a terminal and on wide ones.
const width = 118

// leastWidth is the smallest width at which text is folded. A narrower terminal wraps the lines itself.
const leastWidth = 40

// screen describes the destination of the output.
type screen struct {
	width    int
	terminal bool
	narrow   bool // tables are folded at the width too
	colour   bool
}

// screenOf returns the properties of a writer: the width of a terminal, and whether it shows colours. The width of
// piped text is not known.
func screenOf(w io.Writer) screen {
	s := screen{width: width}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.terminal = true
	s.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" // https://no-color.org
	if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
		s.width, s.narrow = min(max(columns, leastWidth), width), true
		if columns > width { // tables may be wider than sentences
			s.narrow = false
		}
	}
	return s
}

// states returns the words for states, by their colours.
func states() map[gopretty.Color][]string {
	return map[gopretty.Color][]string{
		gopretty.FgRed:    {"severe", "degraded", "regressed", "critical", "slower"},
		gopretty.FgYellow: {"watch", "suspect", "warning"},
		gopretty.FgGreen:  {"healthy", "stable", "faster", "improved"},
	}
}

// painted returns a word in the colour of the state that it names, and any other text unchanged.
func (s screen) painted(word string) string {
	if !s.colour {
		return word
	}
	for colour, words := range states() {
		if slices.Contains(words, word) {
			// Not Color.Sprint, which checks for a terminal by itself.
			return gopretty.Colors{colour}.EscapeSeq() + word + gopretty.EscapeReset
		}
	}
	return word
}
