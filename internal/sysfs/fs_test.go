package sysfs_test

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestAttributes(t *testing.T) {
	fs := sysfstest.Make(t, map[string]string{
		"sys/a/text":   "Samsung SSD  \x00\n",
		"sys/a/number": "-17\n",
		"sys/a/empty":  "\n",
		"sys/a/full":   strings.Repeat("x", sysfs.AttributeLimit),
		"sys/a/long":   strings.Repeat("x", sysfs.AttributeLimit+1),
	}, nil)

	text, err := fs.Text("/sys/a/text")
	require.NoError(t, err)
	assert.Equal(t, "Samsung SSD", text)

	raw, err := fs.Bytes("/sys/a/text")
	require.NoError(t, err)
	assert.Equal(t, "Samsung SSD  \x00\n", string(raw))

	number, err := fs.Int("/sys/a/number")
	require.NoError(t, err)
	assert.Equal(t, int64(-17), number)

	_, err = fs.Uint("/sys/a/number")
	require.ErrorIs(t, err, strconv.ErrSyntax)
	assert.Contains(t, err.Error(), "/sys/a/number")

	_, err = fs.Int("/sys/a/empty")
	require.ErrorIs(t, err, strconv.ErrSyntax, "an empty file is not 0")

	full, err := fs.Bytes("/sys/a/full")
	require.NoError(t, err)
	assert.Len(t, full, sysfs.AttributeLimit)

	_, err = fs.Bytes("/sys/a/long")
	require.ErrorIs(t, err, sysfs.ErrTruncated)

	_, err = fs.Text("/sys/a/absent")
	require.ErrorIs(t, err, os.ErrNotExist)

	names, err := fs.List("/sys/a")
	require.NoError(t, err)
	assert.Equal(t, []string{"empty", "full", "long", "number", "text"}, names)

	_, err = fs.List("/sys/b")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestOpenStreamsBeyondTheLimit(t *testing.T) {
	long := strings.Repeat("0 ", sysfs.AttributeLimit)
	fs := sysfstest.Make(t, map[string]string{"proc/interrupts": long}, nil)
	f, err := fs.Open("/proc/interrupts")
	require.NoError(t, err)
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	assert.Equal(t, long, string(data))

	_, err = fs.Open("/proc/absent")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A link never leads out of the root, whichever way it is written.
func TestLinksStayInside(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("outside"), 0o600))

	fs := sysfstest.Make(t, map[string]string{
		"sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/model": "inside",
		"sys/devices/virtual/x":                                "x",
	}, map[string]string{
		"sys/class/nvme/nvme0": "../../devices/pci0000:00/0000:01:00.0/nvme/nvme0",
		"sys/absolute":         "/sys/class/nvme/nvme0",
		"sys/chain":            "absolute/model",
		"sys/escape":           "../../../../../../../.." + secret,
		"sys/escape-absolute":  secret,
		"sys/loop":             "loop",
		"sys/up":               "../../../sys/class",
		"dev/disk/by-id/nvme":  "../../nvme0n1",
	})

	for _, name := range []string{
		"/sys/class/nvme/nvme0/model", "/sys/absolute/model", "/sys/chain",
		"/sys/up/nvme/nvme0/model", "/sys/class/nvme/nvme0/../nvme0/model",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := fs.Text(name)
			require.NoError(t, err)
			assert.Equal(t, "inside", text)
			resolved, err := fs.Resolve(name)
			require.NoError(t, err)
			assert.Equal(t, "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/model", resolved)
		})
	}

	for _, name := range []string{"/sys/escape", "/sys/escape-absolute", "/../../" + secret} {
		_, err := fs.Text(name)
		require.ErrorIs(t, err, os.ErrNotExist, name)
	}

	_, err := fs.Resolve("/sys/loop")
	require.ErrorIs(t, err, unix.ELOOP)

	root, err := fs.Resolve("/sys/../..")
	require.NoError(t, err)
	assert.Equal(t, "/", root)

	target, err := fs.Link("/dev/disk/by-id/nvme")
	require.NoError(t, err, "the target of a link need not exist")
	assert.Equal(t, "/dev/nvme0n1", target)
	target, err = fs.Link("/sys/absolute")
	require.NoError(t, err)
	assert.Equal(t, "/sys/class/nvme/nvme0", target, "one step only")
	_, err = fs.Link("/sys/devices/virtual/x")
	require.ErrorIs(t, err, unix.EINVAL)
}

// The machine's own files: a link through /proc/self and a real attribute.
func TestMachine(t *testing.T) {
	for _, root := range []string{"/", "/proc/.."} {
		fs := sysfs.New(root)
		release, err := fs.Text("/proc/sys/kernel/osrelease")
		require.NoError(t, err)
		var uts unix.Utsname
		require.NoError(t, unix.Uname(&uts))
		assert.Equal(t, unix.ByteSliceToString(uts.Release[:]), release)

		self, err := fs.Resolve("/proc/self")
		require.NoError(t, err)
		assert.Equal(t, "/proc/"+strconv.Itoa(os.Getpid()), self)
	}
}

// A device that left does not exist. A socket stands in for its attribute: opening one gives ENXIO.
func TestGoneDeviceIsNotExist(t *testing.T) {
	root := t.TempDir()
	node := filepath.Join(root, "node")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: node}))

	_, err = sysfs.New(root).Text("/node")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, err, unix.ENXIO)
	var pathErr *os.PathError
	require.ErrorAs(t, err, &pathErr)
	assert.Equal(t, node, pathErr.Path)
}
