package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// freeShare is the divisor of the free space: a probe file takes at most one tenth of it.
	freeShare = 10
	// verifiedBlocks is how many blocks are compared before a probe file is reused.
	verifiedBlocks = 64
)

var (
	// ErrNoSpace says that there is too little space for a probe file.
	ErrNoSpace = errors.New("too little space for a probe file")
	// ErrMemory says that a path is on a filesystem in memory.
	ErrMemory = errors.New("the filesystem is in memory, so there is no drive to measure")
	// ErrForeign says that a file exists and was not made by ssdprobe.
	ErrForeign = errors.New("the file was not made by ssdprobe, so it is only read")
	// ErrFilling says that a probe file is being made by another process.
	ErrFilling = errors.New("another ssdprobe is filling the probe file")
	// ErrDamaged says that a probe file does not hold what was written to it.
	ErrDamaged = errors.New("the probe file does not hold what was written to it")
)

// FileOptions says how to make a probe file.
type FileOptions struct {
	// SizeBytes is the wanted size. The file is smaller if that exceeds a tenth of the free
	// space.
	SizeBytes int64
	// BytesPerSecond limits the rate of filling; 0 means no limit.
	BytesPerSecond int64
	// Progress is called with the bytes written and wanted; it may be nil.
	Progress func(done, total int64)
}

// File is a probe file, full of random data, open for reading and writing.
type File struct {
	direct
	content
	sizeBytes, blockBytes int64
	// Filled is how many bytes were written to make the file now; 0 if it existed already.
	Filled int64
	// SetAside is the new path of a damaged earlier file; usually empty.
	SetAside string
}

// Locate returns the path of the probe file for path. If path is a directory, that is record.ProbeFileName
// in the directory, otherwise path itself.
func Locate(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", err
	case info.IsDir():
		return filepath.Join(path, record.ProbeFileName), nil
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is neither a directory nor a regular file", path)
	}
	return path, nil
}

// PrepareFile opens the probe file at path, or makes and fills it. An existing file is reused if
// it is full, of a suitable size and verified. A file that does not hold what was written to it
// is set aside, and a new one is made. Errors: ErrForeign, ErrNoSpace, ErrMemory, ErrNoDirectIO,
// ErrFilling, ErrDamaged if an earlier file is still set aside, and those of the filesystem.
func PrepareFile(ctx context.Context, path string, o FileOptions) (*File, error) {
	if o.SizeBytes < record.MinProbeFileBytes {
		return nil, fmt.Errorf("make a probe file of %s: too small, at least %s are needed",
			units.Size(o.SizeBytes), units.Size(record.MinProbeFileBytes))
	}
	path, err := Locate(path)
	if err != nil {
		return nil, err
	}
	free, err := freeBytes(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	setAside, replaced := "", int64(0)
	existing, err := openFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, ErrDamaged):
		if setAside, err = moveAside(path); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if existing.fits(o.SizeBytes, free+existing.sizeBytes) {
			return existing, nil
		}
		replaced = existing.sizeBytes
		if err := existing.Close(); err != nil {
			return nil, err
		}
	}
	size, err := mayMake(path, o.SizeBytes, free+replaced)
	if err != nil {
		return nil, err
	}
	if plannedBytes(o.SizeBytes, free) < size { // the new file is filled beside the old one, which nobody needs
		if err := replaceable(path); err != nil {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	if err := makeFile(ctx, path, size, o); err != nil {
		return nil, err
	}
	f, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("open the probe file just made: %w", err)
	}
	f.Filled, f.SetAside = size, setAside
	return f, nil
}

// fits reports whether the file is at most as large as wanted and at least as large as one that
// would be made now. If the free space limits the latter, half of it suffices, because the free
// space differs at every start.
func (f *File) fits(wanted, free int64) bool {
	least := plannedBytes(wanted, free)
	if least < wanted {
		least /= 2
	}
	return f.sizeBytes >= least && f.sizeBytes <= wanted
}

// plannedBytes returns the size of a new file if free bytes are available for it.
func plannedBytes(wanted, free int64) int64 {
	const unit = 1 << 20
	return min(wanted, free/freeShare) / unit * unit
}

