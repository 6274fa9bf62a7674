package text

import (
	"io"
	"os"
	"slices"

	gopretty "github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// width is where sentences are wrapped that go to no terminal, and on wide ones.
const width = 118

// leastWidth is the least width that text is folded at. On a narrower terminal, lines go on where it breaks them.
const leastWidth = 40

// screen is what is written to.
type screen struct {
	width    int
	terminal bool
	narrow   bool // tables are folded at the width, too
	colour   bool
}

// screenOf returns what is known of a writer: the width of a terminal, and whether it shows colours. Where text is
// piped to, nobody knows how wide it is.
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

// states are the words that say how something is, with their colours.
func states() map[gopretty.Color][]string {
	return map[gopretty.Color][]string{
		gopretty.FgRed:    {"severe", "degraded", "regressed", "critical", "slower"},
		gopretty.FgYellow: {"watch", "suspect", "warning"},
		gopretty.FgGreen:  {"healthy", "stable", "faster", "improved"},
	}
}

// painted is a word in the colour of the state that it names; any other text as it is.
func (s screen) painted(word string) string {
	if !s.colour {
		return word
	}
	for colour, words := range states() {
		if slices.Contains(words, word) {
			// Not Color.Sprint, which asks for itself whether there is a terminal.
			return gopretty.Colors{colour}.EscapeSeq() + word + gopretty.EscapeReset
		}
	}
	return word
}
