package record

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// ErrorName returns the name under which errors of I/O are counted, such as "EIO" or "ENODATA". It is "SHORT" when
// fewer bytes arrived than were asked for, because the target shrank, and "OTHER" for an error without an errno.
func ErrorName(err error) string {
	var errno unix.Errno
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "SHORT"
	case !errors.As(err, &errno):
		return "OTHER"
	}
	if name := unix.ErrnoName(errno); name != "" {
		return name
	}
	return fmt.Sprintf("errno %d", int(errno))
}
