package wire

import (
	"bufio"
	"io"
)

// greeting has bytes that never occur in JSON, so no message or part of one looks like it.
const greeting = "\xff\xfelab\xfe\xff\n"

// Greet begins a conversation on a line that may still carry data from before a reset of the machine.
// Each end calls Greet once, and reads after the other end's greeting, which Greeted finds.
func Greet(w io.Writer) error {
	_, err := io.WriteString(w, greeting)
	return err
}

// Greeted discards everything up to and including the other end's greeting.
func Greeted(r *bufio.Reader) error {
	for {
		next, err := r.Peek(len(greeting))
		switch {
		case err != nil:
			return err
		case string(next) == greeting:
			_, err = r.Discard(len(greeting))
			return err
		}
		if _, err := r.Discard(1); err != nil {
			return err
		}
	}
}
