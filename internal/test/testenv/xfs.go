package testenv

import (
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// XFS creates an XFS filesystem on a loop device with the given logical block size, and returns
// where it is mounted. The filesystem is removed when the test ends.
func XFS(t testing.TB, logicalBlockBytes int) string {
	t.Helper()
	const sizeBytes = 512 << 20 // the minimum of mkfs.xfs is 300 MiB
	device := LoopDevice(t, sizeBytes, Options{LogicalBlockBytes: logicalBlockBytes, Dir: OnDisk(t)})
	size := "size=" + strconv.Itoa(logicalBlockBytes)
	run(t, "mkfs.xfs", "-q", "-f", "-K", "-b", size, "-s", size, device.Path)
	return mounted(t, device, "xfs")
}

// Btrfs creates a btrfs filesystem on a loop device, and returns where it is mounted. It does not tell which alignment direct I/O
// needs. The filesystem is removed when the test ends.
func Btrfs(t testing.TB) string {
	t.Helper()
	const sizeBytes = 4 << 30 // of which a probe file takes at most a tenth
	device := LoopDevice(t, sizeBytes, Options{Dir: OnDisk(t)})
	run(t, "mkfs.btrfs", "-q", device.Path)
	return mounted(t, device, "btrfs")
}

func mounted(t testing.TB, device Loop, filesystem string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount(device.Path, dir, filesystem, unix.MS_NOATIME|unix.MS_NODEV|unix.MS_NOSUID, ""); err != nil {
		t.Fatalf("mount %s: %v", device.Path, err)
	}
	t.Cleanup(func() { Unmount(t, dir, 0) })
	return dir
}
