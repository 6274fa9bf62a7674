package settings

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
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

	_, err = Options{Store: dir.Store}.restoreLeft("drive", io.Discard)
	damaged := new(store.DamagedError)
	require.ErrorAs(t, err, &damaged)
}

// onLine does something at the first line that it is told.
type onLine struct {
	do    func()
	lines []string
}

func (o *onLine) Write(p []byte) (int, error) {
	if o.lines = append(o.lines, string(p)); len(o.lines) == 1 {
		o.do()
	}
	return len(p), nil
}

// A controller that resets answers nothing for some seconds.
func TestADeviceThatRefusesAtFirst(t *testing.T) {
	root := t.TempDir()
	sysfstest.Add(t, root, map[string]string{
		"sys/block/vda/dev": "254:0\n", "sys/block/vda/size": "2048\n", "sys/block/vda/queue/write_cache": "write through\n",
	}, nil)
	cache := filepath.Join(root, "sys/block/vda/queue/write_cache")
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	o := Options{FS: sysfs.New(root), Store: dir.Store}
	d, err := device.Find(o.FS, "vda")
	require.NoError(t, err)
	require.NoError(t, dir.Save(kindJournal, d.ID, journal{Version: journalVersion, DeviceID: d.ID, Entries: []entry{{WriteCache, on}}}))
	require.NoError(t, os.Rename(cache, cache+".away"))

	told := &onLine{do: func() { require.NoError(t, os.Rename(cache+".away", cache)) }}
	restored, err := o.restoreLeft(d.ID, told)
	require.NoError(t, err)
	require.Len(t, restored, 1)
	require.Len(t, told.lines, 1)
	assert.Contains(t, told.lines[0], "; trying again for 2 min\n")
	text, err := os.ReadFile(cache)
	require.NoError(t, err)
	assert.Equal(t, "write back", string(text))
	noted, err := o.takeNotes(d.ID)
	require.NoError(t, err)
	require.Len(t, noted, 1)
	assert.Contains(t, noted[0], restored[0]+", since ")
}
