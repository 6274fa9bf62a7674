package safety

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Permission allows to overwrite one raw device. Only Permit gives one; the zero
// value allows nothing.
type Permission struct {
	fs          sysfs.FS
	path        string
	number      string
	typed       string
	unknownData bool
	note        string
}

// Consent is to the loss of what nobody can name. The user gives it for a device whose
// Name was typed, besides.
type Consent string

// UnknownData is data of no format that is known: neither blank nor random. It covers no
// signature, partition or use of the device.
const UnknownData Consent = "unknown data"

// Name is what the user has to type to allow overwriting a device: its serial
// number, or its identity when it has none.
func Name(d record.Device) string {
	if d.Serial != "" {
		return d.Serial
	}
	return d.ID
}

// Permit allows to overwrite the device at path when the user typed its Name and
// nothing speaks against it. The error is a *RefusedError with all that does, or says
// what could not be looked at.
func Permit(fs sysfs.FS, path string, d record.Device, typed string, more ...Consent) (Permission, error) {
	p := Permission{fs: fs, path: path, number: d.Number, typed: typed, unknownData: slices.Contains(more, UnknownData)}
	claim, err := p.Claim()
	if err != nil {
		return Permission{}, err
	}
	p.note = claim.note
	return p, claim.Close()
}

// Note says what could not be looked at for want of a program; empty when all was.
func (p Permission) Note() string { return p.note }

// Covers reports whether the permission is for the device of that path and number.
func (p Permission) Covers(path, number string) bool {
	return p.path != "" && p.path == path && p.number != "" && p.number == number
}

// Claim is a device that is held exclusively: while it is, the kernel lets nobody
// mount it or a partition of it, or make a volume of it.
type Claim struct {
	permission Permission
	file       *os.File
	utilLinux  guard.Guard
	note       string
}

// Claim checks everything again and holds the device until it is closed. Errors are
// those of Permit.
func (p Permission) Claim() (*Claim, error) {
	if p.path == "" {
		return nil, fmt.Errorf("claim a device: %w: nobody has permitted it", ErrRefused)
	}
	file, held, err := open(p.path)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", p.path, err)
	}
	c := &Claim{permission: p, file: file}
	if err := c.check(held, true); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// open opens a device for reading: exclusively, or not when somebody else holds it,
// which is a finding.
func open(path string) (*os.File, []Finding, error) {
	const flags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK
	file, err := os.OpenFile(path, flags|unix.O_EXCL, 0)
	if !errors.Is(err, unix.EBUSY) {
		return file, nil, err
	}
	file, err = os.OpenFile(path, flags, 0)
	return file, []Finding{{KindExclusive, "the kernel or another process holds it exclusively"}}, err
}

// Check checks everything again while the device is held, except what fills it: that is
// what the run has written.
func (c *Claim) Check() error { return c.check(nil, false) }

// Close lets go of the device.
func (c *Claim) Close() error { return c.file.Close() }

func (c *Claim) check(found []Finding, content bool) error {
	p := c.permission
	fail := func(err error) error { return fmt.Errorf("check %s: %w", p.path, err) }
	size, other, err := c.identify()
	if err != nil {
		return fail(err)
	}
	if other != "" {
		return &RefusedError{Path: p.path, Found: []Finding{{KindOther, other}}}
	}
	d, err := device.Find(p.fs, p.number)
	if err != nil {
		return fail(err)
	}
	found = append(found, aboutDevice(d, p.typed)...)
	n, err := numbersOf(p.fs, d)
	if err != nil {
		return fail(err)
	}
	for _, look := range []func() ([]Finding, error){
		func() ([]Finding, error) { return mounts(p.fs, n) },
		func() ([]Finding, error) { return swaps(p.fs, n) },
		func() ([]Finding, error) { return holders(p.fs, d, n) },
		func() ([]Finding, error) { return processes(n) },
		func() ([]Finding, error) { return c.marks(p.fs, d, size) },
	} {
		more, err := look()
		if err != nil {
			return fail(err)
		}
		found = append(found, more...)
	}
	// A filesystem that is known by its name needs no word on what it is filled with.
	named := slices.ContainsFunc(found, func(f Finding) bool { return f.Kind == KindSignature || f.Kind == KindPartition })
	if content && !named && !p.unknownData {
		u, err := sample(context.Background(), c.file, size)
		if err != nil {
			return fail(err)
		}
		found = append(found, u.finding()...)
	}
	if len(found) > 0 {
		return &RefusedError{Path: p.path, Found: found, Note: c.note}
	}
	return nil
}

// identify makes sure that what is open, and what the path leads to now, is the
// device that was meant; other says what it is instead.
func (c *Claim) identify() (size int64, other string, err error) {
	var opened, named unix.Stat_t
	if err := unix.Fstat(int(c.file.Fd()), &opened); err != nil {
		return 0, "", err
	}
	if err := unix.Stat(c.permission.path, &named); err != nil {
		return 0, "", err
	}
	for _, st := range []unix.Stat_t{opened, named} {
		switch {
		case st.Mode&unix.S_IFMT != unix.S_IFBLK:
			return 0, "it is no block device", nil
		case numberText(st.Rdev) != c.permission.number:
			return 0, fmt.Sprintf("it is device %s now, and %s was meant", numberText(st.Rdev), c.permission.number), nil
		}
	}
	size, err = c.file.Seek(0, 2)
	return size, "", err
}

func aboutDevice(d record.Device, typed string) []Finding {
	var found []Finding
	add := func(kind Kind, format string, args ...any) {
		found = append(found, Finding{kind, fmt.Sprintf(format, args...)})
	}
	switch name := Name(d); {
	case name == "":
		add(KindSerial, "it has neither a serial number nor an identity to name it by")
	case typed == "":
		add(KindSerial, "nobody has named it by its serial number")
	case typed != name:
		add(KindSerial, "its serial number is %s, and %s was named", name, typed)
	}
	if d.ReadOnly {
		add(KindReadOnly, "it is read-only")
	}
	if d.Zoned != "" {
		add(KindZoned, "it is zoned (%s) and takes writes in order only", d.Zoned)
	}
	return found
}
