package target_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestOpenDevice(t *testing.T) {
	for _, o := range []testenv.Options{{}, {ReadOnly: true}, {LogicalBlockBytes: 4096}} {
		loop := testenv.LoopDevice(t, 8*mib, o)
		link := filepath.Join(t.TempDir(), "by-id")
		require.NoError(t, os.Symlink(loop.Path, link))
		for _, path := range []string{loop.Path, link} {
			d, err := target.OpenDevice(path, loop.Number)
			require.NoError(t, err)
			assert.EqualValues(t, 8*mib, d.SizeBytes())
			assert.Equal(t, path, d.Path())
			require.NoError(t, d.Close())
		}
		is, err := target.IsBlockDevice(link)
		require.NoError(t, err)
		assert.True(t, is)
	}
}

func TestOpenDeviceRefuses(t *testing.T) {
	loop, other := testenv.LoopDevice(t, mib, testenv.Options{}), testenv.LoopDevice(t, mib, testenv.Options{})
	_, err := target.OpenDevice(loop.Path, other.Number)
	require.EqualError(t, err, "open "+loop.Path+": it is device "+loop.Number+" now, and "+other.Number+" was meant")

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, make([]byte, 4096), 0o600))
	_, err = target.OpenDevice(file, "")
	require.EqualError(t, err, "open "+file+": not a block device")
	is, err := target.IsBlockDevice(file)
	require.NoError(t, err)
	assert.False(t, is)
	is, err = target.IsBlockDevice("/dev/null")
	require.NoError(t, err)
	assert.False(t, is, "a character device")
	_, err = target.IsBlockDevice(file + "x")
	require.ErrorIs(t, err, os.ErrNotExist)

	_, err = target.OpenDevice(file+"x", "")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = target.OpenDevice("/dev/null", "")
	require.Error(t, err)

	empty := testenv.LoopDevice(t, 0, testenv.Options{})
	_, err = target.OpenDevice(empty.Path, "")
	require.EqualError(t, err, "open "+empty.Path+": the device has no medium or no size")
}

func TestReadsAreDirect(t *testing.T) {
	loop := testenv.LoopDevice(t, mib, testenv.Options{Random: true})
	d, err := target.OpenDevice(loop.Path, "")
	require.NoError(t, err)
	defer d.Close()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, make([]byte, 8192), 0o600))
	e, err := target.OpenExisting(path)
	require.NoError(t, err)
	defer e.Close()
	assert.EqualValues(t, 8192, e.SizeBytes())

	_, err = d.ReadAt(make([]byte, 512), 1)
	require.ErrorIs(t, err, unix.EINVAL, "through the page cache, any offset would do")
	memory, err := unix.Mmap(-1, 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(memory)) }()
	n, err := d.ReadAt(memory, 4096)
	require.NoError(t, err)
	assert.Equal(t, 8192, n)
	want, err := os.ReadFile(loop.Backing)
	require.NoError(t, err)
	assert.Equal(t, want[4096:4096+8192], memory)
	n, err = e.ReadAt(memory, 4096)
	require.NoError(t, err, "at the end there are fewer bytes and no error")
	assert.Equal(t, 4096, n)
}

func TestOpenExistingRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, make([]byte, 4096), 0o600))
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "link")))
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	for name, want := range map[string]string{
		"link": "it is a symbolic link; name the file itself",
		"fifo": "neither a regular file nor a block device",
		"":     "neither a regular file nor a block device",
	} {
		_, err := target.OpenExisting(filepath.Join(dir, name))
		require.ErrorContains(t, err, want, name)
	}
	_, err := target.OpenExisting("/proc/version") // procfs takes no O_DIRECT
	require.ErrorIs(t, err, target.ErrNoDirectIO)
}
