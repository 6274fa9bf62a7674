package daemon

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The lock directory may be on a drive that hangs, such as the state directory. No round and no sample of the traffic
// waits for it, and no lock is left held.
func TestALockDirectoryThatHangs(t *testing.T) {
	dir := t.TempDir()
	l := &locks{dir: dir}
	before, err := l.take("s1")
	require.NoError(t, err)
	noted, err := store.TakeLock(dir, "s2")
	require.NoError(t, err)
	require.NoError(t, noted.Note("a run"))
	assert.Equal(t, map[string]bool{"s1": false, "s2": true}, l.noted([]string{"s1", "s2"}))

	hung := testenv.HungFilesystem(t, dir)
	_, err = l.take("s3")
	require.ErrorContains(t, err, "take the lock of s3: the filesystem of "+dir+" hangs: no answer since")
	_, err = l.take("s3")
	require.ErrorContains(t, err, "has not returned yet")
	assert.Empty(t, l.noted([]string{"s2"}))
	require.Error(t, l.release(before))

	hung.End(t)
	testenv.Eventually(t, "the directory answers", func() bool { return l.guard.Since().IsZero() })
	for _, id := range []string{"s1", "s3"} {
		lock, err := l.take(id)
		require.NoError(t, err, id)
		require.NoError(t, l.release(lock))
	}
}
