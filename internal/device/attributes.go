package device

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// attributes reads the files of one sysfs directory. A file may be absent; the errors of files that
// exist are collected. Drives control the content of some files, so all text is made printable.
type attributes struct {
	fs   sysfs.FS
	dir  string
	errs []error
}

// text returns an attribute, empty when there is none.
func (a *attributes) text(name string) string {
	return a.at(a.dir, name)
}

// need returns an attribute that every block device has.
func (a *attributes) need(name string) string {
	text, err := a.fs.Text(path.Join(a.dir, name))
	if err != nil {
		a.errs = append(a.errs, err)
	}
	return text
}

// words returns an attribute with every run of white space as one blank.
func (a *attributes) words(name string) string {
	text, err := a.fs.Text(path.Join(a.dir, name))
	a.note(err)
	return words(text)
}

// words makes text printable, with every run of white space as one blank. White space is
// replaced first, because a tab is no longer white space once it is escaped.
func words(text string) string {
	return printable.Name(strings.Join(strings.Fields(text), " "))
}

// bytes returns an attribute that is not text, nil when there is none.
func (a *attributes) bytes(name string) []byte {
	data, err := a.fs.Bytes(path.Join(a.dir, name))
	a.note(err)
	return data
}

// flag reports whether an attribute is there and is not 0.
func (a *attributes) flag(name string) bool {
	n, ok := a.number(name)
	return ok && n != 0
}

// number returns an attribute that is a decimal number, and whether it could be read.
func (a *attributes) number(name string) (int64, bool) {
	n, err := a.fs.Int(path.Join(a.dir, name))
	a.note(err)
	return n, err == nil
}

// known returns a decimal attribute of a directory; unknown if it is not there. A
// relative directory is below that of the device.
func (a *attributes) known(dir, name string) record.Number {
	if !path.IsAbs(dir) {
		dir = path.Join(a.dir, dir)
	}
	n, err := a.fs.Int(path.Join(dir, name))
	a.note(err)
	if err != nil {
		return record.Number{}
	}
	return record.NumberOf(int(n))
}

// list returns the names in a directory, none when it is not there.
func (a *attributes) list(name string) []string {
	names, err := a.fs.List(path.Join(a.dir, name))
	a.note(err)
	return names
}

// target returns the last part of where a symbolic link points, empty when
// there is none.
func (a *attributes) target(name string) string {
	target, err := a.fs.Link(path.Join(a.dir, name))
	if err != nil {
		a.note(err)
		return ""
	}
	return path.Base(target)
}

// resolve returns where a path leads, empty when nothing is there.
func (a *attributes) resolve(name string) string {
	resolved, err := a.fs.Resolve(path.Join(a.dir, name))
	a.note(err)
	return resolved
}

// note collects an error, unless it means that the device has no such attribute. A
// driver that does not know the value answers EINVAL or EOPNOTSUPP, where another driver
// would not create the file.
func (a *attributes) note(err error) {
	if err == nil || errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
		return
	}
	a.errs = append(a.errs, err)
}

// err returns what could not be read of the device, or nil.
func (a *attributes) err(name string) error {
	if len(a.errs) == 0 {
		return nil
	}
	return fmt.Errorf("read device %s: %w", name, errors.Join(a.errs...))
}

// at returns an attribute of another directory.
func (a *attributes) at(dir, name string) string {
	text, err := a.fs.Text(path.Join(dir, name))
	a.note(err)
	return printable.Name(text)
}

// siblings returns the names of all block devices.
func (a *attributes) siblings() []string {
	names, err := a.fs.List(blockDir)
	a.note(err)
	return names
}
