package faulttest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// onQuota creates a Btrfs subvolume, whose quotas apply to root, too. limit sets the quota, such as "8M" or "none".
func onQuota(t *testing.T) (dir string, limit func(string)) {
	t.Helper()
	device, mounted := testenv.LoopDevice(t, 512<<20, testenv.Options{}), t.TempDir()
	outside(t, "mkfs.btrfs", "--quiet", device.Path)
	require.NoError(t, unix.Mount(device.Path, mounted, "btrfs", 0, ""))
	t.Cleanup(func() { testenv.Unmount(t, mounted, 0) })
	outside(t, "btrfs", "quota", "enable", mounted)
	dir = filepath.Join(mounted, "subvolume")
	outside(t, "btrfs", "subvolume", "create", dir)
	return dir, func(size string) { outside(t, "btrfs", "qgroup", "limit", size, dir) }
}

// A probe file exhausts a quota: that is reported, no incomplete file is left, and the target
// recovers when the quota is raised.
func TestQuotaOfAProbeFile(t *testing.T) {
	t.Parallel()
	dir, limit := onQuota(t)
	calm := testenv.OnDisk(t)
	limit("8M")
	d := startDaemon(t, t.TempDir(), onFiles(t, dir, calm))
	d.Stderr.Find(t, `cannot open the target.*disk quota exceeded`)
	d.awaitUp(t, fileID(dir), false)
	d.awaitMore(t, fileID(calm), "read-4k", "ok", 2)
	assert.Empty(t, names(t, dir), "half a probe file stays")

	limit("none")
	d.awaitUp(t, fileID(dir), true)
	d.awaitMore(t, fileID(dir), "durable-write-4k", "ok", 1)
	d.stop(t)
	assert.Len(t, saved(t, d.state), 2)
}

// A quota leaves no room for the state: that is reported, and the earlier state is kept.
func TestQuotaOfTheState(t *testing.T) {
	t.Parallel()
	dir, limit := onQuota(t)
	calm, state := testenv.OnDisk(t), filepath.Join(dir, "state")
	require.NoError(t, os.Mkdir(state, 0o700))
	configuration := onFiles(t, calm)
	d := startDaemon(t, state, configuration)
	d.awaitMore(t, fileID(calm), "read-4k", "ok", 1)
	d.stop(t)
	require.Len(t, saved(t, state), 1)
	before, err := os.ReadFile(saved(t, state)[0])
	require.NoError(t, err)

	limit("1")
	d = startDaemon(t, state, configuration)
	d.awaitMore(t, fileID(calm), "read-4k", "ok", 2)
	d.stop(t)
	d.Stderr.Find(t, `the stored state has a problem.*disk quota exceeded`)
	after, err := os.ReadFile(saved(t, state)[0])
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}
