package text

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Help writes the help of a command. On a terminal, prose and lists are folded at its width. Elsewhere the text stays as
// it is, so that grep for a flag finds a line with its whole description.
func Help(w io.Writer, help string) error {
	p := page{screen: screenOf(w)}
	if p.terminal {
		help = p.help(help)
	}
	if _, err := io.WriteString(w, help); err != nil {
		return fmt.Errorf("write help: %w", err)
	}
	return nil
}

func (p *page) help(text string) string {
	for _, line := range paragraphs(strings.ReplaceAll(text, "\t", "  ")) {
		p.helpLine(line)
	}
	return p.b.String()
}

// paragraphs joins into one line what the source of a help text folds: consecutive sentences, a list item, or the
// description of a flag.
func paragraphs(help string) []string {
	var lines []string
	last := ""
	for line := range strings.SplitSeq(strings.TrimSuffix(help, "\n"), "\n") {
		if last == "" || copied(last) || line == "" || strings.HasPrefix(line, "- ") || indentOf(line) != len(lead(last)) {
			last = line
			lines = append(lines, last)
			continue
		}
		last += " " + strings.TrimSpace(line)
		lines[len(lines)-1] = last
	}
	return lines
}

// lead returns the part of a line after which further lines are aligned: the mark of a list item, or a flag or command up
// to its description. It is empty for prose.
func lead(line string) string { return regexp.MustCompile(`^(- | +\S.*?  +)?`).FindString(line) }

// copied reports whether a line is meant to be copied, such as an example, and so stays whole.
func copied(line string) bool { return lead(line) == "" && indentOf(line) > 0 }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// leastRoom is the room beside a flag, in columns, below which the description starts on the next line.
const leastRoom = 24

func (p *page) helpLine(line string) {
	lead := lead(line)
	words := strings.Split(line[len(lead):], " ")
	switch {
	case copied(line):
		p.line(line)
	case p.width-len(lead) < leastRoom:
		p.line(lead)
		p.fold(strings.Repeat(" ", 10), 10, words)
	default:
		p.fold(lead, len(lead), words)
	}
}
