package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Place is where a user wants runs to be stopped: a target, or a block device with all targets on it.
type Place struct {
	path   string // with links resolved, as a run notes it
	lock   string // the id of a disk or volume; empty for others
	number uint64 // the kernel's number of a block device; 0 for others
}

// placePatience is how long a filesystem may take to say what is there. A host that is too busy answers late, too.
const placePatience = 10 * time.Second

// FindPlace returns the place that a path names. Nothing need be there any more: a run may have begun before. Nor need its
// filesystem answer.
func FindPlace(ctx context.Context, fs sysfs.FS, path string) (Place, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Place{}, err
	}
	found, err := guard.Do(ctx, &guard.Guard{}, placePatience, func(context.Context) (Place, error) { return findPlace(fs, path) })
	if guard.Hangs(err) || errors.Is(err, os.ErrNotExist) {
		return Place{path: path}, nil
	}
	return found, err
}

func findPlace(fs sysfs.FS, path string) (Place, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Place{}, err
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return Place{}, fmt.Errorf("stat %s: %w", path, err)
	}
	p := Place{path: path}
	if st.Mode&unix.S_IFMT == unix.S_IFBLK {
		p.number = st.Rdev
		if d, err := device.Find(fs, path); err == nil { // a partition has no lock of its own
			p.lock = d.ID
		}
	}
	return p, nil
}

// Has reports whether a run has a target in the place.
func (p Place) Has(ctx context.Context, h Holder) bool {
	switch {
	case slices.Contains(h.Targets, p.path), p.lock != "" && slices.Contains(h.Locks, p.lock):
		return true
	case p.number == 0:
		return false
	}
	// The lock of a file on a partition or a volume is that of the disk below, which others are on, too.
	on, _ := guard.Do(ctx, &guard.Guard{}, placePatience, func(context.Context) (bool, error) {
		return slices.ContainsFunc(h.Targets, p.isBelow), nil
	})
	return on
}

// isBelow reports whether the filesystem of a file is on the block device of the place.
func (p Place) isBelow(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && st.Dev == p.number
}
