package run

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/store"
)

// While a drive formats, neither the daemon nor another run waits for it: its lock is held until the
// process ends.
func TestADriveThatStillFormatsIsNotGivenBack(t *testing.T) {
	for _, formats := range []bool{false, true} {
		dir := t.TempDir()
		lock, err := store.TakeLock(dir, "drive")
		require.NoError(t, err)
		require.NoError(t, lock.Note("a run"))
		s := &Session{lock: lock, formats: formats}
		_, err = s.End()
		require.NoError(t, err)
		assert.Equal(t, formats, store.IsNoted(dir, "drive"), "run --stop says who has it")
		again, err := store.TakeLock(dir, "drive")
		if formats {
			require.ErrorIs(t, err, store.ErrLocked)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, again.Release())
	}
}
