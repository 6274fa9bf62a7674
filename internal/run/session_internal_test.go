package run

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// The lock of every run says that a run has it, so that its I/O is not taken for that of others. A run of the daemon
// cannot be found to be stopped: the daemon would stop.
func TestTheLockSaysThatARunHasIt(t *testing.T) {
	on := func(path string) measure.Subject {
		return measure.Subject{Target: measure.Target{Path: path}, LockID: "drive"}
	}
	for _, stoppable := range []bool{false, true} {
		o := Options{LockDir: t.TempDir(), Stoppable: stoppable}
		lock, err := takeLock(t.Context(), o, on("/dev/nvme0n1"), on("/mnt/data"))
		require.NoError(t, err)
		assert.True(t, store.IsNoted(o.LockDir, "drive"))
		found, err := InProgress(o.LockDir)
		require.NoError(t, err)
		if stoppable {
			require.Len(t, found, 1)
			assert.Equal(t, os.Getpid(), found[0].PID)
			assert.Equal(t, []string{"/dev/nvme0n1", "/mnt/data"}, found[0].Targets, "all that share the lock")
		} else {
			assert.Empty(t, found)
		}
		require.NoError(t, lock.Release())
		assert.False(t, store.IsNoted(o.LockDir, "drive"))
	}
}

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

// The rates of the last half second of a run are no figures of it: fio has stopped its I/O by then.
func TestProgressAtTheEndHasNoRates(t *testing.T) {
	var texts []string
	s := Session{options: Options{Progress: func(p Progress) { texts = append(texts, p.Text) }}}
	for _, done := range []float64{0.5, 1} {
		s.suiteProgress(suite.Progress{Plan: "reads", Done: done, Rates: &fio.Rates{ReadIOPS: 5, ReadBytesPerSecond: 660_000}})
	}
	assert.Equal(t, []string{"reads: read 5.00 IOPS, 0.660 MB/s", "reads"}, texts)
}
