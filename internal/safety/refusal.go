package safety

import (
	"errors"
	"fmt"
	"strings"
)

// ErrRefused is matched by every refusal.
var ErrRefused = errors.New("refused")

// Kind is what speaks against writing to a device.
type Kind string

// The kinds of findings.
const (
	KindSerial    Kind = "serial"    // the serial typed is not the device's
	KindOther     Kind = "other"     // the path leads to another device now
	KindReadOnly  Kind = "read_only" // the device takes no writes
	KindZoned     Kind = "zoned"     // the device takes writes at its write pointers only
	KindMount     Kind = "mount"
	KindSwap      Kind = "swap"
	KindHolder    Kind = "holder" // md, LVM, dm-crypt, a loop device
	KindProcess   Kind = "process"
	KindExport    Kind = "export"    // the kernel serves it to other machines
	KindUnknown   Kind = "unknown"   // something that may use it cannot be looked at
	KindExclusive Kind = "exclusive" // somebody holds it exclusively
	KindSignature Kind = "signature"
	KindSpace     Kind = "space" // of a file: the filesystem would be full
)

// Finding is one thing that speaks against writing.
type Finding struct {
	Kind Kind
	// Text names it: "/dev/sdb1 is mounted at /srv".
	Text string
}

// RefusedError names everything that was found. It matches ErrRefused.
type RefusedError struct {
	Path  string
	Found []Finding
}

// Error says "refused to write to /dev/sdb: /dev/sdb1 is mounted at /srv; …".
func (e *RefusedError) Error() string {
	texts := make([]string, len(e.Found))
	for i, f := range e.Found {
		texts[i] = f.Text
	}
	return fmt.Sprintf("refused to write to %s: %s", e.Path, strings.Join(texts, "; "))
}

// Is makes it match ErrRefused.
func (*RefusedError) Is(target error) bool { return target == ErrRefused }
