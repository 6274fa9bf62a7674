package record

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// ErrorName names the error of an I/O, as errors are counted by: "EIO", "ENODATA";
// "SHORT" when fewer bytes came than were asked for, because the target shrank.
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
