package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// greeting has bytes that JSON never has, so no message, nor a part of one, looks like it.
const greeting = "\xff\xfelab\xfe\xff\n"

// Greet begins a conversation on a line that may still carry what a machine said, or was told, before it was reset.
// Each end greets once, and reads on from where Greeted says that the other did.
func Greet(w io.Writer) error {
	_, err := io.WriteString(w, greeting)
	return err
}

// Greeted drops everything up to the other end's greeting, and that too.
func Greeted(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case bytes.HasSuffix(line, []byte(greeting)):
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			// A long line of an old message; had it ended in the greeting's first bytes, the rest would be missed, but
			// then those bytes were a message's own, which has none of them.
		case err != nil:
			return err
		}
	}
}
