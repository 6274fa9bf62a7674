package faulttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A probe file below an automounter: watching it mounts the filesystem. When the automounter no
// longer answers, an access to its directory waits forever. The other target continues, and so does
// this one when the automounter answers again.
func TestAutomount(t *testing.T) {
	t.Parallel()
	device, calm := testenv.LoopDevice(t, 256<<20, testenv.Options{}), testenv.OnDisk(t)
	outside(t, "mkfs.ext4", "-q", "-m", "0", device.Path)
	dir := filepath.Join(t.TempDir(), "auto")
	require.NoError(t, os.Mkdir(dir, 0o755))
	files := file(t, "map", fmt.Sprintf("disk -fstype=ext4 :%s\n", device.Path))
	automount := testenv.StartTool(t, "automount", "--foreground", "--pid-file", filepath.Join(t.TempDir(), "pid"),
		"--timeout=600", file(t, "master", fmt.Sprintf("%s %s\n", dir, files)))
	disk := filepath.Join(dir, "disk")
	t.Cleanup(func() {
		_ = unix.Unmount(disk, unix.MNT_DETACH) // it may not be mounted
		_ = unix.Unmount(dir, unix.MNT_DETACH)
	})
	eventually(t, "the automounter is there", func() bool {
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		require.NoError(t, err)
		return strings.Contains(string(mounts), " "+dir+" ")
	})

	d := startDaemon(t, t.TempDir(), onFiles(t, disk, calm))
	d.awaitMore(t, fileID(disk), "durable-write-4k", "ok", 2)

	automount.Signal(t, syscall.SIGSTOP)
	testenv.Unmount(t, disk, 0)
	d.awaitUp(t, fileID(disk), false)
	d.awaitMore(t, fileID(calm), "read-4k", "ok", 2)

	automount.Signal(t, syscall.SIGCONT)
	d.awaitUp(t, fileID(disk), true)
	d.awaitMore(t, fileID(disk), "read-4k", "ok", 2)
	d.stop(t)
	automount.Signal(t, syscall.SIGTERM)
	automount.Wait(t)
}
