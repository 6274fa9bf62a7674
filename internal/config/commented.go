package config

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// commentedHead begins the commented file.
const commentedHead = `# Configuration of ssdprobe. Everything in here is the default: a file needs only
# what is to differ, and an empty one is valid.
#
#   ssdprobe config check FILE    says what is wrong, with lines
#   ssdprobe config show          prints what is in force, defaults included
#   ssdprobe config schema        prints the JSON schema, for editors
#   kill -HUP                     makes the daemon read it again; a bad file is refused and the old one stays
#
# Sizes:     4096, 4KiB, 1GiB (powers of 1024), 1GB (powers of 1000).
# Durations: 500ms, 30s, 5m, 1h30m, 7d.
# Ratios:    0.8 or 80%.
`

// Commented returns the default configuration in the form of the file, with what each key
// means and may be.
func Commented() ([]byte, error) {
	c := Default()
	text, err := commented(c.form())
	return append([]byte(commentedHead+"\n"), text...), err
}

// comments is where what is said of keys is written.
type comments int

const (
	none   comments = iota
	above           // in lines of their own
	beside          // behind the values
)

// commentWidth is where the lines of comments are broken, without their indentation.
const commentWidth = 80

// comment puts what there is to say of a key where it is to be.
func (e entry) comment(c comments, key, value *yaml.Node) {
	switch c {
	case above:
		a := e.field.about()
		key.HeadComment, value.LineComment = wrapped(e.help), a.says
		if a.example != nil && len(value.Content) == 0 {
			key.HeadComment += indented(section{{key: e.key, field: a.example}})
		}
	case beside:
		value.LineComment = e.description()
	case none:
	}
}

// description is what the key means, and what its value may be.
func (e entry) description() string {
	help, says := strings.ReplaceAll(e.help, "\n", " "), e.field.about().says
	if help != "" && says != "" {
		if strings.HasSuffix(help, ".") {
			return help + " " + strings.ToUpper(says[:1]) + says[1:] + "."
		}
		return help + "; " + says
	}
	return help + says
}

// commented writes a form with its comments.
func commented(s section) ([]byte, error) {
	text, err := encoded(s.write(above))
	if err != nil {
		return nil, err
	}
	return laidOut(string(text))
}

// laidOut sets comments apart: an empty line before those that have lines of their own,
// and one column for those that are behind values of the same list.
func laidOut(text string) ([]byte, error) {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	before := ":"
	for line := range strings.Lines(text) {
		code := strings.TrimSpace(line)
		isComment := strings.HasPrefix(code, "#")
		if isComment && !strings.HasPrefix(before, "#") && !strings.HasSuffix(before, ":") {
			line = "\n" + line
		} else if !isComment {
			line = strings.Replace(line, " # ", "\t# ", 1)
		}
		if _, err := io.WriteString(w, line); err != nil {
			return nil, fmt.Errorf("lay out the configuration: %w", err)
		}
		before = code
	}
	if err := w.Flush(); err != nil {
		return nil, fmt.Errorf("lay out the configuration: %w", err)
	}
	return b.Bytes(), nil
}

// wrapped breaks paragraphs, which are lines, at the width of comments.
func wrapped(help string) string {
	var b strings.Builder
	for paragraph := range strings.Lines(help) {
		line := "#"
		for word := range strings.FieldsSeq(paragraph) {
			if line != "#" && utf8.RuneCountInString(line+" "+word) > commentWidth {
				b.WriteString(line + "\n")
				line = "#"
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// indented is an example as a part of a comment.
func indented(example section) string {
	text, err := commented(example)
	if err != nil {
		return err.Error() // a test compares the file
	}
	return "#\n#   " + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n#   ") + "\n"
}
