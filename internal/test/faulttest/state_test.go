package faulttest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// learnsSoon makes a baseline after a few rounds, when the state is saved.
const learnsSoon = "drift: {baseline_rounds: 10}\n"

func (d *daemon) awaitBaseline(t *testing.T) {
	t.Helper()
	eventually(t, "a baseline", func() bool {
		_, found := d.scrape(t).value(t, "ssdprobe_baseline_value", labels{"probe": "read-4k"})
		return found
	})
}

// A state that a newer ssdprobe has written is neither used nor changed.
func TestStateOfANewerVersion(t *testing.T) {
	t.Parallel()
	state, dir := t.TempDir(), testenv.OnDisk(t)
	d := startDaemon(t, state, onFiles(t, dir))
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	d.stop(t)
	files := saved(t, state)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	newer := regexp.MustCompile(`"version": \d+`).ReplaceAll(text, []byte(`"version": 1000`))
	require.NotEqual(t, text, newer)
	require.NoError(t, os.WriteFile(files[0], newer, 0o600))

	d = startDaemon(t, state, onFiles(t, dir)+learnsSoon)
	d.awaitCollector(t, "state", false)
	d.Stderr.Find(t, `the stored state has a problem.*written by a newer ssdprobe`)
	d.awaitBaseline(t) // when it would be saved
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	v, _ := d.scrape(t).value(t, "ssdprobe_collector_success", labels{"collector": "state"})
	assert.Zero(t, v, "it is still not saved")
	d.stop(t)
	kept, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, newer, kept)
	left, err := os.ReadDir(filepath.Dir(files[0]))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing is set aside, nothing half written stays")
}

// The state directory is moved away from a running daemon, and back.
func TestStateDirectoryGoneAndBack(t *testing.T) {
	t.Parallel()
	state, dir := filepath.Join(t.TempDir(), "state"), testenv.OnDisk(t)
	d := startDaemon(t, state, onFiles(t, dir)+learnsSoon)
	d.awaitBaseline(t)
	eventually(t, "it is saved", func() bool { return len(saved(t, state)) == 1 })
	away := state + ".away"
	require.NoError(t, os.Rename(state, away))
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	require.NoError(t, os.RemoveAll(state)) // a save may have created it again
	require.NoError(t, os.Rename(away, state))
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	d.awaitCollector(t, "state", true)
	before := d.scrape(t).of(t, "ssdprobe_baseline_value", labels{"probe": "read-4k", "statistic": "iops"})
	d.stop(t)

	d = startDaemon(t, state, onFiles(t, dir)+learnsSoon)
	assert.Equal(t, before, d.scrape(t).of(t, "ssdprobe_baseline_value", labels{"probe": "read-4k", "statistic": "iops"}), "nothing is lost")
	d.stop(t)
}

// The next save creates a removed state directory again, with the state in memory.
func TestStateDirectoryRemoved(t *testing.T) {
	t.Parallel()
	state, dir := filepath.Join(t.TempDir(), "state"), testenv.OnDisk(t)
	d := startDaemon(t, state, onFiles(t, dir)+learnsSoon)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	require.NoError(t, os.RemoveAll(state))
	d.awaitBaseline(t)
	eventually(t, "it is saved", func() bool { return len(saved(t, state)) == 1 })
	d.awaitCollector(t, "state", true)
	d.stop(t)
	d = startDaemon(t, state, onFiles(t, dir)+learnsSoon)
	d.awaitBaseline(t)
	d.stop(t)
}

// The filesystem of the state directory becomes read-only, as after an I/O error. A daemon that is started then knows what
// was learned and goes on, although an earlier one left an unfinished file.
func TestStateDirectoryReadOnly(t *testing.T) {
	t.Parallel()
	state, dir := testenv.Ext4(t, 16<<20), testenv.OnDisk(t)
	d := startDaemon(t, state, onFiles(t, dir)+learnsSoon)
	d.awaitBaseline(t)
	d.stop(t)
	learned := saved(t, state)
	require.Len(t, learned, 1)
	left := filepath.Join(filepath.Dir(learned[0]), ".x.json123456")
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	longAgo := time.Now().AddDate(0, 0, -1)
	require.NoError(t, os.Chtimes(left, longAgo, longAgo))
	testenv.RemountReadOnly(t, state)

	d = startDaemon(t, state, onFiles(t, dir)) // learns for a day
	d.awaitBaseline(t)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	d.awaitCollector(t, "state", false)
	d.Stderr.Find(t, `the stored state has a problem.*remove what a save left behind.*read-only file system`)
	d.stop(t)
}

// State that could not be read is not replaced by what the daemon learned without it. The daemon takes it up when it can
// be read.
func TestStateThatCanBeReadAgain(t *testing.T) {
	t.Parallel()
	state, dir := t.TempDir(), testenv.OnDisk(t)
	baseline := func(d *daemon) float64 {
		return d.scrape(t).of(t, "ssdprobe_baseline_value", labels{"probe": "read-4k", "statistic": "iops"})
	}
	d := startDaemon(t, state, onFiles(t, dir)+learnsSoon)
	d.awaitBaseline(t)
	learned := baseline(d)
	d.stop(t)
	files := saved(t, state)
	require.Len(t, files, 1)
	require.NoError(t, os.Chmod(files[0], 0o666))

	d = startDaemon(t, state, onFiles(t, dir)) // learns for a day
	d.awaitCollector(t, "state", false)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	assert.Zero(t, baseline(d))
	require.NoError(t, os.Chmod(files[0], 0o600))
	eventually(t, "it is taken up", func() bool { return baseline(d) == learned })
	d.awaitCollector(t, "state", true)
	d.stop(t)

	d = startDaemon(t, state, onFiles(t, dir))
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	assert.Equal(t, learned, baseline(d))
	d.stop(t)
}
