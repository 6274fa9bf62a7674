package nvme

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPassthruLayout compares the structure with linux/nvme_ioctl.h.
func TestPassthruLayout(t *testing.T) {
	kind := reflect.TypeFor[passthru]()
	for name, want := range map[string]uintptr{
		"opcode": 0, "flags": 1, "namespaceID": 4, "dword2": 8, "dword3": 12, "metadata": 16, "address": 24,
		"metadataLength": 32, "dataLength": 36, "dword10": 40, "dword11": 44, "dword12": 48, "dword13": 52,
		"dword14": 56, "dword15": 60, "timeoutMillis": 64, "narrowResult": 68, "result": 72,
	} {
		field, ok := kind.FieldByName(name)
		require.True(t, ok, name)
		assert.Equal(t, want, field.Offset, name)
	}
	assert.Equal(t, uintptr(80), kind.Size())
}

func TestEveryDwordIsPassedOn(t *testing.T) {
	assert.Equal(t, passthru{opcode: 0x02, namespaceID: 3, dword10: 10, dword11: 11, dword14: 14, timeoutMillis: 15},
		passthruOf(Command{Opcode: OpcodeGetLogPage, NamespaceID: 3, Dword10: 10, Dword11: 11, Dword14: 14, Timeout: 15 * time.Millisecond}))
}

// TestDriversWithout64BitResults: before Linux 5.4, the driver had one ioctl for admin commands only.
func TestDriversWithout64BitResults(t *testing.T) {
	const wide, narrow = 0x7_0000_0001, 0x5
	for name, c := range map[string]struct {
		known  map[uintptr]bool // the ioctls of the driver
		asked  []uintptr        // by two commands
		result uint64
		want   error
	}{
		"new":        {map[uintptr]bool{ioctlAdmin: true, ioctlAdmin64: true}, []uintptr{ioctlAdmin64, ioctlAdmin64}, wide, nil},
		"old":        {map[uintptr]bool{ioctlAdmin: true}, []uintptr{ioctlAdmin64, ioctlAdmin, ioctlAdmin}, narrow, nil},
		"not NVMe's": {nil, []uintptr{ioctlAdmin64, ioctlAdmin, ioctlAdmin64, ioctlAdmin}, 0, ErrNotNVMe},
	} {
		var transport ioctlTransport
		var asked []uintptr
		for range 2 {
			got, err := transport.submit(&passthru{}, func(request uintptr, p *passthru) (Status, error) {
				asked = append(asked, request)
				if !c.known[request] {
					return 0, syscall.ENOTTY
				}
				p.narrowResult, p.result = narrow, wide
				return 0x4002, nil
			})
			if c.want != nil {
				require.ErrorIs(t, err, c.want, name)
				continue
			}
			require.NoError(t, err, name)
			assert.Equal(t, Completion{Status: 0x4002, Result: c.result}, got, name)
		}
		assert.Equal(t, c.asked, asked, name)
	}
}

// TestIoctlNumbers: a slip to 0x43 would send admin opcodes as I/O commands, of which some write. The number includes the
// direction and the size of the structure (asm-generic/ioctl.h).
func TestIoctlNumbers(t *testing.T) {
	readWrite := func(size, number uintptr) uintptr { return 3<<30 | size<<16 | 'N'<<8 | number }
	assert.Equal(t, readWrite(unsafe.Offsetof(passthru{}.result), 0x41), uintptr(ioctlAdmin))
	assert.Equal(t, readWrite(unsafe.Sizeof(passthru{}), 0x47), uintptr(ioctlAdmin64))
}

