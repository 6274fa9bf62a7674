package target

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// ErrNoDirectIO says that a file or device does not support O_DIRECT. There is no fallback, because reading
// through the page cache would measure memory.
var ErrNoDirectIO = errors.New("direct I/O (O_DIRECT) is not possible here")

// direct is a descriptor opened with O_DIRECT. Its system calls go through package unix and thus through the Go
// scheduler. A raw system call that blocks in the kernel would block the garbage collector, and with it the whole
// process.
type direct struct {
	fd    int
	path  string
	flags int
	// released identifies what Release closed; nil while open.
	released *identity
}

func openDirect(path string, flags int, mode uint32) (direct, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_DIRECT|unix.O_CLOEXEC|unix.O_NONBLOCK, mode)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EINVAL):
			return direct{}, fmt.Errorf("open %s: %w", path, whyInvalid(path))
		case errors.Is(err, unix.ELOOP):
			return direct{}, fmt.Errorf("open %s: it is a symbolic link; name the file itself", path)
		case err != nil:
			return direct{}, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return direct{fd: fd, path: path, flags: flags}, nil
	}
}

// whyInvalid distinguishes a target without O_DIRECT from a path that is no target at all.
func whyInvalid(path string) error {
	info, err := os.Stat(path)
	if err == nil && (info.Mode().IsRegular() || info.Mode().Type() == fs.ModeDevice) {
		return ErrNoDirectIO
	}
	return errors.Join(errNoTarget, err)
}

var errNoTarget = errors.New("neither a regular file nor a block device")

// ReadAt reads len(p) bytes at off with one system call. Unlike what io.ReaderAt requires, it may return fewer
// bytes without an error at the end of the target.
func (d *direct) ReadAt(p []byte, off int64) (int, error) {
	for {
		n, err := unix.Pread(d.fd, p, off)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return max(n, 0), err
	}
}

// datasync returns when everything written is on the drive.
func (d *direct) datasync() error {
	return uninterrupted(func() error { return unix.Fdatasync(d.fd) })
}

// uninterrupted repeats call while a signal interrupts it: the Go runtime sends signals to its own threads.
func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Path returns the path of the target.
func (d *direct) Path() string { return d.path }

// Close closes the descriptor.
func (d *direct) Close() error {
	if d.released != nil {
		return nil
	}
	if err := unix.Close(d.fd); err != nil {
		return &fs.PathError{Op: "close", Path: d.path, Err: err}
	}
	return nil
}

func (d *direct) stat() (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return st, &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	return st, nil
}

func (d *direct) statfs() (unix.Statfs_t, error) {
	var st unix.Statfs_t
	err := uninterrupted(func() error { return unix.Fstatfs(d.fd, &st) })
	if err != nil {
		return st, &fs.PathError{Op: "statfs", Path: d.path, Err: err}
	}
	return st, nil
}

// fileBlockBytes returns the size of which offsets and lengths of direct I/O on a file must be multiples. It
// returns 0 if the kernel does not say (before Linux 6.1, and on some filesystems). It returns ErrNoDirectIO if the
// filesystem accepts O_DIRECT and nevertheless uses the page cache.
func (d *direct) fileBlockBytes() (int64, error) {
	var st unix.Statx_t
	err := uninterrupted(func() error {
		return unix.Statx(d.fd, "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st)
	})
	if err != nil {
		return 0, &fs.PathError{Op: "statx", Path: d.path, Err: err}
	}
	if st.Mask&unix.STATX_DIOALIGN != 0 && st.Dio_offset_align == 0 {
		return 0, fmt.Errorf("open %s: %w: the filesystem ignores it for this file, as ext4 does with data=journal or encryption; "+
			"use another filesystem or directory", d.path, ErrNoDirectIO)
	}
	return int64(st.Dio_offset_align), nil
}

// Device is a raw block device, opened read-only.
type Device struct {
	direct
	sizeBytes, blockBytes int64
}

// OpenDevice opens the block device at path read-only. number is the kernel's number of the device that is meant
// ("259:0"). It is compared after opening, so that a name which meanwhile belongs to another device is noticed.
// An empty number is not compared.
func OpenDevice(path, number string) (*Device, error) {
	d, err := openDirect(path, unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	device, err := checkDevice(d, number)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return device, nil
}

func checkDevice(d direct, number string) (*Device, error) {
	st, err := d.stat()
	if err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return nil, fmt.Errorf("open %s: not a block device", d.path)
	}
	got := fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))
	if number != "" && got != number {
		return nil, fmt.Errorf("open %s: it is device %s now, and %s was meant", d.path, got, number)
	}
	size, err := unix.Seek(d.fd, 0, unix.SEEK_END)
	if err != nil {
		return nil, &fs.PathError{Op: "seek to the end of", Path: d.path, Err: err}
	}
	if size == 0 {
		return nil, fmt.Errorf("open %s: the device has no medium or no size", d.path)
	}
	block, err := unix.IoctlGetUint32(d.fd, unix.BLKSSZGET)
	switch {
	case errors.Is(err, unix.EPERM): // a container may forbid it; nearly all drives accept this size
		block = usualBlockBytes
	case err != nil:
		return nil, &fs.PathError{Op: "ask for the logical block size of", Path: d.path, Err: err}
	}
	return &Device{direct: d, sizeBytes: size, blockBytes: int64(block)}, nil
}

// usualBlockBytes is the assumed size of a logical block if the process may not ask for it.
const usualBlockBytes = 4 << 10

// BlockBytes returns the size of a logical block, of which every I/O must be a multiple.
func (d *Device) BlockBytes() int64 { return d.blockBytes }

// SizeBytes returns the size of the device.
func (d *Device) SizeBytes() int64 { return d.sizeBytes }

// Existing is a file that ssdprobe did not make. It is only read.
type Existing struct {
	direct
	sizeBytes, blockBytes int64
}

// OpenExisting opens a regular file for reading. Errors: ErrMemory,
// ErrNoDirectIO, and those of the filesystem.
func OpenExisting(path string) (*Existing, error) {
	d, err := openDirect(path, unix.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	size, err := checkExisting(d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	block, err := d.fileBlockBytes()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &Existing{direct: d, sizeBytes: size, blockBytes: block}, nil
}

// BlockBytes returns the size of which offsets and lengths of I/O must be multiples; 0 if unknown.
func (e *Existing) BlockBytes() int64 { return e.blockBytes }

func checkExisting(d direct) (sizeBytes int64, err error) {
	st, err := d.stat()
	if err != nil {
		return 0, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, fmt.Errorf("open %s: not a regular file", d.path)
	}
	filesystem, err := d.statfs()
	if err != nil {
		return 0, err
	}
	if err := refuseMemory(sysfs.FS{}, filesystem); err != nil {
		return 0, fmt.Errorf("open %s: %w", d.path, err)
	}
	return st.Size, nil
}

// SizeBytes returns the size of the file when it was opened.
func (e *Existing) SizeBytes() int64 { return e.sizeBytes }

// IsBlockDevice reports whether path names a block device.
func IsBlockDevice(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return info.Mode()&os.ModeDevice != 0 && info.Mode()&os.ModeCharDevice == 0, nil
}
