package target

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// zfsMagic is what statfs says of OpenZFS (ZFS_SUPER_MAGIC in its include/sys/fs/zfs.h);
// package unix does not have it.
const zfsMagic = 0x2fc12fc1

// refuseMemory returns why reads of a filesystem are answered from memory though they
// are direct, nil when they are not. What OpenZFS does is read from the machine's /sys.
func refuseMemory(machine sysfs.FS, filesystem unix.Statfs_t) error {
	switch filesystem.Type {
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC: // newer kernels take O_DIRECT there and ignore it
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

// refuseZFS judges an OpenZFS by its version and by its parameter zfs_dio_enabled, empty
// when it has none. Releases before 2.3 take O_DIRECT and answer from their cache, the
// ARC, all the same; later ones do so when the parameter is 0 (zfs(4), zfsprops(7)).
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

// whole reports whether a file has the size that it was made with, and all of it is on
// the drive. What OpenZFS says of the latter is right only when it has written out the
// transaction group, seconds after fsync; so it is not asked.
func whole(st unix.Stat_t, filesystem unix.Statfs_t, size int64) bool {
	return st.Size == size && (filesystem.Type == zfsMagic || st.Blocks*512 >= size)
}
