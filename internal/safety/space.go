package safety

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

// freeShare is the share of a filesystem that must remain free.
const freeShare = 0.05

// CheckSpace refuses a write of sizeBytes to a file, which may not exist yet, if that
// would leave less than a twentieth of its filesystem free. Space that the file has
// already allocated does not count, unless the filesystem never writes in place.
func CheckSpace(path string, sizeBytes int64) error {
	var filesystem unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &filesystem); err != nil {
		return &fs.PathError{Op: "statfs", Path: filepath.Dir(path), Err: err}
	}
	needed := sizeBytes
	var st unix.Stat_t
	switch err := unix.Lstat(path, &st); {
	case errors.Is(err, unix.ENOENT):
	case err != nil:
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("check %s: %w: it is not a regular file", path, ErrRefused)
	case !copies(filesystem):
		needed = max(0, sizeBytes-st.Blocks*512)
	}
	free := int64(filesystem.Bavail) * filesystem.Bsize
	least := int64(freeShare * float64(filesystem.Blocks) * float64(filesystem.Bsize))
	if needed == 0 || free-needed >= least {
		return nil
	}
	return &RefusedError{Path: path, Found: []Finding{{Kind: KindSpace, Text: fmt.Sprintf(
		"it takes %s more, but of the %s that are free on its filesystem, %s have to stay free: make it smaller",
		units.Size(needed), units.Size(free), units.Size(least))}}}
}

// copies reports whether a filesystem never writes in place.
func copies(filesystem unix.Statfs_t) bool {
	const bcachefs, zfs = 0xca451a4e, 0x2fc12fc1
	switch filesystem.Type {
	case unix.BTRFS_SUPER_MAGIC, unix.NILFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, bcachefs, zfs:
		return true
	}
	return false
}
