package state_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const id = "eui.0011223344556677"

func baseline() record.Baseline {
	return record.Baseline{
		Conditions: record.Conditions{Firmware: "A", Engine: "ssdprobe-1"}, Rounds: 120,
		Learned: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
		Values: map[record.Statistic]float64{
			record.LatencyP50: 80e-6, record.LatencyP95: 100e-6, record.LatencyP99: 130e-6, record.IOPS: 12000,
		},
	}
}

func open(t *testing.T) state.Dir {
	t.Helper()
	s, err := state.Open(t.TempDir())
	require.NoError(t, err)
	return s
}

func TestImportAndReset(t *testing.T) {
	s := open(t)
	b := baseline()
	left, _, err := s.Submit(state.Request{Target: id, Probe: "read-4k", Import: &b})
	require.NoError(t, err)
	assert.Empty(t, left, "no daemon runs, so it is done at once")

	targets, err := s.Targets()
	require.NoError(t, err)
	require.Len(t, targets, 1)
	assert.Equal(t, id, targets[0].ID)
	assert.Equal(t, []string{"read-4k"}, targets[0].ProbeNames())
	known := targets[0].Probes["read-4k"].Baselines()
	require.Len(t, known, 1)
	assert.Equal(t, b.Values, known[0].Values)
	b.Conditions.Engine = "ssdprobe-2" // from another node with an earlier engine that measured equally
	assert.Equal(t, b.Conditions, known[0].Conditions)

	snapshot, err := s.Snapshot(config.Default(), b.Learned.Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, snapshot.Targets, 1)
	require.Len(t, snapshot.Targets[0].Probes, 1)
	shown := snapshot.Targets[0].Probes[0]
	assert.Equal(t, record.DefaultProbes()[0], shown.Probe)
	require.NotNil(t, shown.Baseline)
	assert.Equal(t, b.Values, shown.Baseline.Values)

	_, _, err = s.Submit(state.Request{Target: id, Probe: "read-128k"})
	require.ErrorIs(t, err, state.ErrUnknownTarget)
	_, _, err = s.Submit(state.Request{Target: id, Probe: "read-4k"})
	require.NoError(t, err)
	targets, err = s.Targets()
	require.NoError(t, err)
	assert.Empty(t, targets[0].ProbeNames())
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	s := open(t)
	b, never := baseline(), baseline()
	never.Learned = time.Time{}
	for name, c := range map[string]struct {
		request state.Request
		says    string
	}{
		"reset of what is unknown": {state.Request{Target: "x"}, "nothing is known about this target"},
		"import for no probe":      {state.Request{Target: "x", Import: &b}, "no probe named"},
		"import never learned":     {state.Request{Target: "x", Probe: "p", Import: &never}, "never learned"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := s.Submit(c.request)
			require.ErrorContains(t, err, c.says)
		})
	}
	targets, err := s.Targets()
	require.NoError(t, err)
	assert.Empty(t, targets, "nothing half-done")
}

func TestRequestsAreLeftToTheDaemon(t *testing.T) {
	s := open(t)
	lock, err := store.TakeLock(s.Dir(), "daemon")
	require.NoError(t, err)
	left, _, err := s.Submit(state.Request{Target: id})
	require.NoError(t, err, "whether it makes sense is the daemon's to know")
	assert.NotEmpty(t, left)
	names, err := s.Names("requests")
	require.NoError(t, err)
	assert.Len(t, names, 1)
	require.NoError(t, lock.Release())
}

// A read-only filesystem is no reason to watch nothing, and still has one daemon at a time.
func TestHoldOnAReadOnlyFilesystem(t *testing.T) {
	path := testenv.Ext4(t, 16<<20)
	testenv.RemountReadOnly(t, path)
	dir, lock, err := state.Hold(path)
	require.NoError(t, err)
	_, _, err = state.Hold(path)
	require.ErrorIs(t, err, state.ErrRunning)
	_, err = dir.AskToRecord("", time.Now())
	require.ErrorIs(t, err, unix.EROFS, "it cannot be left for the daemon that runs")
	require.NoError(t, lock.Release())
	_, err = dir.AskToRecord("", time.Now())
	require.ErrorIs(t, err, state.ErrNotRunning)
}

func TestTargetsWithADamagedOne(t *testing.T) {
	s := open(t)
	b := baseline()
	for _, target := range []string{"a", "b"} {
		_, _, err := s.Submit(state.Request{Target: target, Probe: "read-4k", Import: &b})
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir(), "targets", "a.json"), []byte("{"), 0o600))
	targets, err := s.Targets()
	require.Error(t, err)
	require.NotErrorIs(t, err, store.ErrNewer)
	require.Len(t, targets, 1)
	assert.Equal(t, "b", targets[0].ID)
}
