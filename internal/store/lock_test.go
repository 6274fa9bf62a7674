package store_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when missing")
	long := "file:/" + strings.Repeat("deep/", 100)
	for _, name := range []string{"eui.0025", "file:/srv/data", "..", long} {
		lock, err := store.TakeLock(dir, name)
		require.NoError(t, err, name)
		_, err = store.TakeLock(dir, name)
		require.ErrorIs(t, err, store.ErrLocked, name)
		other, err := store.TakeLock(dir, name+"x")
		require.NoError(t, err, "another name is another lock")
		require.NoError(t, other.Release())
		require.NoError(t, lock.Release())
		again, err := store.TakeLock(dir, name)
		require.NoError(t, err)
		require.NoError(t, again.Release())
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 8, "all in the one directory, and they stay")
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode(), "nobody else may hold %s", e.Name())
	}
}

func TestLockRefusesLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "x.lock")))
	_, err := store.TakeLock(dir, "x")
	require.ErrorIs(t, err, unix.ELOOP)
	assert.NoFileExists(t, elsewhere)
}

// The filesystem of a directory may become read-only, as after an I/O error. Locks that were used before still work.
func TestLockOnAReadOnlyFilesystem(t *testing.T) {
	dir := testenv.Ext4(t, 16<<20)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "noted.lock"), []byte(`{"Name":"killed"}`), 0o600))
	testenv.RemountReadOnly(t, dir)
	_, err := store.TakeLock(dir, "new")
	require.ErrorIs(t, err, unix.EROFS)
	for name, take := range map[string]func() (*store.Lock, error){
		"a file":        func() (*store.Lock, error) { return store.TakeLock(dir, "noted") },
		"the directory": func() (*store.Lock, error) { return store.TakeDirLock(dir) },
	} {
		for range 2 {
			lock, err := take()
			require.NoError(t, err, name)
			_, err = take()
			require.ErrorIs(t, err, store.ErrLocked, name)
			require.NoError(t, lock.Release())
		}
	}
}

// A directory of another program may have a file of that name, such as one with a process id.
func TestLockLeavesFilesOfOthersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.lock")
	require.NoError(t, os.WriteFile(path, []byte("4711\n"), 0o600))
	_, err := store.TakeLock(filepath.Dir(path), "daemon")
	require.EqualError(t, err, "take the lock "+path+": ssdprobe did not write what is in this file: move it away, or name another directory")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "4711\n", string(text))
}

func TestAKilledProcessHoldsNoLock(t *testing.T) {
	const env = "SSDPROBE_TEST_LOCK"
	if dir := os.Getenv(env); dir != "" {
		_, err := store.TakeLock(dir, "x")
		require.NoError(t, err)
		_, err = os.Stdout.WriteString("locked\n")
		require.NoError(t, err)
		select {}
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAKilledProcessHoldsNoLock$")
	cmd.Env = append(os.Environ(), env+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "locked\n", line)
	_, err = store.TakeLock(dir, "x")
	require.ErrorIs(t, err, store.ErrLocked)

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	lock, err := store.TakeLock(dir, "x")
	require.NoError(t, err)
	require.NoError(t, lock.Release())
}

// A note remains until its holder releases the lock; anything else in the directory does
// not count as a note.
func TestLockNotes(t *testing.T) {
	type holder struct{ Name string }
	dir := filepath.Join(t.TempDir(), "[locks]")
	none, err := store.Notes[holder](dir)
	require.NoError(t, err, "no lock was ever taken")
	assert.Empty(t, none)

	noted, err := store.TakeLock(dir, "eui.0025")
	require.NoError(t, err)
	require.NoError(t, noted.Note(holder{"a run with a longer name"}))
	require.NoError(t, noted.Note(holder{"a run"}))
	silent, err := store.TakeLock(dir, "eui.0026")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "killed.lock"), []byte(`{"Name":"nobody holds it"}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), []byte(`{"Name":"no lock"}`), 0o600))
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.WriteFile(elsewhere, []byte(`{"Name":"a link"}`), 0o600))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "link.lock")))
	for name, noted := range map[string]bool{"eui.0025": true, "eui.0026": false, "killed": false, "link": false, "none": false} {
		assert.Equal(t, noted, store.IsNoted(dir, name), name)
	}
	notes, err := store.Notes[holder](dir)
	require.NoError(t, err)
	assert.Equal(t, map[string]store.Noted[holder]{"eui.0025.lock": {Holder: holder{"a run"}, UID: uint32(os.Getuid())}}, notes)
	require.NoError(t, os.Chmod(filepath.Join(dir, "eui.0025.lock"), 0o622))
	notes, err = store.Notes[holder](dir)
	require.NoError(t, err)
	assert.Empty(t, notes, "anybody may have written it")

	require.NoError(t, noted.Release())
	require.NoError(t, silent.Release())
	require.NoError(t, os.Chmod(filepath.Join(dir, "eui.0025.lock"), 0o600))
	old, err := store.TakeLock(dir, "killed")
	require.NoError(t, err)
	notes, err = store.Notes[holder](dir)
	require.NoError(t, err)
	assert.Empty(t, notes, "a note of the one before is none of who has the lock now")
	require.NoError(t, old.Release())
	notes, err = store.Notes[holder](dir)
	require.NoError(t, err)
	assert.Empty(t, notes)
}
