package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// progress shows how far a run is. On a terminal this is one line that is overwritten; elsewhere, it is a line
// when a step begins and one when it is over. It is only for people, so errors of writing are ignored.
type progress struct {
	w        io.Writer
	terminal bool
	width    int
	step     string // the step that began last
	over     bool   // it was shown as over
	shown    int    // width of the line on the terminal
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, width: 80}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal = true
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			p.width = width
		}
	}
	return p
}

func (p *progress) show(now run.Progress) {
	text := fmt.Sprintf("%s %3.0f %%", now.Step, 100*now.Done)
	if left := now.Left.Round(time.Second); left > 0 {
		text += ", " + units.Span(left) + " left"
	}
	if now.Text != "" {
		text += "  " + now.Text
	}
	text = printable.Text(text)
	if p.terminal {
		p.overwrite(text)
		return
	}
	if over := now.Done >= 1; now.Step != p.step || over && !p.over {
		p.write(text + "\n")
		p.step, p.over = now.Step, over
	}
}

func (p *progress) overwrite(text string) {
	if runes := []rune(text); len(runes) >= p.width {
		text = string(runes[:p.width-1])
	}
	columns := len([]rune(text))
	p.write("\r" + text + strings.Repeat(" ", max(0, p.shown-columns)))
	p.shown = columns
}

// end clears the line, so that other output can follow.
func (p *progress) end() {
	if p.terminal && p.shown > 0 {
		p.write("\r" + strings.Repeat(" ", p.shown) + "\r")
		p.shown = 0
	}
}

// note writes a separate line.
func (p *progress) note(text string) {
	p.end()
	p.write(printable.Lines(text) + "\n")
}

func (p *progress) write(text string) { _, _ = io.WriteString(p.w, text) }
