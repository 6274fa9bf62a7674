package state_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

func TestRecordings(t *testing.T) {
	at := t.TempDir()
	dir, err := state.Open(at)
	require.NoError(t, err)
	none, err := dir.Recordings()
	require.NoError(t, err)
	assert.Empty(t, none)
	older := state.Recording{
		RecordingHead: record.RecordingHead{ID: "20260504T130000Z-a", Bytes: 3, Triggers: []record.Trigger{{Kind: record.TriggerStall}}}, Lines: []byte{0x1f, 0x8b, 0},
	}
	newer := older
	newer.ID = "20260504T140000Z-a"
	require.NoError(t, dir.SaveRecording(newer))
	require.NoError(t, dir.SaveRecording(older))
	all, err := dir.Recordings()
	require.NoError(t, err)
	assert.Equal(t, []state.Recording{older, newer}, all)
	one, err := dir.Recording(newer.ID)
	require.NoError(t, err)
	assert.Equal(t, newer, one)
	_, err = dir.Recording("another")
	require.ErrorIs(t, err, state.ErrNoRecording)

	// A damaged recording hides no other, and is reported once.
	file := filepath.Join(at, "recordings", older.ID+".json")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	all, err = dir.Recordings()
	require.ErrorAs(t, err, new(*store.DamagedError))
	assert.Equal(t, []state.Recording{newer}, all)
	assert.NoFileExists(t, file)
	_, err = dir.Recordings()
	require.NoError(t, err)
	require.NoError(t, dir.RemoveRecording(newer.ID))
	all, err = dir.Recordings()
	require.NoError(t, err)
	assert.Empty(t, all)
}

func TestARequestForARecordingNeedsADaemon(t *testing.T) {
	at := t.TempDir()
	dir, lock, err := state.Hold(at)
	require.NoError(t, err)
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	name, err := dir.AskToRecord("eui.1", now)
	require.NoError(t, err)
	names, err := dir.Requests()
	require.NoError(t, err)
	require.Equal(t, []string{name}, names)
	r, err := dir.Request(names[0])
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), r.Asked, time.Minute)
	r.Asked = time.Time{}
	assert.Equal(t, state.Request{Target: "eui.1", Record: &state.RecordRequest{Asked: now}}, r)
	assert.Equal(t, "record", r.String())
	require.NoError(t, lock.Release())
	_, err = dir.AskToRecord("eui.1", now)
	require.ErrorIs(t, err, state.ErrNotRunning)
}
