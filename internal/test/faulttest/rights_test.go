package faulttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// onBoth returns a configuration that watches a loop device and a probe file.
func onBoth(t *testing.T, loop testenv.Loop, dir string) string {
	t.Helper()
	return fmt.Sprintf("lock_dir: %s\ndevices: {include: [{name: %s}]}\nfiles:\n  - {path: %s, size: 16MiB}\n%s",
		t.TempDir(), filepath.Base(loop.Path), dir, everySecond)
}

// A container's seccomp profile allows neither ioctl nor bpf. Reading and writing need neither;
// features that need them are left out.
func TestWithoutIoctl(t *testing.T) {
	t.Parallel()
	loop, dir := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true}), testenv.OnDisk(t)
	d := startDaemonWith(t, failing(unix.EPERM, unix.SYS_IOCTL, unix.SYS_BPF), t.TempDir(), onBoth(t, loop, dir))
	for _, id := range []string{d.idOf(t, filepath.Base(loop.Path)), fileID(dir)} {
		d.awaitMore(t, id, "read-4k", "ok", 2)
	}
	d.awaitMore(t, fileID(dir), "durable-write-4k", "ok", 2)
	d.stop(t)
	got := ssdprobe(t, failing(unix.EPERM, unix.SYS_IOCTL, unix.SYS_BPF), runQuick(t, dir, "--set", "time=200ms")...)
	assert.Equal(t, 0, got.code, got.stderr)
}

// hidden is the script of an environment in which other users' processes are invisible, which the script verifies.
const hidden = `mount -t proc -o hidepid=2,gid=65534 none /proc
exec setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace sh -ec 'test ! -e /proc/1/stat; exec "$0" "$@"'`

// A process cannot see others: /proc has hidepid=2, and the process lacks the right to inspect them.
func TestHiddenProcesses(t *testing.T) {
	t.Parallel()
	loop, dir := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true}), testenv.OnDisk(t)
	d := startDaemonIn(t, hidden, nil, t.TempDir(), onBoth(t, loop, dir))
	for _, id := range []string{d.idOf(t, filepath.Base(loop.Path)), fileID(dir)} {
		d.awaitMore(t, id, "read-4k", "ok", 2)
	}
	d.stop(t)
}

// Without seeing what other processes write to, nothing is overwritten: processes are hidden, or
// root may list their open files but not follow the links.
func TestDestroyWithHiddenProcesses(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	for _, world := range []string{hidden, "exec setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace"} {
		p := testenv.StartIn(t, world, nil, destroying(t, loop.Path)...)
		assert.Equal(t, 4, p.Wait(t))
		assert.Contains(t, p.Stderr.Text(), "cannot see what other processes have open")
	}
}

// A node belongs to another user, as those of Ceph's drives do, and root may not read what belongs to others.
func TestNodeOfAnotherUser(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	major, minor, _ := strings.Cut(loop.Number, ":")
	const world = `mknod --mode=0660 %[1]s b %[2]s %[3]s; chown 64045:64045 %[1]s; mount --bind %[1]s %[4]s
exec setpriv --bounding-set=%[5]s --inh-caps=%[5]s`
	config := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(config, []byte(onBoth(t, loop, testenv.OnDisk(t))), 0o600))
	for without, refused := range map[string]bool{"-dac_override,-dac_read_search": true, "-dac_override": false} {
		node := filepath.Join(t.TempDir(), "node")
		p := testenv.StartIn(t, fmt.Sprintf(world, node, major, minor, loop.Path, without), nil, "devices", "--config="+config)
		assert.Equal(t, 0, p.Wait(t))
		said := strings.Join(strings.Fields(p.Stdout.Text()), " ") // it is wrapped
		assert.Contains(t, said, filepath.Base(loop.Path))
		assert.Equal(t, refused, strings.Contains(said, "it belongs to user 64045, and root lacks the capability CAP_DAC_READ_SEARCH"))
		assert.NotContains(t, said, "device cgroup")
	}
}

// In a container without /sys, files are measured, and the daemon reports what is unknown.
func TestWithoutSys(t *testing.T) {
	t.Parallel()
	loop, dir := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true}), testenv.OnDisk(t)
	d := startDaemonIn(t, "mount -t tmpfs none /sys; exec", nil, t.TempDir(), onBoth(t, loop, dir))
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	d.awaitMore(t, fileID(dir), "durable-write-4k", "ok", 2)
	d.awaitCollector(t, "discovery", false)
	d.stop(t)
	entries, err := os.ReadDir(d.state)
	require.NoError(t, err)
	assert.NotEmpty(t, entries)
}
