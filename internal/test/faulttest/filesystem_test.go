package faulttest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// outside runs another program and returns its output.
func outside(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/sbin:/usr/sbin")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s: %s", c, out)
	return string(out)
}

// fill fills the filesystem at dir and returns the path of the file that takes the space.
func fill(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	for _, size := range []int{1 << 20, 4096, 512} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		require.ErrorIs(t, err, unix.ENOSPC)
	}
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	return path
}

// empty frees the space that fill took.
func empty(t *testing.T, filler string) {
	t.Helper()
	require.NoError(t, os.Remove(filler))
	dir, err := os.Open(filepath.Dir(filler))
	require.NoError(t, err)
	require.NoError(t, unix.Syncfs(int(dir.Fd()))) // so that others can use the blocks
	require.NoError(t, dir.Close())
}

// filesystem is a filesystem with a watched probe file, beside another one without faults.
type filesystem struct {
	*daemon
	device    testenv.Loop
	dir       string
	id, other string
	// configuration is the configuration of the daemon.
	configuration string
}

func onFilesystem(t *testing.T) filesystem {
	t.Helper()
	device := testenv.LoopDevice(t, 256<<20, testenv.Options{})
	dir, calm := testenv.Ext4On(t, device), testenv.OnDisk(t)
	f := filesystem{device: device, dir: dir, id: fileID(dir), other: fileID(calm)}
	f.configuration = onFiles(t, dir, calm)
	f.daemon = startDaemon(t, t.TempDir(), f.configuration)
	f.awaitMore(t, f.id, "read-4k", "ok", 1)
	f.awaitMore(t, f.id, "durable-write-4k", "ok", 1)
	return f
}

// goesOn waits until both targets are probed, and stops the daemon.
func (f filesystem) goesOn(t *testing.T) {
	t.Helper()
	f.awaitUp(t, f.id, true)
	for _, id := range []string{f.id, f.other} {
		f.awaitMore(t, id, "read-4k", "ok", 2)
		f.awaitMore(t, id, "durable-write-4k", "ok", 2)
	}
	f.stop(t)
	assert.Len(t, saved(t, f.state), 2, "what was learned is kept")
}

func TestFilesystemFull(t *testing.T) {
	t.Parallel()
	f := onFilesystem(t)
	filler := fill(t, f.dir)
	// The probe file already has all its blocks, so nothing changes.
	f.awaitMore(t, f.id, "read-4k", "ok", 2)
	f.awaitMore(t, f.id, "durable-write-4k", "ok", 2)

	// Without the file there is no room for a new one: at most a tenth of the space that it leaves may be used, which is
	// too little.
	require.NoError(t, os.Remove(filepath.Join(f.dir, "ssdprobe.dat")))
	f.awaitUp(t, f.id, false)
	f.Stderr.Find(t, `cannot open the target.*too little space for a probe file`)
	f.awaitMore(t, f.other, "read-4k", "ok", 2)
	left, err := os.ReadDir(f.dir)
	require.NoError(t, err)
	for _, entry := range left {
		assert.Contains(t, []string{"filler", "lost+found"}, entry.Name(), "half a probe file stays")
	}

	empty(t, filler)
	f.goesOn(t)
}

func TestFilesystemReadOnly(t *testing.T) {
	t.Parallel()
	f := onFilesystem(t)
	remount := func(flags uintptr) {
		t.Helper()
		eventually(t, "remounted", func() bool { // fails while a round has the file open for writing
			err := unix.Mount("", f.dir, "", unix.MS_REMOUNT|unix.MS_NOATIME|unix.MS_NODEV|unix.MS_NOSUID|flags, "")
			require.True(t, err == nil || errors.Is(err, unix.EBUSY), err)
			return err == nil
		})
	}
	remount(unix.MS_RDONLY)
	f.awaitUp(t, f.id, false)
	f.Stderr.Find(t, `cannot open the target.*read-only file system`)
	f.awaitMore(t, f.other, "read-4k", "ok", 2)
	remount(0)
	f.goesOn(t)
}

