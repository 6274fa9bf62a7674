package testenv

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// Options say what kind of loop device is wanted. The zero value is a writable
// one of 512 byte blocks, on a sparse file, so that all of it reads as zeros.
type Options struct {
	ReadOnly          bool
	LogicalBlockBytes int  // 512 when 0
	Random            bool // fill the backing file with random data
	// Dir is where the backing file is made; empty for a directory of the test's own.
	Dir string
}

// Loop is a loop device.
type Loop struct {
	Path    string // of the device node
	Number  string // the kernel's number of the device, "7:0"
	Backing string // path of the file that holds its data
}

// LoopDevice makes a loop device of sizeBytes, which passes I/O on to its backing
// file without a cache. It is gone when the test ends.
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
	return Loop{Path: path, Number: DeviceNumber(t, path), Backing: backing}
}

// DeviceNumber is the kernel's number of the device of a node, "7:0".
func DeviceNumber(t testing.TB, path string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatalf("stat %s: %v", path, err)
	}
	return fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))
}

// Losetup runs losetup and returns what it prints. One at a time on this machine: those of
// tests in other processes that look for a free device open the one that was just found.
func Losetup(t testing.TB, args ...string) string {
	t.Helper()
	defer lockLosetup(t)()
	return run(t, "losetup", args...)
}

// Away is what happens while the device is detached. It is attached again after; nobody
// else can take its number meanwhile.
func (l Loop) Away(t testing.TB, happens func()) {
	t.Helper()
	defer lockLosetup(t)()
	run(t, "losetup", "--detach", l.Path)
	happens()
	run(t, "losetup", "--direct-io=on", l.Path, l.Backing)
}

// lockLosetup keeps tests on this machine from losetup until what it returns is called.
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

// LargeBlocks reports whether loop devices here may have logical blocks that are larger than a page, as they may from
// Linux 6.15 on. There is nothing to install where they may not.
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
