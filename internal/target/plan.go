package target

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Plan is what PrepareFile would do.
type Plan struct {
	Path      string
	SizeBytes int64
	// Reused says that an existing file would be reused; otherwise a new one would be
	// made.
	Reused bool
}

// PlanFile reports what PrepareFile would do with the same path and size, and changes
// nothing. Its errors are those of PrepareFile.
func PlanFile(path string, sizeBytes int64) (Plan, error) {
	path, err := Locate(path)
	if err != nil {
		return Plan{}, err
	}
	free, err := freeBytes(filepath.Dir(path))
	if err != nil {
		return Plan{}, err
	}
	existing, err := openFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrDamaged):
	case err != nil:
		return Plan{}, err
	default:
		size, fits := existing.sizeBytes, existing.fits(sizeBytes, free+existing.sizeBytes)
		if err := existing.Close(); err != nil {
			return Plan{}, err
		}
		if fits {
			return Plan{path, size, true}, nil
		}
		free += size
	}
	size, err := mayMake(path, sizeBytes, free)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Path: path, SizeBytes: size}, nil
}

// mayMake returns the size of a new file if free bytes are available for it, or why none can be made, as far as can be told
// without making one.
func mayMake(path string, wanted, free int64) (size int64, err error) {
	if err := unwritable(path, unix.Faccessat(unix.AT_FDCWD, filepath.Dir(path), unix.W_OK|unix.X_OK, unix.AT_EACCESS)); err != nil {
		return 0, err
	}
	if size = plannedBytes(wanted, free); size >= record.MinProbeFileBytes {
		return size, nil
	}
	return 0, fmt.Errorf("make %s of %s: %w: %s are free, and at most a tenth of that is used; even a small file takes %s",
		path, units.Size(wanted), ErrNoSpace, units.Size(free), units.Size(record.MinProbeFileBytes))
}
