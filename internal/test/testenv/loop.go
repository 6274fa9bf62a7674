package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Options describes a loop device. The zero value is a writable one with blocks of 512
// bytes on a sparse file, so that all of it reads as zeros.
type Options struct {
	ReadOnly          bool
	LogicalBlockBytes int  // 0 means 512
	Random            bool // fill the backing file with random data
	// Dir is the directory of the backing file; empty for a temporary directory.
	Dir string
}

// Loop is a loop device.
type Loop struct {
	Path    string // of the device node
	Number  string // the kernel's number of the device, "7:0"
	Backing string // path of the file that holds its data
}

// LoopDevice creates a loop device of sizeBytes, which passes I/O on to its backing file
// without a cache. The device is removed when the test ends.
func LoopDevice(t testing.TB, sizeBytes int64, o Options) Loop {
	t.Helper()
	Root(t)
	dir := o.Dir
	if dir == "" {
		dir = t.TempDir()
	}
	backing := filepath.Join(dir, "backing")
	if err := makeBacking(backing, sizeBytes, o.Random); err != nil {
		t.Fatal(err)
	}
	args := []string{"--find", "--show", "--direct-io=on"}
	if o.LogicalBlockBytes > 0 {
		args = append(args, "--sector-size", strconv.Itoa(o.LogicalBlockBytes))
	}
	if o.ReadOnly {
		args = append(args, "--read-only")
	}
	path := Losetup(t, append(args, backing)...)
	t.Cleanup(func() { Losetup(t, "--detach", path) })
	l := Loop{Path: path, Number: DeviceNumber(t, path), Backing: backing}
	l.forgetPartitions(t)
	// The kernel also keeps that the write cache was switched off.
	cache := "/sys/block/" + filepath.Base(path) + "/queue/write_cache"
	if err := os.WriteFile(cache, []byte("write back"), 0); err != nil && !errors.Is(err, unix.EINVAL) { // it may have none
		t.Fatal(err)
	}
	return l
}

// Partition tells the kernel of a partition, in sectors of 512 bytes, until the test ends. The kernel may not support
// partition tables, but every kernel can be told about a partition.
func (l Loop) Partition(t testing.TB, number, start, sectors int) {
	t.Helper()
	n := strconv.Itoa(number)
	run(t, "addpart", l.Path, n, strconv.Itoa(start), strconv.Itoa(sectors))
	t.Cleanup(func() { l.forgetPartitions(t) })
}

// forgetPartitions makes the kernel forget the partitions of the device. The kernel keeps them while the device is detached, as
// when a test was killed, and the next device of that name has them.
func (l Loop) forgetPartitions(t testing.TB) {
	t.Helper()
	partitions, err := filepath.Glob("/sys/class/block/" + filepath.Base(l.Path) + "/*/partition")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range partitions {
		number, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		// It is busy while anybody looks at it, as other tests do.
		Eventually(t, "the kernel forgets "+filepath.Dir(p), func() bool {
			return exec.CommandContext(context.WithoutCancel(t.Context()), "delpart", l.Path, strings.TrimSpace(string(number))).Run() == nil
		})
	}
}

// DeviceNumber returns the kernel's number of the device of a node, "7:0".
func DeviceNumber(t testing.TB, path string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatalf("stat %s: %v", path, err)
	}
	return fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))
}

// Losetup runs losetup and returns its output. Only one runs at a time on this machine,
// because others that look for a free device would open the one that was just found.
func Losetup(t testing.TB, args ...string) string {
	t.Helper()
	defer lockLosetup(t)()
	return run(t, "losetup", args...)
}

// Away calls happens while the device is detached, and then attaches the device again.
// Nobody else can take its number meanwhile.
func (l Loop) Away(t testing.TB, happens func()) {
	t.Helper()
	defer lockLosetup(t)()
	run(t, "losetup", "--detach", l.Path)
	happens()
	run(t, "losetup", "--direct-io=on", l.Path, l.Backing)
}

// lockLosetup prevents other tests on this machine from running losetup until unlock is called.
func lockLosetup(t testing.TB) (unlock func()) {
	t.Helper()
	Root(t)
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), "ssdprobe-test-losetup.lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	unlock = func() {
		if err := lock.Close(); err != nil { // which unlocks it
			t.Error(err)
		}
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		unlock()
		t.Fatalf("lock %s: %v", lock.Name(), err)
	}
	return unlock
}

func makeBacking(path string, sizeBytes int64, random bool) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	if random {
		if _, err := io.CopyN(f, rand.Reader, sizeBytes); err != nil {
			return err
		}
		return f.Sync()
	}
	return f.Truncate(sizeBytes)
}

// Write puts random data at [off, off+length) of the device's backing file.
func (l Loop) Write(t testing.TB, off, length int64) {
	t.Helper()
	f, err := os.OpenFile(l.Backing, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.CopyN(io.NewOffsetWriter(f, off), rand.Reader, length)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Punch makes [off, off+length) of the device read as zeros, as a discard does.
func (l Loop) Punch(t testing.TB, off, length int64) {
	t.Helper()
	f, err := os.OpenFile(l.Backing, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, length)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Truncate shortens the backing file without telling the device, so that
// reading beyond it fails with EIO.
func (l Loop) Truncate(t testing.TB, sizeBytes int64) {
	t.Helper()
	if err := os.Truncate(l.Backing, sizeBytes); err != nil {
		t.Fatal(err)
	}
}

// LargeBlocks reports whether loop devices may have logical blocks larger than a page,
// which Linux supports since 6.15. On older kernels nothing can be installed to enable it.
func LargeBlocks(t testing.TB) bool {
	t.Helper()
	Root(t)
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatalf("kernel %s: %v", u.Release[:], err)
	}
	return major > 6 || major == 6 && minor >= 15
}
