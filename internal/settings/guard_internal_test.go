package settings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// A damaged journal is told of by the process that finds it: set aside, nobody sees it again.
func TestADamagedJournalIsTold(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, dir.Save(kindJournal, "drive", journal{Version: journalVersion, DeviceID: "drive"}))
	files, err := filepath.Glob(filepath.Join(dir.Dir(), kindJournal, "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.WriteFile(files[0], []byte("torn"), 0o600))

	_, err = Options{Store: dir.Store}.restoreLeft("drive")
	damaged := new(store.DamagedError)
	require.ErrorAs(t, err, &damaged)
}
