//go:build container

package manifesttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/imagetest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// contents lists the files of a directory.
func contents(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, strings.TrimPrefix(path, root))
		}
		return err
	}))
	return names
}

func TestImage(t *testing.T) {
	m := imagetest.Build(t, imagetest.Options{Arch: runtime.GOARCH, Version: "v1.2.3"})
	assert.Equal(t, []string{"/usr/bin/ssdprobe"}, contents(t, m.Stages["daemon"]))
	image := m.Stages[m.Last]
	require.Equal(t, []string{"/usr/bin/fio", "/usr/bin/ssdprobe"}, contents(t, image))
	size := 0.0
	for _, name := range contents(t, image) {
		f, err := os.Stat(filepath.Join(image, name))
		require.NoError(t, err)
		size += float64(f.Size())
	}
	assert.InDelta(t, 35e6, size, 2e6, "docs/install-kubernetes.md says how large it is")

	p := startImage(t, image, "files", shipped(t, "files")+quick, volumes{"state": volumeForFiles(t)})
	p.measures(`loop\d+`)
	assert.Contains(t, p.exec("/usr/bin/ssdprobe", "version"), "ssdprobe v1.2.3 ")
	// The kubectl exec of docs/install-kubernetes.md.
	out := p.exec("/usr/bin/ssdprobe", "run", "quick", "--target=/var/lib/ssdprobe/probe/ssdprobe.dat",
		"--set=time=1s", "--even-if-busy", "--verbose")
	assert.Contains(t, out, "fio-3.")
	assert.Contains(t, out, "random-read-qd32")
}

// TestImageForARM64 builds the images for another architecture on this one, and runs a measurement
// from them in a user-mode emulator. The emulator does not support libaio, so the job uses another
// engine than the suites.
func TestImageForARM64(t *testing.T) {
	const emulator = "qemu-aarch64-static"
	need(t, emulator, "qemu-user-static")
	m := imagetest.Build(t, imagetest.Options{Arch: "arm64", Version: "v1.2.3"})
	image := m.Stages[m.Last]
	require.Equal(t, []string{"/usr/bin/fio", "/usr/bin/ssdprobe"}, contents(t, image))

	inPath := t.TempDir()
	write(t, filepath.Join(inPath, "fio"), fmt.Sprintf("#!/bin/sh\nexec %s %s/usr/bin/fio \"$@\"\n", emulator, image), 0o755)
	ssdprobe := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), emulator, append([]string{filepath.Join(image, "usr", "bin", "ssdprobe")}, args...)...)
		c.Env = append(os.Environ(), "PATH="+inPath+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+t.TempDir())
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		require.NoErrorf(t, err, "%v:\n%s%s", args, out, &stderr)
		return string(out)
	}
	assert.Regexp(t, `^ssdprobe v1\.2\.3 .*linux/arm64`, ssdprobe("version"))
	target := testenv.Btrfs(t) // of the alignments that others tell, the emulator passes on zeros
	assert.Regexp(t, `(?s)read-4k: .* read +[1-9].*durable-write-4k: .* write +[1-9]`, ssdprobe("run", "--target", target, "--rounds=1", "--even-if-busy", "--verbose"))

	job := filepath.Join(t.TempDir(), "read.fio")
	write(t, job, "[global]\nioengine=psync\ndirect=1\nsize=16m\n[read]\nrw=randread\nbs=4k\nruntime=1\ntime_based\n", 0o644)
	out := ssdprobe("run", "--job", job, "--target", target, "--even-if-busy", "--verbose")
	assert.Contains(t, out, "fio-3.")
	assert.Regexp(t, `(?s)job-read\.fio: .* read +[1-9]`, out)
}
