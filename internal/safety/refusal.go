package safety

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrRefused matches every refusal.
var ErrRefused = errors.New("refused")

// Kind is the kind of a finding.
type Kind string

// The kinds of findings.
const (
	KindSerial    Kind = "serial"    // the typed serial is not the device's
	KindOther     Kind = "other"     // the path now leads to another device
	KindReadOnly  Kind = "read_only" // the device does not accept writes
	KindZoned     Kind = "zoned"     // the device accepts writes only at its write pointers
	KindMount     Kind = "mount"
	KindSwap      Kind = "swap"
	KindHolder    Kind = "holder" // md, LVM, dm-crypt, a loop device
	KindProcess   Kind = "process"
	KindExport    Kind = "export"    // the kernel serves it to other machines
	KindExclusive Kind = "exclusive" // somebody holds it exclusively
	KindSignature Kind = "signature"
	// KindUnknownData is data of no known format.
	KindUnknownData Kind = "unknown_data"
	KindPartition   Kind = "partition" // one known to the kernel
	KindBlind       Kind = "blind"     // something that may be on the device, or may use it, cannot be checked
	KindFormat      Kind = "format"    // formatting would reach further, or is impossible
	KindSpace       Kind = "space"     // for a file: the filesystem would be full
)

// Finding is one reason not to write.
type Finding struct {
	Kind Kind
	// Text describes it: "/dev/sdb1 is mounted at /srv".
	Text string
	// Cure says how to remove the cause, if the device is not in use; may be empty.
	Cure string
}

// RefusedError lists all findings. It matches ErrRefused.
type RefusedError struct {
	Path  string
	Found []Finding
	// Note says what could not be checked because a program is missing; may be empty.
	Note string
}

// mostOfAKind is how many findings of a kind are listed; further ones are only counted.
const mostOfAKind = 5

// Error returns "refused to write to /dev/sdb: /dev/sdb1 is mounted at /srv; …".
func (e *RefusedError) Error() string { return "refused to write to " + e.Path + ": " + e.Reasons() }

// Reasons returns the findings: "/dev/sdb1 is mounted at /srv; …".
func (e *RefusedError) Reasons() string { return strings.Join(e.List(), "; ") }

// weighty returns the kinds of findings that show that the device is in use, the most telling first.
func weighty() []Kind {
	return []Kind{KindMount, KindSwap, KindHolder, KindProcess, KindExport, KindExclusive}
}

// List returns the texts of the findings, users of the device first. While the device is in use, it leaves out
// the cures.
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
		case named && f.Kind == KindExclusive: // another finding says who holds it
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

// Is reports whether target is ErrRefused.
func (*RefusedError) Is(target error) bool { return target == ErrRefused }