// A filesystem that the kernel has shut down, as when its drive dies, answers everything with an error.
func TestFilesystemShutDown(t *testing.T) {
	t.Parallel()
	f := onFilesystem(t)
	shutDown(t, f.dir)
	f.awaitUp(t, f.id, false)
	f.Stderr.Find(t, `cannot open the target.*input/output error`)
	f.awaitMore(t, f.other, "read-4k", "ok", 2)

	testenv.Unmount(t, f.dir, 0)
	testenv.Mount(t, f.device, f.dir)
	f.goesOn(t)
}

// shutDown makes the ext4 filesystem at path refuse everything until it is mounted again.
func shutDown(t *testing.T, path string) {
	t.Helper()
	dir, err := os.Open(path)
	require.NoError(t, err)
	const ioctlShutdown, withoutFlushing = 0x8004587d, 2 // EXT4_IOC_SHUTDOWN of fs/ext4/ext4.h
	require.NoError(t, unix.IoctlSetPointerInt(int(dir.Fd()), ioctlShutdown, withoutFlushing))
	require.NoError(t, dir.Close())
}

// freeze makes writes to the filesystem at dir wait uninterruptibly in the kernel until it is thawed.
func freeze(t *testing.T, dir string) (thaw func(*testing.T)) {
	t.Helper()
	outside(t, "fsfreeze", "--freeze", dir)
	thawed := false
	thaw = func(t *testing.T) {
		t.Helper()
		if !thawed {
			thawed = true
			unfreeze := exec.CommandContext(context.WithoutCancel(t.Context()), "fsfreeze", "--unfreeze", dir)
			out, err := unfreeze.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
	}
	t.Cleanup(func() { thaw(t) })
	return thaw
}

// A filesystem hangs during a write. The round times out, at most one thread waits, and scrapes and everything else
// continue. Then it comes back. The first time it hangs for a minute, which is longer than any timeout.
func TestFilesystemHangs(t *testing.T) {
	t.Parallel()
	f := onFilesystem(t)
	for _, seconds := range []float64{60, 4} {
		thaw := freeze(t, f.dir)
		hung := labels{"id": f.id, "probe": "durable-write-4k"}
		eventually(t, "the age of the round grows", func() bool {
			return f.scrape(t).of(t, "ssdprobe_probe_inflight_seconds", hung) > seconds
		})
		eventually(t, "the round counts as timed out", func() bool {
			return f.rounds(t, f.id, "durable-write-4k", "timeout") > 0
		})
		f.awaitMore(t, f.other, "durable-write-4k", "ok", 2)
		f.hasOneHungThreadAtMost(t)
		thaw(t)
		f.awaitMore(t, f.id, "durable-write-4k", "ok", 2)
	}
	f.Stderr.Find(t, `round not usable.*probe=durable-write-4k outcome=timeout`)
	f.Stderr.Find(t, `rounds are fine again.*was=timeout`)
	f.goesOn(t)
}

// hasOneHungThreadAtMost requires that no second thread hangs on the same target. A thread that waits for another drive
// at the moment is uninterruptible too, but soon returns.
func (d *daemon) hasOneHungThreadAtMost(t *testing.T) {
	t.Helper()
	eventually(t, "one thread hangs at most", func() bool { return waitingInKernel(t, d.Cmd.Process.Pid) <= 1 })
}

// waitingInKernel counts the threads of a process in uninterruptible sleep.
func waitingInKernel(t *testing.T, pid int) int {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	require.NoError(t, err)
	n := 0
	for _, thread := range threads {
		text, _ := os.ReadFile(thread) // a thread may end meanwhile
		if _, state, found := strings.Cut(string(text), ") "); found && strings.HasPrefix(state, "D") {
			n++
		}
	}
	return n
}

// A filesystem is unmounted while its probe file is watched. Nothing is held open, so it is free at once. No file is
// created in its place, not even after a restart, and the learned state is back when it is mounted again.
func TestFilesystemUnmounted(t *testing.T) {
	t.Parallel()
	f := onFilesystem(t)
	f.unmounted(t)
	outside(t, "e2fsck", "-fn", f.device.Path) // would fail if the device were in use
	f.awaitMore(t, f.other, "read-4k", "ok", 2)

	f.stop(t)
	f.daemon = startDaemon(t, f.state, f.configuration)
	f.Stderr.Find(t, saysUnmounted)
	f.awaitMore(t, f.other, "read-4k", "ok", 2)
	assert.Empty(t, names(t, f.dir))

	testenv.Mount(t, f.device, f.dir)
	name := filepath.Base(f.device.Path)
	eventually(t, "the target is on "+name+" again", func() bool {
		return f.scrape(t).of(t, "ssdprobe_target_up", labels{"id": f.id, "device": name}) == 1
	})
	f.goesOn(t)
}

// A filesystem is gone for good: the directory below is watched once the user has said so. To forget what was learned is not
// to say so.
func TestFilesystemUnmountedForGood(t *testing.T) {
	t.Parallel()
	f := onFilesystem(t)
	f.unmounted(t)
	reset := func(more ...string) {
		asked, skip := []string{"baseline", "reset", f.dir, "--config", f.config, "--state-dir", f.state}, len(f.Stderr.Text())
		got := ssdprobe(t, nil, append(asked, more...)...)
		require.Equal(t, 0, got.code, got.stderr)
		f.Stderr.FindAfter(t, skip, `msg=watching `)
		if len(more) == 0 {
			f.Stderr.FindAfter(t, skip, saysUnmounted)
		}
	}
	reset()
	assert.Empty(t, names(t, f.dir), "nothing is made on the filesystem below")
	reset("--gone")
	f.goesOn(t)
	assert.Equal(t, []string{"ssdprobe.dat"}, names(t, f.dir))
	require.NoError(t, os.Remove(filepath.Join(f.dir, "ssdprobe.dat")))
	testenv.Mount(t, f.device, f.dir) // for the cleanup
}

const saysUnmounted = `cannot open the target.* is not mounted, and no probe file is made on the one at `

// unmounted unmounts the filesystem and waits until the daemon has logged it.
func (f filesystem) unmounted(t *testing.T) {
	t.Helper()
	testenv.Unmount(t, f.dir, unix.MNT_DETACH)
	f.Stderr.Find(t, saysUnmounted)
	name := filepath.Base(f.device.Path)
	eventually(t, "the target is down and no longer said to be on "+name, func() bool {
		m := f.scrape(t)
		_, found := m.value(t, "ssdprobe_target_up", labels{"id": f.id, "device": name})
		up, listed := m.value(t, "ssdprobe_target_up", labels{"id": f.id})
		return !found && listed && up == 0
	})
	assert.Empty(t, names(t, f.dir), "nothing is made on the filesystem below")
}

// A file that can no longer be looked up, as on a filesystem that has shut down, keeps its device: in metrics, and for
// what is known of the drive.
func TestAFileThatCannotBeLookedUpKeepsItsDevice(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testenv.OnDisk(t), "probes")
	require.NoError(t, os.Mkdir(dir, 0o700))
	d := startDaemon(t, t.TempDir(), onFiles(t, dir))
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	device := func() string {
		for _, l := range d.scrape(t).family(t, "ssdprobe_target_up")[0].Label {
			if l.GetName() == "device" {
				return l.GetValue()
			}
		}
		return ""
	}
	before := device()
	require.NotEmpty(t, before)
	require.NoError(t, os.Rename(dir, dir+".away"))
	require.NoError(t, os.Symlink(dir, dir)) // too many links
	d.awaitCollector(t, "discovery", false)
	assert.Equal(t, before, device())
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Rename(dir+".away", dir))
	d.awaitCollector(t, "discovery", true)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	assert.Equal(t, before, device())
	d.stop(t)
}
