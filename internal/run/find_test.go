package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// An existing probe file is measured in its present size, whether it or its directory is named. If it were made anew in
// another size, it would be removed after the run.
func TestFindTakesAProbeFileAsItIs(t *testing.T) {
	const here, wanted = 20 << 20, 1 << 30
	dir := t.TempDir()
	file := filepath.Join(dir, record.ProbeFileName)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, here))
	for _, path := range []string{dir, file} {
		s, err := run.Find(sysfs.New("/"), path, wanted)
		require.NoError(t, err)
		assert.Equal(t, int64(here), s.FileBytes, path)
	}
	// No size is requested of a file that is named: it may be the user's, and must not be called a probe file to
	// remove.
	own := filepath.Join(t.TempDir(), "data.db")
	require.NoError(t, os.WriteFile(own, nil, 0o600))
	require.NoError(t, os.Truncate(own, here))
	for path, small := range map[string]bool{own: false, file: false, dir: true} {
		s, err := run.Find(sysfs.New("/"), path, wanted)
		require.NoError(t, err)
		warned := slices.ContainsFunc(s.Warnings, func(w record.Warning) bool { return w.Code == record.WarnSmallFile })
		assert.Equal(t, []any{small, int64(here)}, []any{warned, s.FileBytes}, path)
	}
	s, err := run.Find(sysfs.New("/"), t.TempDir(), wanted)
	require.NoError(t, err)
	assert.Equal(t, int64(wanted), s.FileBytes, "nothing is there")
}

// A link is resolved once, when the target is found: what fio opens later is what was checked, wherever the link then
// leads.
func TestFindFollowsLinksOnce(t *testing.T) {
	loop, dir := testenv.LoopDevice(t, 1<<20, testenv.Options{}), t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, make([]byte, 1<<20), 0o600))
	for _, path := range []string{loop.Path, dir, file} {
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(path, link))
		s, err := run.Find(sysfs.New("/"), link, 1<<30)
		require.NoError(t, err)
		assert.Equal(t, path, s.Path)
	}
	link := filepath.Join(dir, "to nothing")
	require.NoError(t, os.Symlink(file+".gone", link))
	_, err := run.Find(sysfs.New("/"), link, 1<<30)
	require.ErrorContains(t, err, "find "+link+": nothing is there")
}

// Suites of fio said only that they cannot do I/O on 0 bytes.
func TestFindRefusesADeviceWithoutASize(t *testing.T) {
	empty := testenv.LoopDevice(t, 0, testenv.Options{})
	_, err := run.Find(sysfs.New("/"), empty.Path, 1<<30)
	require.EqualError(t, err, "find "+empty.Path+": it has no size: there is no medium in it")
}
