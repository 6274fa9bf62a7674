package fio

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// blanks are the characters that fio trims from the ends of a line and of a value.
	blanks = " \t\r\v\f"
	// maxName and maxLine are fio's own limits in bytes; it silently cuts off what is longer.
	maxName = 250
	maxLine = 4000
)

// Render returns the job file. The same Job always gives the same text: the well-known
// options in a fixed order, then Extra in its own order. A job that fio would read
// differently is an error: "#" and ";" begin a comment wherever they stand, "$" begins a
// substitution in a file name, section names beginning with "global" are global sections.
func (j Job) Render() (string, error) {
	if len(j.Sections) == 0 {
		return "", errors.New("render fio job: no section")
	}
	var b strings.Builder
	for i, s := range j.Sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := s.render(&b); err != nil {
			return "", fmt.Errorf("render fio job: section %q: %w", s.Name, err)
		}
	}
	return b.String(), nil
}

func (s Section) render(b *strings.Builder) error {
	if err := checkName(s.Name); err != nil {
		return err
	}
	fmt.Fprintf(b, "[%s]\n", s.Name)
	for _, f := range s.Options.fields() {
		if !f.isSet() {
			continue
		}
		for _, x := range s.Options.Extra {
			if f.named(x.Key) {
				return fmt.Errorf("%s: set twice, as a field and in Extra", x.Key)
			}
		}
		line, err := f.line()
		if err != nil {
			return err
		}
		if err := writeLine(b, line); err != nil {
			return err
		}
	}
	for _, x := range s.Options.Extra {
		line, err := x.line()
		if err != nil {
			return err
		}
		if err := writeLine(b, line); err != nil {
			return err
		}
	}
	return nil
}

func (x Option) line() (string, error) {
	switch {
	case x.Key == "", strings.ContainsAny(x.Key, "=[]"+blanks), isInclude(x.Key):
		return "", fmt.Errorf("option %q: not an option's name", x.Key)
	case strings.Trim(x.Value, blanks) != x.Value:
		return "", fmt.Errorf("%s: value %q begins or ends with a blank, which fio drops", x.Key, x.Value)
	case x.Bare && x.Value != "":
		return "", fmt.Errorf("%s: bare and yet with the value %q", x.Key, x.Value)
	}
	return x.text(), nil
}

func (x Option) text() string {
	if x.Bare {
		return x.Key
	}
	return x.Key + "=" + x.Value
}

func writeLine(b *strings.Builder, line string) error {
	if err := checkLine(line); err != nil {
		return err
	}
	b.WriteString(line)
	b.WriteByte('\n')
	return nil
}

// checkLine returns an error for a line that fio would cut off or misread.
func checkLine(line string) error {
	if len(line) > maxLine {
		return fmt.Errorf("a line of %d bytes: fio reads %d", len(line), maxLine)
	}
	if i := strings.IndexAny(line, "#;"); i >= 0 {
		return fmt.Errorf("%q: fio takes what follows %q for a comment", line, line[i:i+1])
	}
	for i := range len(line) {
		if c := line[i]; c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Errorf("%q: control character", line)
		}
	}
	return nil
}

func checkName(name string) error {
	switch {
	case name == Global:
		return nil
	case name == "":
		return errors.New("no name")
	case strings.HasPrefix(name, Global):
		return errors.New(`a name that begins with "global" makes it a global section`)
	case len(name) > maxName:
		return fmt.Errorf("a name of %d bytes: fio reads %d", len(name), maxName)
	case strings.ContainsAny(name, "[]"):
		return errors.New("brackets in a name")
	}
	return checkLine(name)
}

// isInclude reports whether fio takes a line for an include; fio looks only at the first letters.
func isInclude(line string) bool { return strings.HasPrefix(line, "include") }
