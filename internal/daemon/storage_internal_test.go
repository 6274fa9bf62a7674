package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// A run that ends, or the restorer of settings, may be saving while the daemon starts.
func TestStartingLeavesTheUnfinishedFilesOfOthersAlone(t *testing.T) {
	c := config.Default()
	c.StateDir, c.LockDir = t.TempDir(), t.TempDir()
	kind := filepath.Join(c.StateDir, "run-baselines")
	require.NoError(t, os.Mkdir(kind, 0o700))
	abandoned, pending := filepath.Join(kind, ".a.json123"), filepath.Join(kind, ".b.json456")
	for _, path := range []string{abandoned, pending} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	yesterday := time.Now().AddDate(0, 0, -1)
	require.NoError(t, os.Chtimes(abandoned, yesterday, yesterday))
	s, err := holdStorage(c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	assert.NoFileExists(t, abandoned)
	assert.FileExists(t, pending)
	require.NoError(t, s.letGo())
}
