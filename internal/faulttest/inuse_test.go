package faulttest_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/testenv"
)

// destroying returns the arguments of a short run that overwrites a device.
func destroying(t *testing.T, path string, more ...string) []string {
	t.Helper()
	config := file(t, "c.yaml", "lock_dir: "+t.TempDir()+"\nadmission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}\n")
	return append([]string{"run", "mixed", "--config", config, "--state-dir", t.TempDir(), "-t", path,
		"--destroy", "name:" + filepath.Base(path), "--set", "time=100ms", "--set", "engines=libaio"}, more...)
}

// A process that has a file open on a filesystem that is dead keeps nobody from being told whether a drive may be overwritten.
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

// A dead filesystem may hold the node of the very device, by which a process writes to it.
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