func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if err := refuseMemory(sysfs.FS{}, st); err != nil {
		return 0, fmt.Errorf("probe a file in %s: %w", dir, err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// openFile opens and verifies an existing probe file.
func openFile(path string) (*File, error) {
	d, err := openDirect(path, unix.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, unlessForeign(path, err)
	}
	f := &File{direct: d}
	if err := f.verify(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return f, nil
}

// unlessForeign returns ErrForeign for a file that cannot be opened for writing, and need not be. Its filesystem is mounted
// read-only, somebody else may write to it, or it is a program that is running.
func unlessForeign(path string, err error) error {
	for _, cause := range []error{unix.EROFS, fs.ErrPermission, unix.ETXTBSY} {
		if !errors.Is(err, cause) {
			continue
		}
		if ours, unread := IsOurs(path); unread == nil && !ours {
			return fmt.Errorf("open %s: %w", path, ErrForeign)
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: run as a user who may open it, or name another target", err)
	}
	return err
}

// verify checks that ssdprobe made the file, and that it is full and holds what was written to
// it.
func (f *File) verify() error {
	st, err := f.stat()
	if err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fmt.Errorf("open %s: not a regular file", f.path)
	}
	if f.blockBytes, err = f.fileBlockBytes(); err != nil {
		return err
	}
	block := max(contentBlock, f.blockBytes)
	buffer, err := alignedBuffer(int(block))
	if err != nil {
		return err
	}
	defer buffer.release()
	n, err := f.ReadAt(buffer.p, 0)
	if err != nil {
		return readError(f.path, 0, err)
	}
	h, err := parseHeader(buffer.p[:min(n, headerBytes)])
	if errors.Is(err, errNoHeader) {
		return fmt.Errorf("open %s: %w", f.path, ErrForeign)
	} else if err != nil {
		return fmt.Errorf("open %s: %w", f.path, err)
	}
	filesystem, err := f.statfs()
	if err != nil {
		return err
	}
	if !whole(st, filesystem, h.Size) {
		return fmt.Errorf("open %s: %w: %d bytes, %d of them allocated, and the header says %d",
			f.path, ErrDamaged, st.Size, st.Blocks*512, h.Size)
	}
	if err := f.refuseMemoryBelow(filesystem, buffer.p); err != nil {
		return fmt.Errorf("open %s: %w", f.path, err)
	}
	f.content, f.sizeBytes = content{h.Seed}, h.Size
	want := make([]byte, block)
	for range verifiedBlocks {
		off := dataStart + rand.Int64N((h.Size-dataStart)/block)*block
		if n, err := f.ReadAt(buffer.p, off); err != nil || n < len(want) {
			return readError(f.path, off, err)
		}
		f.Content(want, off)
		if !bytes.Equal(want, buffer.p) {
			return fmt.Errorf("open %s: %w: the block at %d differs", f.path, ErrDamaged, off)
		}
	}
	return nil
}

func readError(path string, off int64, err error) error {
	if errors.Is(err, unix.EINVAL) {
		err = ErrNoDirectIO
	}
	if err == nil {
		err = errors.New("fewer bytes than asked for")
	}
	return fmt.Errorf("read %s at %d: %w", path, off, err)
}

// moveAside renames a damaged probe file. Only one damaged file is kept for inspection. Keeping
// more could fill the filesystem, and replacing it would lose the first evidence.
func moveAside(path string) (string, error) {
	aside := path + ".damaged"
	if _, err := os.Lstat(aside); err == nil {
		return "", fmt.Errorf("set %s aside: %w: %s is there from the last time; look at both and remove them", path, ErrDamaged, aside)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("set the damaged probe file aside: %w", err)
	}
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("set the damaged probe file aside: %w", err)
	}
	return aside, nil
}

// WriteAt writes p at off with one system call.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if off < dataStart || off+int64(len(p)) > f.sizeBytes {
		return 0, fmt.Errorf("write %d bytes at %d of %s: outside its data", len(p), off, f.path)
	}
	for {
		n, err := unix.Pwrite(f.fd, p, off)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return max(n, 0), err
	}
}

// Datasync returns when everything written is on the drive.
func (f *File) Datasync() error { return f.datasync() }

// SizeBytes returns the size of the file.
func (f *File) SizeBytes() int64 { return f.sizeBytes }

// BlockBytes returns the size of which offsets and lengths of I/O must be multiples; 0 if
// unknown.
func (f *File) BlockBytes() int64 { return f.blockBytes }

// Data returns the offset and the length of the random data, in bytes.
func (f *File) Data() (start, length int64) { return DataOf(f.sizeBytes) }

// DataOf returns the offset and the length of the data in a probe file of sizeBytes. The header
// precedes it.
func DataOf(sizeBytes int64) (start, length int64) { return dataStart, sizeBytes - dataStart }

// Seed returns the seed of the file's content.
func (f *File) Seed() uint64 { return f.seed }
