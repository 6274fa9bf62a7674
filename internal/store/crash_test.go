package store_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// crashEnv holds the state directory of a process that saves once.
const crashEnv = "SSDPROBE_TEST_CRASH"

// saveOnce runs in the processes that are killed. The signal tells the tracer that this thread begins to save.
func saveOnce(t *testing.T, dir string) {
	runtime.LockOSThread()
	s := at(t, dir)
	require.NoError(t, unix.Tgkill(os.Getpid(), unix.Gettid(), begins))
	require.NoError(t, s.Save(kind, "x", some(2)))
	os.Exit(0)
}

// A saving process is killed at every byte that it writes. The old value is then still there, and the next save
// succeeds.
func TestKilledAtEveryByteOfASave(t *testing.T) {
	if dir := os.Getenv(crashEnv); dir != "" {
		saveOnce(t, dir)
	}
	testenv.Long(t)
	t.Parallel()
	s := open(t)
	_, text := one(t, s, "x", some(2)) // as long as the interrupted save
	require.NoError(t, s.Save(kind, "x", some(1)))
	bytes := 0
	for ; killedWhileSaving(t, "TestKilledAtEveryByteOfASave", s.Dir(), afterBytes(bytes)); bytes++ {
		require.Equal(t, 1, loaded(t, s))
		files := tree(t, filepath.Join(s.Dir(), kind))
		require.Len(t, files, 2)
		for name, half := range files {
			if strings.HasPrefix(name, ".") {
				require.Len(t, half, bytes)
			}
		}
		goesOn(t, s)
	}
	assert.InDelta(t, len(text), bytes, 10, "but for the digits of the time, every byte was the last one")
	assert.Equal(t, 2, loaded(t, s))
}

// A saving process is killed before and after every system call that changes or syncs files. Either the old or the new
// value is then there.
func TestKilledAtEveryCallOfASave(t *testing.T) {
	if dir := os.Getenv(crashEnv); dir != "" {
		saveOnce(t, dir)
	}
	t.Parallel()
	s := open(t)
	require.NoError(t, s.Save(kind, "x", some(1)))
	seen := map[int]int{}
	for call := 1; killedWhileSaving(t, "TestKilledAtEveryCallOfASave", s.Dir(), atCall(call)); call++ {
		seen[loaded(t, s)]++
		goesOn(t, s)
	}
	assert.Greater(t, seen[1], 8, "an open, a change of mode, a write, a sync, a rename")
	assert.Greater(t, seen[2], 4, "the syncs of two directories")
	assert.Equal(t, 2, loaded(t, s), "nobody killed the last one")
}

// loaded returns the value that the next process finds.
func loaded(t *testing.T, s *store.Store) int {
	t.Helper()
	var v value
	found, err := at(t, s.Dir()).Load(kind, "x", &v)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, some(v.N), v)
	return v.N
}

// goesOn saves the old value again and checks that nothing of an interrupted save is left.
func goesOn(t *testing.T, s *store.Store) {
	t.Helper()
	require.NoError(t, s.Save(kind, "x", some(1)))
	require.NoError(t, s.RemoveLeftovers(time.Now().Add(time.Hour)))
	require.Len(t, tree(t, s.Dir()), 1)
}
