package cli_test

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"

	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// versionBefore returns a state directory as the previous version wrote it, as if it had been written on this
// machine for a file at dir.
func versionBefore(t *testing.T, dir string) string {
	t.Helper()
	archive, err := txtar.ParseFile("../state/testdata/version-1.txtar")
	require.NoError(t, err)
	var kernel unix.Utsname
	require.NoError(t, unix.Uname(&kernel))
	here := strings.NewReplacer("/srv/data", dir, "6.18.44-fc-v669", unix.ByteSliceToString(kernel.Release[:]), "rw,relatime", "rw,nosuid,nodev,noatime")
	path := t.TempDir()
	first := store.Schema{Version: 1}
	s, err := store.Open(path, first)
	require.NoError(t, err)
	for _, f := range archive.Files {
		kind, name := filepath.Split(strings.TrimSuffix(f.Name, ".json"))
		name, err := url.PathUnescape(name)
		require.NoError(t, err)
		data, _, err := first.Unwrap(f.Data)
		require.NoError(t, err)
		require.NoError(t, s.Save(filepath.Clean(kind), here.Replace(name), json.RawMessage(here.Replace(string(data)))))
	}
	return path
}

func TestDaemonContinuesTheStateOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	dir := testenv.Ext4(t, 300<<20)
	path := versionBefore(t, dir)
	p, address := startDaemon(t, path, file(t, "c.yaml", onFile(dir)+"  - {name: read-128k, pattern: sequential, block_size: 128KiB, interval: 1s, ios: 4}\n"))
	awaitRounds(t, address, "read-128k", 1)
	code, page := get(t, address+"devices/file:"+dir)
	assert.Equal(t, 200, code)
	assert.Contains(t, page, "quick", "the last run is shown")
	p.Signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.Wait(t))
	for _, trouble := range []string{"damaged", "a condition changed", "a new epoch begins", "baseline learned"} {
		assert.NotContains(t, p.Stderr.Text(), trouble)
	}

	aside, err := filepath.Glob(filepath.Join(path, "*", "*damaged*"))
	require.NoError(t, err)
	assert.Empty(t, aside)
	d, err := state.Open(path)
	require.NoError(t, err)
	target, found, err := d.Target("file:" + dir)
	require.NoError(t, err)
	require.True(t, found)
	for _, probe := range []string{"read-4k", "read-128k", "durable-write-4k"} {
		if known := target.Probes[probe].Baselines(); assert.Len(t, known, 1, "no epoch begins: %s", probe) {
			assert.Equal(t, 10, known[0].Rounds, probe)
		}
	}
	assert.True(t, target.Probes["read-128k"].Pinned(nil))
	asked, err := d.Requests()
	require.NoError(t, err)
	assert.Empty(t, asked, "the request that was left is carried out")
	loop, _, err := d.Target("name:loop0")
	require.NoError(t, err)
	assert.True(t, loop.Probes["read-4k"].Pinned(nil))
}
