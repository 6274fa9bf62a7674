package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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

// ofItems is where it is written in the items of a list.
func (c comments) ofItems() comments {
	if c == none {
		return none
	}
	return beside
}

// commentWidth is where the lines of comments are broken, without their indentation.
const commentWidth = 80

// comment puts what there is to say of a key where it is to be.
func (e entry) comment(c comments, key, value *yaml.Node) {
	switch c {
	case above:
		key.HeadComment = wrapped(e.help)
		if l, ok := e.field.(interface{ sample(key string) string }); ok && len(value.Content) == 0 {
			key.HeadComment += indented(l.sample(e.key))
		}
		value.LineComment = e.field.says()
	case beside:
		value.LineComment = e.description()
	case none:
	}
}

// description is what the key means, and what its value may be.
func (e entry) description() string {
	help, says := strings.ReplaceAll(e.help, "\n", " "), e.field.says()
	if help != "" && says != "" {
		if strings.HasSuffix(help, ".") {
			return help + " " + strings.ToUpper(says[:1]) + says[1:] + "."
		}
		return help + "; " + says
	}
	return help + says
}

// sample is what the list would look like in the file if it were not empty; empty when
// the form has no example.
func (l list[T]) sample(key string) string {
	if len(l.example) == 0 {
		return ""
	}
	text, err := commented(section{{key: key, field: list[T]{dst: &l.example, fresh: l.fresh, form: l.form}}})
	if err != nil {
		return err.Error() // a test compares the file
	}
	return string(text)
}

// commented writes a form with its comments.
func commented(s section) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(s.write(above)); err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return laidOut(b.String())
}

// laidOut sets comments apart: an empty line before those that have lines of their own,
// and one column for those that are behind values of the same list.
func laidOut(text string) ([]byte, error) {
	var lines strings.Builder
	before := ":"
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		code := strings.TrimSpace(line)
		isComment := strings.HasPrefix(code, "#")
		if isComment && !strings.HasPrefix(before, "#") && !strings.HasSuffix(before, ":") {
			lines.WriteByte('\n')
		}
		if value, comment, ok := strings.Cut(line, " # "); ok && !isComment {
			line = value + "\t# " + comment
		}
		lines.WriteString(line + "\n")
		before = code
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, err := io.WriteString(w, lines.String())
	if err = errors.Join(err, w.Flush()); err != nil {
		return nil, fmt.Errorf("lay out the configuration: %w", err)
	}
	return b.Bytes(), nil
}

// wrapped breaks paragraphs, which are lines, at the width of comments.
func wrapped(help string) string {
	var b strings.Builder
	for paragraph := range strings.Lines(help) {
		width := 0
		for word := range strings.FieldsSeq(paragraph) {
			switch length := len([]rune(word)); {
			case width == 0:
				b.WriteString("# " + word)
				width = 2 + length
			case width+1+length <= commentWidth:
				b.WriteString(" " + word)
				width += 1 + length
			default:
				b.WriteString("\n# " + word)
				width = 2 + length
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// indented is a text as a part of a comment.
func indented(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("#\n")
	for line := range strings.Lines(text) {
		b.WriteString("#   " + line)
	}
	return b.String()
}
