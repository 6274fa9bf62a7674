package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// saveAll saves targets, each an hour after the one before.
func saveAll(t *testing.T, s state.Dir, ids ...string) {
	t.Helper()
	for i, id := range ids {
		require.NoError(t, s.SaveTarget(state.Target{ID: id, Probes: map[string]drift.State{}}))
		require.NoError(t, s.SaveHistory(id, history.State{}))
		require.NoError(t, s.KeepRun(record.RunReport{Suite: "quick", TargetID: id, Started: baseline().Learned}, 3))
		at := baseline().Learned.Add(time.Duration(i) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(s.Dir(), "targets", id+".json"), at, at))
	}
}

// stored returns how many files of each kind there are, and the ids of the targets.
func stored(t *testing.T, s state.Dir) (ids []string, histories, runs int) {
	t.Helper()
	targets, err := s.Targets()
	require.NoError(t, err)
	for _, target := range targets {
		ids = append(ids, target.ID)
	}
	histories, err = s.Count("histories")
	require.NoError(t, err)
	runs, err = s.Count("runs")
	require.NoError(t, err)
	return ids, histories, runs
}

func TestTargetsThatHaveLongBeenGoneAreDropped(t *testing.T) {
	s := open(t)
	saveAll(t, s, "z-old", "y-here", "x-old", "w-gone", "v-gone")
	dropped, err := s.DropGone([]string{"y-here", "u-new"}, 2)
	require.NoError(t, err)
	assert.Equal(t, []string{"z-old", "x-old"}, dropped)
	ids, histories, runs := stored(t, s)
	assert.ElementsMatch(t, []string{"y-here", "w-gone", "v-gone"}, ids)
	assert.Equal(t, 3, histories)
	assert.Equal(t, 3, runs)

	dropped, err = s.DropGone([]string{"y-here"}, 2)
	require.NoError(t, err)
	assert.Empty(t, dropped)
}

// A pin says that somebody wants the baseline.
func TestPinnedTargetsAreNotDropped(t *testing.T) {
	s := open(t)
	b := baseline()
	_, _, err := s.Submit(state.Request{Target: id, Probe: "read-4k", Import: &b})
	require.NoError(t, err)
	_, _, err = s.Submit(state.Request{Target: id, Probe: "read-4k", Pin: new(true)})
	require.NoError(t, err)
	old := b.Learned.Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(s.Dir(), "targets", id+".json"), old, old))
	saveAll(t, s, "a", "b")
	dropped, err := s.DropGone(nil, 2)
	require.NoError(t, err)
	assert.Empty(t, dropped, "the pinned one is the oldest")
	dropped, err = s.DropGone(nil, 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, dropped)
}

// A call does not take long, however many there are.
func TestManyThatAreGoneAreDroppedBitByBit(t *testing.T) {
	s := open(t)
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprint("gone", i))
	}
	saveAll(t, s, ids...)
	for _, left := range []int{4, 0, 0} {
		_, err := s.DropGone(nil, 0)
		require.NoError(t, err)
		targets, histories, runs := stored(t, s)
		assert.Equal(t, []int{left, left, left}, []int{len(targets), histories, runs})
	}
}
