package safety

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
	KindExclusive Kind = "exclusive" // somebody holds it exclusively
	KindSignature Kind = "signature"
	// KindUnknownData is data of no format that is known here.
	KindUnknownData Kind = "unknown_data"
	KindPartition   Kind = "partition" // that the kernel knows
	KindBlind       Kind = "blind"     // what is on it, or may use it, cannot be looked at
	KindSpace       Kind = "space"     // of a file: the filesystem would be full
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
	// Note says what could not be looked at for want of a program; may be empty.
	Note string
}

// mostOfAKind is how many findings of a kind are named; of the others there is the number.
const mostOfAKind = 5

// Error says "refused to write to /dev/sdb: /dev/sdb1 is mounted at /srv; …".
func (e *RefusedError) Error() string { return "refused to write to " + e.Path + ": " + e.Reasons() }

// Reasons says what was found: "/dev/sdb1 is mounted at /srv; …".
func (e *RefusedError) Reasons() string {
	var texts []string
	of := map[Kind]int{}
	for _, f := range e.Found {
		of[f.Kind]++
		if of[f.Kind] <= mostOfAKind {
			texts = append(texts, f.Text)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		if more := of[kind] - mostOfAKind; more > 0 {
			texts = append(texts, fmt.Sprintf("and %d more of this kind: %s", more, kind))
		}
	}
	if e.Note != "" {
		texts = append(texts, e.Note)
	}
	return strings.Join(texts, "; ")
}

// Is makes it match ErrRefused.
func (*RefusedError) Is(target error) bool { return target == ErrRefused }
