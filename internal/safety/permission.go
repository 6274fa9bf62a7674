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

// Permission allows its holder to overwrite one raw device. Only Permit returns one; the
// zero value allows nothing.
type Permission struct {
	fs          sysfs.FS
	path        string
	number      string
	typed       string
	unknownData bool
	format      bool
	note        string
}

// Consent is a user's consent to something that typing the Name of a device does not cover.
type Consent string

// UnknownData is the consent to overwrite data of no known format, that is, neither blank
// nor random. It does not cover any signature, partition or use of the device.
const UnknownData Consent = "unknown data"

// Name returns what the user has to type to allow a device to be overwritten: its serial
// number, or its identity if it has none.
func Name(d record.Device) string {
	if d.Serial != "" {
		return d.Serial
	}
	return d.ID
}

// Permit allows the device at path to be overwritten if the user typed its Name and no
// check finds anything against it. The error is a *RefusedError with all findings, or says
// what could not be checked. If ctx ends first, the error is its cause, even while a check
// hangs.
func Permit(ctx context.Context, fs sysfs.FS, path string, d record.Device, typed string, more ...Consent) (Permission, error) {
	p := Permission{fs: fs, path: path, number: d.Number, typed: typed, unknownData: slices.Contains(more, UnknownData), format: slices.Contains(more, Format)}
	claim, err := p.Claim(ctx)
	if err != nil {
		return Permission{}, err
	}
	p.note = claim.note
	return p, claim.Close()
}

// Note says what could not be checked because a program is missing; empty if nothing was.
func (p Permission) Note() string { return p.note }

// Covers reports whether the permission is for the device with this path and number.
func (p Permission) Covers(path, number string) bool {
	return p.path != "" && p.path == path && p.number != "" && p.number == number
}

// Claim holds a device exclusively. While it does, the kernel lets nobody mount the device
// or a partition of it, or make it part of a volume.
type Claim struct {
	permission Permission
	file       *os.File
	guard      *guard.Guard // for calls that may hang
	utilLinux  guard.Guard  // for programs that look at the device
	note       string
}

// Claim checks everything again and holds the device until the claim is closed. Errors are
// those of Permit.
func (p Permission) Claim(ctx context.Context) (*Claim, error) {
	if p.path == "" {
		return nil, fmt.Errorf("claim a device: %w: nobody has permitted it", ErrRefused)
	}
	c := &Claim{permission: p, guard: &guard.Guard{}}
	l := &look{guard: c.guard}
	err := l.ask(ctx, itself, func() (found []Finding, err error) {
		c.file, found, err = open(p.path)
		return found, err
	})
	if err == nil {
		err = c.look(ctx, l, true)
	}
	if err := c.verdict(l, err); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// itself names the device in findings about what does not answer.
const itself = "the device itself"

// open opens a device for reading, exclusively if possible. If somebody else holds it, that
// is a finding, and open does so without exclusive access.
func open(path string) (*os.File, []Finding, error) {
	const flags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK
	file, err := os.OpenFile(path, flags|unix.O_EXCL, 0)
	if !errors.Is(err, unix.EBUSY) {
		return file, nil, err
	}
	file, err = os.OpenFile(path, flags, 0)
	return file, []Finding{{Kind: KindExclusive, Text: "the kernel or another process holds it exclusively: lsblk and fuser -v show who"}}, err
}

// Check checks everything again while the device is held, except for data of no known
// format, which the run itself may have written. Errors are those of Permit.
func (c *Claim) Check(ctx context.Context) error {
	l := &look{guard: c.guard}
	return c.verdict(l, c.look(ctx, l, false))
}

// File returns the descriptor that holds the device, read-only. A process that inherits it
// keeps holding the device after this one has closed it or was killed.
func (c *Claim) File() *os.File { return c.file }

// Close releases the device, at the latest when calls that hang on it return.
func (c *Claim) Close() error {
	var err error
	closed := c.guard.Finally(func() {
		if c.file != nil {
			err = c.file.Close()
		}
	})
	if !closed {
		return nil
	}
	return err
}

// verdict returns the result of a look that ended with err.
func (c *Claim) verdict(l *look, err error) error {
	switch {
	case err != nil && !errors.Is(err, errHung):
		return fmt.Errorf("check %s: %w", c.permission.path, err)
	case len(l.found) > 0:
		return &RefusedError{Path: c.permission.path, Found: l.found, Note: c.note}
	}
	return nil
}

// look checks everything that speaks against writing. It samples the device's content only
// if content is true.
func (c *Claim) look(ctx context.Context, l *look, content bool) error {
	p := c.permission
	var s subject
	var d record.Device
	var size int64
	other := false
	if err := l.ask(ctx, itself, func() (found []Finding, err error) {
		var text string
		if size, text, err = c.identify(); err != nil {
			return nil, err
		}
		if other = text != ""; other {
			return []Finding{{Kind: KindOther, Text: text}}, nil
		}
		if d, err = device.Find(p.fs, p.number); err != nil {
			return nil, err
		}
		s, err = subjectOf(p.fs, d, c.file)
		found = append(aboutDevice(d, p.typed), s.holders()...)
		if p.format {
			found = append(found, aboutFormat(d)...)
		}
		return found, err
	}); err != nil || other {
		return err
	}
	if err := l.ask(ctx, "a source of a mount", s.mounts); err != nil {
		return err
	}
	if err := l.ask(ctx, "swap space", s.swaps); err != nil {
		return err
	}
	for _, search := range []func(context.Context, *look) error{s.loops, s.exports, s.processes} {
		if err := search(ctx, l); err != nil {
			return err
		}
	}
	if err := c.marks(ctx, l, d, size, !content); err != nil {
		return err
	}
	if p.format && len(d.Controllers) > 0 {
		if err := l.ask(ctx, "another namespace of the controller", func() ([]Finding, error) { return beside(p.fs, d, HeldByOthers) }); err != nil {
			return err
		}
	}
	if content && p.format && len(d.Controllers) > 0 {
		if err := c.reach(ctx, l); err != nil {
			return err
		}
	}
	// A format that was recognised is reason enough; its data need not be sampled.
	named := slices.ContainsFunc(l.found, func(f Finding) bool { return f.Kind == KindSignature || f.Kind == KindPartition })
	if !content || named || p.unknownData {
		return nil
	}
	return l.askFor(ctx, contentPatience+patience, itself, func() ([]Finding, error) {
		u, err := sample(ctx, c.file, size)
		return u.finding(), err
	})
}

// identify checks that both the open device and the one that the path now leads to are the
// device that was meant. If not, other describes the difference.
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
			return 0, "it is not a block device", nil
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
		found = append(found, Finding{Kind: kind, Text: fmt.Sprintf(format, args...)})
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
