package iolatency

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The programs that ship must match their source, even when it is compiled in another directory at another
// time.
func TestCompiledProgramsAreUpToDate(t *testing.T) {
	testenv.Installed(t, "clang-14")
	testenv.Installed(t, "llvm-strip-14")
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "../../scripts/compile-bpf.sh", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, name := range []string{"programs_bpfel.o", "programs_bpfel.go"} {
		made, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		here, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, string(here), string(made), "%s: run go generate ./internal/iolatency", name)
	}
}

func TestLayout(t *testing.T) {
	spec, err := loadPrograms()
	require.NoError(t, err)
	size := map[string][2]uint32{}
	for name, m := range spec.Maps {
		size[name] = [2]uint32{m.ValueSize, m.MaxEntries}
	}
	assert.Equal(t, [2]uint32{watchedBytes, table}, size[programsMapDevices])
	assert.Equal(t, [2]uint32{slotBytes, slots * maxStripes}, size[programsMapCounts])
	assert.Equal(t, [2]uint32{controlBytes, 1}, size[programsMapControls])
	assert.Zero(t, 4096%size[programsMapFlights][0], "no I/O in flight is in two lines of a cache")
}
