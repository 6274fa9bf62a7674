package sysfs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// AttributeLimit is the most bytes an attribute may hold. The kernel gives an
// attribute of sysfs one page, which is 64 KiB at most
// (Documentation/filesystems/sysfs.rst).
const AttributeLimit = 64 << 10

// ErrTruncated says that a file holds more than AttributeLimit and has to be
// read with Open.
var ErrTruncated = errors.New("longer than an attribute may be")

// FS is /sys, /proc and /dev below a root. All paths given to it are absolute
// paths inside that root. The zero value is the machine itself.
type FS struct {
	root string // without a slash at its end: empty for the machine itself
}

// New returns the files below root; "/" is the machine itself.
func New(root string) FS {
	return FS{root: strings.TrimSuffix(path.Clean(root), "/")}
}

// Root is the directory that New was given.
func (f FS) Root() string { return cmp.Or(f.root, "/") }

// Bytes returns a whole attribute as the kernel gave it.
//
// An absent attribute, and a device that is gone (ENODEV, ENXIO), match
// os.ErrNotExist; what is longer than AttributeLimit matches ErrTruncated.
func (f FS) Bytes(name string) ([]byte, error) {
	full, err := f.locate(name)
	if err != nil {
		return nil, err
	}
	// A buffer for the largest attribute would be too much memory with hundreds of goroutines.
	const usual = 1 << 10
	for _, size := range []int{usual, AttributeLimit + 1} {
		data, err := readOnce(full, size)
		if err != nil || len(data) < size {
			return data, err
		}
	}
	return nil, pathError("read", full, ErrTruncated)
}

// readOnce returns the first size bytes of an attribute, or all if it has fewer.
//
// It uses one raw read, for two reasons. Attributes of sysfs can be polled, so an
// os.File registers them with the runtime's poller. Some drivers then answer EAGAIN
// where they mean an error, and the goroutine waits forever for a file that never
// becomes ready. The second reason is that the kernel fills in an attribute at the
// first read only, so that one read is consistent and two may not be.
// https://github.com/prometheus/node_exporter/pull/728
func readOnce(full string, size int) ([]byte, error) {
	fd, err := open(full)
	if err != nil {
		return nil, pathError("open", full, err)
	}
	defer func() { _ = unix.Close(fd) }() // only read
	buf := make([]byte, size)
	n, err := read(fd, buf)
	if err != nil {
		return nil, pathError("read", full, err)
	}
	return buf[:n], nil
}

// Text returns an attribute without the white space and zero bytes that drivers
// pad it with. Its errors are those of Bytes.
func (f FS) Text(name string) (string, error) {
	data, err := f.Bytes(name)
	if err != nil {
		return "", err
	}
	return strings.Trim(string(data), " \t\r\n\x00"), nil
}

// Int returns an attribute that is a decimal number.
func (f FS) Int(name string) (int64, error) {
	text, err := f.Text(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse %s%s: %w", f.root, name, err)
	}
	return n, nil
}

// Uint returns an attribute that is a decimal number and not negative.
func (f FS) Uint(name string) (uint64, error) {
	text, err := f.Text(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse %s%s: %w", f.root, name, err)
	}
	return n, nil
}

// Open opens a file to be read as a stream, for files of /proc whose size has no bound.
// The caller closes it.
func (f FS) Open(name string) (*os.File, error) {
	full, err := f.locate(name)
	if err != nil {
		return nil, err
	}
	fd, err := open(full)
	if err != nil {
		return nil, pathError("open", full, err)
	}
	// A descriptor in blocking mode stays out of the runtime's poller; see readOnce.
	return os.NewFile(uintptr(fd), full), nil
}

// List returns the names in a directory, sorted.
func (f FS) List(dir string) ([]string, error) {
	full, err := f.locate(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, nil
}

// Inode returns the inode number of a file or directory. A device that comes back has a directory with another number.
func (f FS) Inode(name string) (uint64, error) {
	full, err := f.locate(name)
	if err != nil {
		return 0, err
	}
	var st unix.Stat_t
	if err := unix.Stat(full, &st); err != nil {
		return 0, pathError("stat", full, err)
	}
	return st.Ino, nil
}

func open(full string) (int, error) {
	for {
		fd, err := unix.Open(full, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func read(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// pathError names the operation and the file, and makes "no such device" match
// os.ErrNotExist as "no such file" does: sysfs returns the former if the device left
// between open and read.
func pathError(op, full string, err error) error {
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENXIO) {
		err = goneError{err}
	}
	return &os.PathError{Op: op, Path: full, Err: err}
}

type goneError struct{ error }

func (e goneError) Unwrap() error { return e.error }

func (e goneError) Is(target error) bool { return target == os.ErrNotExist }
