package settings

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// The process that finds a damaged journal reports it: once it is set aside, nobody else will.
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

// onLine calls do at the first line written to it.
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

// killed returns what a killed run leaves: a disk with the given id and attribute, whose write cache is off.
func killed(t *testing.T) (o Options, dir state.Dir, id, cache string) {
	t.Helper()
	root := t.TempDir()
	sysfstest.Add(t, root, map[string]string{
		"sys/block/vda/dev": "254:0\n", "sys/block/vda/size": "2048\n", "sys/block/vda/queue/write_cache": "write through\n",
	}, nil)
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	o = Options{FS: sysfs.New(root), Store: dir.Store}
	d, err := device.Find(o.FS, "vda")
	require.NoError(t, err)
	require.NoError(t, dir.Save(kindJournal, d.ID, journal{Version: journalVersion, DeviceID: d.ID, Entries: []entry{{WriteCache, on}}}))
	return o, dir, d.ID, filepath.Join(root, "sys/block/vda/queue/write_cache")
}

// A controller that resets does not answer for some seconds.
func TestADeviceThatRefusesAtFirst(t *testing.T) {
	o, _, id, cache := killed(t)
	require.NoError(t, os.Rename(cache, cache+".away"))

	told := &onLine{do: func() { require.NoError(t, os.Rename(cache+".away", cache)) }}
	restored, err := o.restoreLeft(id, told)
	require.NoError(t, err)
	require.Len(t, restored, 1)
	require.Len(t, told.lines, 2)
	assert.Contains(t, told.lines[0], "; trying again for 2 min\n")
	assert.Equal(t, "settings of "+id+" are as before\n", told.lines[1])
	text, err := os.ReadFile(cache)
	require.NoError(t, err)
	assert.Equal(t, "write back", string(text))
	noted, err := o.takeNotes(id)
	require.NoError(t, err)
	require.Len(t, noted, 1)
	assert.Contains(t, noted[0], restored[0]+", since ")
}

// If the note for the next start cannot be stored, the settings are not restored a second time.
func TestANoteThatCannotBeKept(t *testing.T) {
	o, dir, id, _ := killed(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir.Dir(), kindRestored), nil, 0o600), "no directory")

	told := &onLine{do: func() {}}
	restored, err := o.restoreLeft(id, told)
	require.ErrorContains(t, err, kindRestored)
	assert.Len(t, restored, 1)
	assert.Empty(t, told.lines, "nothing is tried again")
}

// The wait for a lock lasts as long as announced, and counts from the moment at which another process took it.
func TestWhenTryingIsOver(t *testing.T) {
	begun := time.Now()
	refused := errors.New("refused")
	type try struct {
		after time.Duration
		err   error
	}
	for name, c := range map[string]struct {
		told bool
		of   []try
		over bool // after the last try
	}{
		"a lock for long":                     {of: []try{{0, store.ErrLocked}, {61 * time.Second, store.ErrLocked}}, over: true},
		"a lock for a while":                  {of: []try{{0, store.ErrLocked}, {59 * time.Second, store.ErrLocked}}},
		"a lock that came late":               {told: true, of: []try{{0, refused}, {100 * time.Second, refused}, {119 * time.Second, store.ErrLocked}, {121 * time.Second, store.ErrLocked}}},
		"a lock for long, and told of longer": {told: true, of: []try{{0, refused}, {time.Second, store.ErrLocked}, {90 * time.Second, store.ErrLocked}}},
		"a lock for longer than was told":     {told: true, of: []try{{0, refused}, {time.Second, store.ErrLocked}, {121 * time.Second, store.ErrLocked}}, over: true},
		"two locks":                           {told: true, of: []try{{0, store.ErrLocked}, {100 * time.Second, refused}, {119 * time.Second, store.ErrLocked}, {122 * time.Second, store.ErrLocked}}},
		"refused for a while":                 {told: true, of: []try{{0, refused}, {119 * time.Second, refused}}},
		"refused for long":                    {told: true, of: []try{{0, refused}, {121 * time.Second, refused}}, over: true},
	} {
		t.Run(name, func(t *testing.T) {
			tried := tries{begun: begun, told: c.told}
			last := len(c.of) - 1
			for _, try := range c.of[:last] {
				require.False(t, tried.over(try.err, begun.Add(try.after)))
			}
			assert.Equal(t, c.over, tried.over(c.of[last].err, begun.Add(c.of[last].after)))
		})
	}
}
