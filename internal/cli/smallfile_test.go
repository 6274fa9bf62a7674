package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A probe file that is smaller than requested is reported wherever its figures are shown.
func TestSmallerFile(t *testing.T) {
	t.Parallel()
	dir := testenv.Ext4(t, 300<<20)
	got := ssdprobe(t, "run", "--config", calm(t), "--state-dir", t.TempDir(), "-t", dir, "--size", "64MiB", "--rounds", "1", "-o", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var codes []string
	for _, w := range document(t, got).Report.Warnings {
		codes = append(codes, w.Code)
		if w.Code == record.WarnSmallFile {
			assert.Contains(t, w.Text, "not the 64 MiB that were asked for")
		}
	}
	assert.Contains(t, codes, record.WarnSmallFile)

	config := file(t, "c.yaml", strings.Replace(onFile(dir), "size: 16MiB", "size: 64MiB", 1))
	_, url := startDaemon(t, testenv.OnDisk(t), config)
	eventually(t, "it is a finding", func() bool {
		_, body := get(t, url+"api/v1/status")
		return strings.Contains(body, `"small_file"`)
	})
}

// What a user may not do is reported in the words of the daemon. A dry run ends as the run does.
func TestATargetOfOthers(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
	at := testenv.OnDisk(t)
	require.NoError(t, os.Chmod(at, 0o755))
	state := filepath.Join("/var/tmp", filepath.Base(at))
	config := filepath.Join(at, "c.yaml")
	require.NoError(t, os.WriteFile(config, []byte("lock_dir: "+state+"/locks\n"), 0o644))
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(state)) })
	daemons := testenv.OnDisk(t) // with a file that only the daemon may open
	require.NoError(t, os.Chmod(daemons, 0o777))
	file := filepath.Join(daemons, "ssdprobe.dat")
	require.NoError(t, os.WriteFile(file, make([]byte, 16<<20), 0o600))
	for target, want := range map[string]string{
		daemons:   "open " + file + ": permission denied: run as a user who may open it, or name another target",
		at:        "make a probe file in " + at + ": permission denied: run as a user who may write there, or name another directory",
		loop.Path: ": run as root, or add this user to the group that owns the device node",
	} {
		for _, suite := range [][]string{{"probe"}, {"quick"}, {"quick", "--dry-run"}} {
			code, says := asNobody(t, slices.Concat([]string{"run", "-t", target, "--even-if-busy", "--state-dir", state, "--config", config}, suite)...)
			assert.Equal(t, 1, code)
			assert.Contains(t, says, want)
		}
	}
}
