package fiorun

import (
	"fmt"
	"strings"
)

// head keeps the first bytes written to it and counts the rest: the first message of a
// program names the cause, later ones are its consequences.
type head struct {
	limit   int
	data    []byte
	dropped int64
}

// Write never fails.
func (h *head) Write(p []byte) (int, error) {
	kept := min(len(p), h.limit-len(h.data))
	h.data = append(h.data, p[:kept]...)
	h.dropped += int64(len(p) - kept)
	return len(p), nil
}

// detached is what fio prints when a block device of the host, which need not be that of the job, disappears
// while fio looks through all of them for their statistics (diskutil.c). It says nothing about the job.
const detached = "stat: No such file or directory"

// note returns the text as the end of an error message: ": first line; second line".
func (h *head) note() string {
	const enough = 600
	var lines []string
	for line := range strings.Lines(string(h.data)) {
		if line = strings.TrimSpace(line); line != "" && line != detached {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "; ")
	if len(text) > enough {
		text = strings.ToValidUTF8(text[:enough], "") + "…"
	}
	if h.dropped > 0 {
		text += fmt.Sprintf(" (%d bytes more)", h.dropped)
	}
	if text == "" {
		return ""
	}
	return ": " + text
}
