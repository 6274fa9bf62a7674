package wire

import (
	"bufio"
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
