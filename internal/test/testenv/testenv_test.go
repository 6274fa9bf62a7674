package testenv_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestLoopDeviceIsWhatWasAskedFor(t *testing.T) {
	const size = 1 << 20
	for name, test := range map[string]struct {
		options testenv.Options
		blocks  int
	}{
		"sparse":       {testenv.Options{}, 512},
		"large blocks": {testenv.Options{LogicalBlockBytes: 4096}, 4096},
		"read-only":    {testenv.Options{ReadOnly: true}, 512},
		"random":       {testenv.Options{Random: true}, 512},
	} {
		t.Run(name, func(t *testing.T) {
			loop := testenv.LoopDevice(t, size, test.options)
			f, err := os.Open(loop.Path)
			require.NoError(t, err)
			defer f.Close()
			data, err := io.ReadAll(f)
			require.NoError(t, err)
			assert.Len(t, data, size)
			assert.Equal(t, !test.options.Random, bytes.Equal(data, make([]byte, size)))
			blocks, err := unix.IoctlGetInt(int(f.Fd()), unix.BLKSSZGET)
			require.NoError(t, err)
			assert.Equal(t, test.blocks, blocks)
			readOnly, err := unix.IoctlGetInt(int(f.Fd()), unix.BLKROGET)
			require.NoError(t, err)
			assert.Equal(t, test.options.ReadOnly, readOnly == 1)
		})
	}
}

func TestNothingStaysWhenTheTestEnds(t *testing.T) {
	testenv.Root(t)
	var dir, backing string
	t.Run("inner", func(t *testing.T) {
		dir = testenv.Ext4(t, 16<<20)
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		require.NoError(t, err)
		require.Contains(t, string(mounts), dir)
		backing = filepath.Dir(testenv.LoopDevice(t, 1<<20, testenv.Options{}).Backing)
		require.True(t, attached(t, backing))
	})
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	assert.NotContains(t, string(mounts), dir)
	// The kernel detaches the device when its last user has closed it.
	assert.Eventually(t, func() bool { return !attached(t, backing) }, testenv.Patience, 10*time.Millisecond, "a loop device stays behind")
}

// attached reports whether a loop device has its backing file below dir.
func attached(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	require.NoError(t, err)
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(text), dir) {
			return true
		}
	}
	return false
}

// The kernel keeps a partition that is looked at, and the next device of that name would have it.
func TestAPartitionEndsWithItsTest(t *testing.T) {
	loop := testenv.LoopDevice(t, 1<<20, testenv.Options{})
	name := filepath.Base(loop.Path)
	partition := "/sys/block/" + name + "/" + name + "p1"
	t.Run("part", func(t *testing.T) {
		loop.Partition(t, 1, 8, 8)
		require.DirExists(t, partition)
	})
	assert.NoDirExists(t, partition)
}
