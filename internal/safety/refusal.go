package safety

import (
	"cmp"
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
	KindFormat      Kind = "format"    // to format it would reach further, or it cannot be
	KindSpace       Kind = "space"     // of a file: the filesystem would be full
)

// Finding is one thing that speaks against writing.
type Finding struct {
	Kind Kind
	// Text names it: "/dev/sdb1 is mounted at /srv".
	Text string
	// Cure says how to be rid of it, if the device is not in use; may be empty.
	Cure string
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
func (e *RefusedError) Reasons() string { return strings.Join(e.List(), "; ") }

// weighty are the kinds that say that the device is in use, the most telling first.
func weighty() []Kind {
	return []Kind{KindMount, KindSwap, KindHolder, KindProcess, KindExport, KindExclusive}
}

// List is what was found, its users first. How to be rid of what is on a device is not said while that is in use.
func (e *RefusedError) List() []string {
	rank := func(f Finding) int {
		if i := slices.Index(weighty(), f.Kind); i >= 0 {
			return i
		}
		return len(weighty())
	}
	found := slices.Clone(e.Found)
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(rank(a), rank(b)) })
	used := len(found) > 0 && rank(found[0]) < len(weighty())
	named := used && found[0].Kind != KindExclusive
	var texts []string
	of := map[Kind]int{}
	for _, f := range found {
		of[f.Kind]++
		switch {
		case named && f.Kind == KindExclusive: // who holds it is said
		case of[f.Kind] > mostOfAKind:
		case f.Cure != "" && !used:
			texts = append(texts, f.Text+": "+f.Cure)
		default:
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
	return texts
}

// Is makes it match ErrRefused.
func (*RefusedError) Is(target error) bool { return target == ErrRefused }
