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
	reason := regexp.MustCompile(`^yaml: (line \d+: )?`).ReplaceAllString(err.Error(), "")
	return Problem{
		Line: 1 + bytes.Count(data[:max(r.next-1, 0)], []byte("\n")), Wrong: "not YAML, here or just above: " + reason,
	}
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