// TestIoctlNumberWithoutData compares with what _IO('N', 0x40) of asm-generic/ioctl.h and of the architectures with a header of their own gives.
func TestIoctlNumberWithoutData(t *testing.T) {
	for arch, want := range map[string]uintptr{
		"386": 0x4E40, "amd64": 0x4E40, "arm": 0x4E40, "arm64": 0x4E40, "loong64": 0x4E40, "riscv64": 0x4E40, "s390x": 0x4E40,
		"ppc64": 0x20004E40, "ppc64le": 0x20004E40, "mips": 0x20004E40, "mipsle": 0x20004E40, "mips64": 0x20004E40, "mips64le": 0x20004E40,
	} {
		assert.Equal(t, want, ioctlNamespaceID(arch), arch)
	}
}

// TestOpenFlags: read-only and close-on-exec are safety, not style. Any character device opens;
// only a command shows whether it belongs to the NVMe driver.
func TestOpenFlags(t *testing.T) {
	d, err := Open("/dev/null")
	require.NoError(t, err)
	transport, ok := d.transport.(*ioctlTransport)
	require.True(t, ok)
	assert.Equal(t, syscall.O_RDONLY, fcntl(t, transport.file, syscall.F_GETFL)&syscall.O_ACCMODE)
	assert.Equal(t, syscall.FD_CLOEXEC, fcntl(t, transport.file, syscall.F_GETFD)&syscall.FD_CLOEXEC)
	_, ok = d.NamespaceID()
	assert.False(t, ok)

	_, err = d.SMART()
	require.ErrorIs(t, err, ErrNotNVMe)
	require.ErrorContains(t, err, "identify 01h: not an NVMe device")
	assert.False(t, transport.narrow, "no driver told that it is old")

	require.NoError(t, d.Close())
	_, err = d.SMART()
	require.ErrorIs(t, err, fs.ErrClosed)
}

// TestOpenOtherDrivers: /dev/random answers any unknown ioctl with EINVAL, which the NVMe driver never does for its character devices.
func TestOpenOtherDrivers(t *testing.T) {
	_, err := Open("/dev/random")
	require.ErrorIs(t, err, ErrNotNVMe)
	require.EqualError(t, err, "open nvme /dev/random: not an NVMe device: invalid argument")
}

func fcntl(t *testing.T, file *os.File, command uintptr) int {
	t.Helper()
	raw, err := file.SyscallConn()
	require.NoError(t, err)
	var flags uintptr
	var errno syscall.Errno
	require.NoError(t, raw.Control(func(fd uintptr) {
		flags, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, command, 0)
	}))
	require.Zero(t, errno)
	return int(flags)
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]error{
		filepath.Join(dir, "none"): fs.ErrNotExist,
		dir:                        ErrNotNVMe,
		file:                       ErrNotNVMe,
		fifo:                       ErrNotNVMe, // opening it would wait for a writer
	} {
		_, err := Open(path)
		require.ErrorIs(t, err, want, path)
		assert.ErrorContains(t, err, path)
	}
}

func TestDriverError(t *testing.T) {
	for _, c := range []struct {
		errno syscall.Errno
		want  error
	}{
		{syscall.ENOTTY, ErrNotNVMe},
		{syscall.EINTR, ErrCancelled},
		{syscall.EWOULDBLOCK, ErrNotLive}, // nvme_ns_head_ioctl: no path of the namespace is usable
		{syscall.ENODEV, fs.ErrNotExist},
		{syscall.ENXIO, fs.ErrNotExist},
		{syscall.EACCES, fs.ErrPermission},
		{syscall.EPERM, fs.ErrPermission},
		{syscall.EIO, syscall.EIO},
	} {
		err := driverError(c.errno)
		require.ErrorIs(t, err, c.want)
		require.ErrorIs(t, err, c.errno, "the cause is kept")
	}
	require.NoError(t, driverError(nil))
}

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]uint32{
		0:                                0,
		-time.Second:                     0,
		time.Nanosecond:                  1,
		time.Millisecond:                 1,
		time.Millisecond + 1:             2,
		time.Minute:                      60_000,
		math.MaxInt64 - time.Millisecond: math.MaxUint32,
	} {
		assert.Equal(t, want, milliseconds(d), d)
	}
}
