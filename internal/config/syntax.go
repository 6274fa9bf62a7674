package config

import (
	"bytes"
	"regexp"

	"go.yaml.in/yaml/v3"
)

var libraryLine = regexp.MustCompile(`^yaml: (line \d+: )?`)

// syntaxProblem returns where data stops being YAML. The line in the library's error is often that of the surrounding
// section, and sometimes missing. Therefore the data is read again one byte at a time: the error is where reading
// ends, or one token before.
func syntaxProblem(data []byte, err error) Problem {
	rest := bytes.NewReader(data)
	for d := yaml.NewDecoder(oneByte{rest}); d.Decode(new(yaml.Node)) == nil; {
	}
	read := data[:max(len(data)-rest.Len()-1, 0)]
	p := Problem{Line: 1 + bytes.Count(read, []byte("\n"))}
	line := data[bytes.LastIndexByte(read, '\n')+1:]
	indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	if bytes.Contains(indent, []byte("\t")) { // the most frequent cause, and invisible in an editor
		p.Wrong, p.Want = "not YAML, here or just above: the line is indented by a tab", "spaces"
		return p
	}
	p.Wrong = "not YAML, here or just above: " + libraryLine.ReplaceAllString(err.Error(), "")
	return p
}

// oneByte returns one byte at a time, so that its user reads no further than necessary.
type oneByte struct{ *bytes.Reader }

// Read implements io.Reader.
func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(1, len(p))]) }
