package fiorun

import "bytes"

// lines calls line for each line written to it. fio ends its status lines with a
// carriage return, so that the next one overwrites it.
type lines struct {
	line    func(string)
	partial []byte
}

// maxLine is longer than any line of fio; longer ones are truncated.
const maxLine = 8 << 10

// Write never fails.
func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexAny(p, "\r\n")
		rest := p
		if i >= 0 {
			rest = p[:i]
		}
		l.partial = append(l.partial, rest[:min(len(rest), maxLine-len(l.partial))]...)
		if i < 0 {
			return n, nil
		}
		l.line(string(l.partial))
		l.partial = l.partial[:0]
		p = p[i+1:]
	}
}
