package testenv

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// Ext4 creates an ext4 filesystem of sizeBytes on a new loop device and returns where
// it is mounted. mkfs are further arguments to mkfs.ext4, such as "-O", "^extent". The
// filesystem is removed when the test ends.
func Ext4(t testing.TB, sizeBytes int64, mkfs ...string) string {
	t.Helper()
	return Ext4On(t, LoopDevice(t, sizeBytes, Options{}), mkfs...)
}

// Ext4On is like Ext4, on an existing device. The test may unmount it and mount it again with Mount.
func Ext4On(t testing.TB, device Loop, mkfs ...string) string {
	t.Helper()
	// Nothing is reserved for root, and nothing is initialised lazily.
	args := append([]string{"-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"}, mkfs...)
	run(t, "mkfs.ext4", append(args, device.Path)...)
	dir := t.TempDir()
	Mount(t, device, dir)
	t.Cleanup(func() {
		// The kernel keeps the backing file of a loop device on it until nobody has that device open, such as another
		// test that discovers devices.
		Unmount(t, dir, 0)
	})
	return dir
}

// Unmount unmounts the filesystem at dir as soon as nothing uses it.
func Unmount(t testing.TB, dir string, flags int) {
	t.Helper()
	Eventually(t, "unmounted: "+dir, func() bool {
		err := unix.Unmount(dir, flags)
		if err != nil && !errors.Is(err, unix.EBUSY) {
			t.Fatalf("unmount %s: %v", dir, err)
		}
		return err == nil
	})
}

// Mount mounts the ext4 filesystem of a device at dir.
func Mount(t testing.TB, device Loop, dir string) {
	t.Helper()
	if err := unix.Mount(device.Path, dir, "ext4", unix.MS_NOATIME|unix.MS_NODEV|unix.MS_NOSUID, ""); err != nil {
		t.Fatalf("mount %s: %v", device.Path, err)
	}
}

// RemountReadOnly remounts a filesystem of Ext4 read-only.
func RemountReadOnly(t testing.TB, dir string) {
	t.Helper()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOATIME|unix.MS_NODEV|unix.MS_NOSUID, ""); err != nil {
		t.Fatalf("remount %s read-only: %v", dir, err)
	}
}

// FreeBytes returns what an ordinary user may still write to the filesystem at dir.
func FreeBytes(t testing.TB, dir string) int64 {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatalf("statfs %s: %v", dir, err)
	}
	return int64(st.Bavail) * st.Bsize
}
