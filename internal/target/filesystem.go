package target

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// zfsMagic is the type that statfs returns for OpenZFS (ZFS_SUPER_MAGIC in its
// include/sys/fs/zfs.h); package unix does not define it.
const zfsMagic = 0x2fc12fc1

// refuseMemory returns an error if the filesystem answers direct reads from memory, and
// nil if it does not. It reads the state of OpenZFS from the machine's /sys.
func refuseMemory(machine sysfs.FS, filesystem unix.Statfs_t) error {
	switch filesystem.Type {
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC: // newer kernels accept O_DIRECT there and ignore it
		return ErrMemory
	case zfsMagic:
		version, err := machine.Text("/sys/module/zfs/version")
		if err != nil {
			return fmt.Errorf("%w: the version of OpenZFS is not known: %w", ErrNoDirectIO, err)
		}
		enabled, err := machine.Text("/sys/module/zfs/parameters/zfs_dio_enabled")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w: a parameter of OpenZFS is not known: %w", ErrNoDirectIO, err)
		}
		return refuseZFS(version, enabled)
	}
	return nil
}

// refuseMemoryBelow returns ErrMemory if the file is on an overlay and a direct read of its first block, which has been
// written, reaches no drive. An overlay does not say on what it is; live systems and diskless nodes have it on tmpfs. The
// kernel counts what a thread reads from drives; where it does not, nothing is refused.
func (d *direct) refuseMemoryBelow(filesystem unix.Statfs_t, block []byte) error {
	if filesystem.Type != unix.OVERLAYFS_SUPER_MAGIC {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, unknown := counters.ReadThreadIO(sysfs.FS{})
	if _, err := d.ReadAt(block, 0); err != nil {
		return readError(d.path, 0, err)
	}
	after, err := counters.ReadThreadIO(sysfs.FS{})
	if unknown == nil && err == nil && after.Read == before.Read {
		return fmt.Errorf("%w: below this overlay there is no drive; name a directory on one", ErrMemory)
	}
	return nil
}

// refuseZFS judges OpenZFS by its version and its parameter zfs_dio_enabled, which is
// empty if the version does not have it. Releases before 2.3 accept O_DIRECT but answer
// from their cache, the ARC; later ones do so if the parameter is 0 (zfs(4),
// zfsprops(7)).
func refuseZFS(version, enabled string) error {
	parts := strings.SplitN(version, ".", 3)
	major, err := strconv.Atoi(parts[0])
	minor := 0
	if err == nil && len(parts) > 1 {
		digits := len(parts[1]) - len(strings.TrimLeft(parts[1], "0123456789")) // "3-rc1"
		minor, err = strconv.Atoi(parts[1][:digits])
	}
	switch {
	case err != nil || major < 2 || major == 2 && minor < 3:
		return fmt.Errorf("%w: OpenZFS %s answers direct reads from memory: use a filesystem with direct I/O, or OpenZFS 2.3", ErrNoDirectIO, version)
	case enabled == "0":
		return fmt.Errorf("%w: OpenZFS answers direct reads from memory while /sys/module/zfs/parameters/zfs_dio_enabled is 0", ErrNoDirectIO)
	}
	return nil
}

// whole reports whether a file has its original size and is fully allocated on the
// drive. On OpenZFS, the allocation is not checked: it is correct only once the
// transaction group has been written, seconds after fsync.
func whole(st unix.Stat_t, filesystem unix.Statfs_t, size int64) bool {
	return st.Size == size && (filesystem.Type == zfsMagic || st.Blocks*512 >= size)
}
