package faulttest_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// destroying returns the arguments of a short run that overwrites a device.
func destroying(t *testing.T, path string, more ...string) []string {
	t.Helper()
	return destroyingOn(t, "/", path, more...)
}

// destroyingOn is like destroying, with the given host root.
func destroyingOn(t *testing.T, root, path string, more ...string) []string {
	t.Helper()
	config := file(t, "c.yaml", "host_root: "+root+"\nlock_dir: "+t.TempDir()+"\nadmission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}\n")
	return append([]string{"run", "mixed", "--config", config, "--state-dir", t.TempDir(), "-t", path,
		"--destroy", "name:" + filepath.Base(path), "--set", "time=100ms", "--set", "engines=libaio"}, more...)
}

// A process with an open file on a dead filesystem does not block the check whether a drive may be overwritten.
func TestDestroyBesideADeadFilesystem(t *testing.T) {
	t.Parallel()
	loop, remote := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true}), testenv.RemoteFile(t)
	remote.KeepOpen(t)
	remote.FallSilent()
	got := ssdprobe(t, nil, destroying(t, loop.Path, "--dry-run")...)
	assert.Equal(t, 0, got.code, got.stderr)
	got = ssdprobe(t, nil, destroying(t, loop.Path)...)
	assert.Equal(t, 0, got.code, got.stderr)
}

// A dead filesystem may hold the node through which a process writes to the very device.
func TestDestroyByANodeOnADeadFilesystem(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	remote := testenv.RemoteNode(t, loop)
	remote.KeepOpen(t)
	remote.FallSilent()
	assert.Contains(t, ssdprobe(t, nil, destroying(t, loop.Path, "--dry-run")...).stdout, "would be refused: "+loop.Path+": process ")
	got := ssdprobe(t, nil, destroying(t, loop.Path)...)
	assert.Equal(t, 4, got.code, got.stderr)
	assert.Contains(t, got.stderr, "has "+loop.Path+" open for writing")
}

// A check that hangs ends with the signal that ends the run.
func TestInterruptWhileTheCheckHangs(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	for name, c := range map[string]struct {
		signal syscall.Signal
		more   []string
	}{"run": {signal: syscall.SIGTERM}, "dry run": {syscall.SIGINT, []string{"--dry-run"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := testenv.RemoteFile(t)
			remote.FallSilent()
			p := start(t, nil, destroyingOn(t, hostWithExport(t, loop, remote.Path), loop.Path, c.more...)...)
			testenv.Eventually(t, "it hangs", remote.Asked)
			p.Signal(t, c.signal)
			assert.Equal(t, 128+int(c.signal), p.Wait(t))
			assert.NotContains(t, p.Stderr.Text(), "does not answer", "it has not waited for that")
		})
	}
}

// hostWithExport returns the root of a host that has a loop device, and exports a path to other
// machines. No other test may see it.
func hostWithExport(t *testing.T, loop testenv.Loop, path string) (root string) {
	t.Helper()
	root = t.TempDir()
	name := filepath.Base(loop.Path)
	dir, export := "sys/devices/virtual/block/"+name, "sys/kernel/config/nvmet/subsystems/x/namespaces/1/"
	sysfstest.Add(t, root, map[string]string{
		dir + "/dev": loop.Number + "\n", dir + "/size": "131072\n",
		dir + "/queue/logical_block_size": "512\n", dir + "/queue/physical_block_size": "512\n",
		export + "enable": "1\n", export + "device_path": path + "\n",
		"proc/swaps":                            "Filename Type Size Used Priority\n",
		"proc/pressure/io":                      "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"proc/diskstats":                        strings.Replace(loop.Number, ":", " ", 1) + " " + name + " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		"proc/sys/kernel/osrelease":             "6.8.0\n",
		"sys/devices/system/node/node0/cpulist": "0-255\n",
	}, map[string]string{"sys/block/" + name: "/" + dir, "sys/class/block/" + name: "/" + dir, "sys/dev/block/" + loop.Number: "/" + dir})
	return root
}
