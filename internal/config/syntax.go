package config

import (
	"bytes"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// syntaxProblem says where data stops being YAML. The library's own line is often
// that of the section around the error and sometimes missing, so the data is
// read again a byte at a time: the error is where reading ended, or a token before.
func syntaxProblem(data []byte, err error) Problem {
	r := &byteReader{data: data}
	for d := yaml.NewDecoder(r); ; {
		var n yaml.Node
		if d.Decode(&n) != nil {
			break
		}
	}
	at := max(r.next-1, 0)
	p := Problem{Line: 1 + bytes.Count(data[:at], []byte("\n"))}
	if indentedByTab(data, at) {
		p.Wrong, p.Want = "not YAML, here or just above: the line is indented by a tab", "spaces"
		return p
	}
	reason := regexp.MustCompile(`^yaml: (line \d+: )?`).ReplaceAllString(err.Error(), "")
	p.Wrong = "not YAML, here or just above: " + reason
	return p
}

// indentedByTab reports whether there is a tab before the first character of the
// line that at is in: most often the cause, and not to be seen in an editor.
func indentedByTab(data []byte, at int) bool {
	line := data[bytes.LastIndexByte(data[:at], '\n')+1:]
	indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	return bytes.IndexByte(indent, '\t') >= 0
}

// byteReader gives one byte at a time, so that its user reads no further than it must.
type byteReader struct {
	data []byte
	next int
}

// Read implements io.Reader.
func (r *byteReader) Read(p []byte) (int, error) {
	if r.next == len(r.data) {
		return 0, io.EOF
	}
	n := copy(p, r.data[r.next:r.next+1])
	r.next += n
	return n, nil
}
