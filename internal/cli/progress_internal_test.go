package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/run"
)

// A line on a terminal overwrites the whole line before. It is never so wide that the terminal wraps it.
func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, terminal: true, width: 34}
	shows := func(want string) {
		t.Helper()
		assert.Equal(t, want, out.String())
		out.Reset()
	}
	p.show(run.Progress{Step: "fill", Done: 0.054, Left: 95*time.Second + 400*time.Millisecond})
	shows("\rfill   5 %, 1 min 35 s left")
	p.show(run.Progress{Step: "fill", Done: 0.5, Left: 9 * time.Second})
	shows("\rfill  50 %, 9 s left       ")
	p.show(run.Progress{Step: "read", Done: 0.75, Left: 8 * time.Second, Text: "12 000 IOPS"})
	shows("\rread  75 %, 8 s left  12 000 IOPS")
	p.show(run.Progress{Step: "read", Done: 0.8, Left: 8 * time.Second, Text: "112 000 IOPS"})
	shows("\rread  80 %, 8 s left  112 000 IOP")
	p.show(run.Progress{Step: "read", Done: 1, Left: 400 * time.Millisecond, Text: "a\x1bb"})
	shows("\rread 100 %  a\\x1bb               ")
	p.note("a warning")
	shows("\r                  \ra warning\n")
	p.end()
	shows("")
}

// Without a terminal, there is a line for the beginning of a step and one for its end.
func TestProgressInALog(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	for _, now := range []run.Progress{
		{Step: "fill", Left: 90 * time.Second},
		{Step: "fill", Done: 0.5, Left: 45 * time.Second},
		{Step: "fill", Done: 1},
		{Step: "fill", Done: 1, Text: "late"},
		{Step: "read", Done: 0.1, Left: 2 * time.Second, Text: "words"},
	} {
		p.show(now)
	}
	p.end()
	assert.Equal(t, "fill   0 %, 1 min 30 s left\nfill 100 %\nread  10 %, 2 s left  words\n", out.String())
}
