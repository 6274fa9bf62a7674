package top

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// Control sequences of a terminal (ECMA-48; xterm for the alternate screen).
const (
	enter     = "\x1b[?1049h\x1b[?25l\x1b[2J" // alternate screen, no cursor
	leave     = "\x1b[0m\x1b[?25h\x1b[?1049l"
	toLine    = "\x1b[%d;1H"
	clearAll  = "\x1b[2J"
	clearLine = "\x1b[K"
	clearDown = "\x1b[J"
)

// Screen is a terminal that shows lines. Open it with OpenScreen, and always restore it with Close.
type Screen struct {
	in, out *os.File
	colours bool

	mu     sync.Mutex
	before *term.State // of the terminal; nil when it is restored
}

// Live reports whether a live view is possible: in and out are terminals that can move their cursor.
func Live(in, out *os.File) bool {
	kind := os.Getenv("TERM")
	return kind != "" && kind != "dumb" && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// Coloured reports whether the user wants colours (no-color.org).
func Coloured() bool { return os.Getenv("NO_COLOR") == "" }

// OpenScreen takes over a terminal.
func OpenScreen(in, out *os.File, colours bool) (*Screen, error) {
	s := &Screen{in: in, out: out, colours: colours}
	if err := s.Resume(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Resume takes over the terminal again.
func (s *Screen) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := term.MakeRaw(int(s.in.Fd()))
	if err != nil {
		return fmt.Errorf("take the terminal: %w", err)
	}
	s.before = before
	_, err = s.out.WriteString(enter)
	return err
}

// Close restores the terminal. It may be called more than once, from any goroutine.
func (s *Screen) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before == nil {
		return nil
	}
	_, err := s.out.WriteString(leave)
	if restored := term.Restore(int(s.in.Fd()), s.before); restored != nil {
		err = fmt.Errorf("restore the terminal (type reset): %w", restored)
	}
	s.before = nil
	return err
}

// Size returns the width in characters and the height in lines; 80 and 24 when the terminal does not tell.
func (s *Screen) Size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// Show replaces the lines on the screen.
func (s *Screen) Show(lines []Line) error {
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, toLine, i+1)
		b.WriteString(l.ansi(s.colours))
		b.WriteString(clearLine)
	}
	b.WriteString(clearDown)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before == nil { // Close has restored the terminal
		return nil
	}
	_, err := s.out.WriteString(b.String())
	return err
}

// Clear clears the screen, on which others may have written.
func (s *Screen) Clear() error {
	_, err := s.out.WriteString(clearAll)
	return err
}

// ansi returns the line with its tones as SGR sequences.
func (l Line) ansi(colours bool) string {
	var b strings.Builder
	for _, s := range l {
		if code := s.Tone.sgr(colours); code != "" {
			b.WriteString("\x1b[" + code + "m" + s.Text + "\x1b[0m")
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// sgr returns the SGR code of a tone. Without colours, only Strong and Selected have one.
func (t Tone) sgr(colours bool) string {
	switch t {
	case Strong:
		return "1"
	case Selected:
		return "7"
	case Faint, Good, Warn, Bad, Plain:
	}
	if !colours {
		return ""
	}
	switch t {
	case Faint:
		return "2"
	case Good:
		return "32"
	case Warn:
		return "33"
	case Bad:
		return "1;31"
	case Plain, Strong, Selected:
	}
	return ""
}
