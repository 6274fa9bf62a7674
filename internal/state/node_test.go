package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// nodeOfADay returns the state of a node with three drives after a day.
func nodeOfADay(t *testing.T) judge.State {
	t.Helper()
	n := judge.NewNode(drift.Default())
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, id := range []string{"a", "b", "c"} {
		n.AddDrive(judge.Drive{ID: id, Model: "X"})
	}
	for minute := range 26 * 60 {
		now = now.Add(time.Minute)
		for i, id := range []string{"a", "b", "c"} {
			x := 80e-6 * (1 + 0.02*float64((minute*7+i*5)%17-8)/8)
			n.Round(id, "read-4k", drift.Round{Time: now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}}, record.Conditions{})
			n.Traffic(id, judge.Sample{Time: now, Read: x}, record.Conditions{})
		}
		n.Advance(now)
	}
	return n.State(now)
}

func TestTheNodeIsKept(t *testing.T) {
	s := open(t)
	_, found, err := s.Node()
	require.NoError(t, err)
	require.False(t, found, "a directory of an earlier version has none")

	known := nodeOfADay(t)
	require.NoError(t, s.SaveNode(known))
	kept, found, err := s.Node()
	require.NoError(t, err)
	require.True(t, found)
	assert.Equal(t, probe.Name, kept.Engine)
	again := judge.NewNode(drift.Default())
	require.NoError(t, again.Restore(kept.Judge))
	require.NoError(t, s.SaveNode(again.State(time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC))))
	same, _, err := s.Node()
	require.NoError(t, err)
	assert.Equal(t, kept, same)
}

// What another engine's rounds say about the host does not apply to this engine.
func TestANodeOfAnotherEngine(t *testing.T) {
	s := open(t)
	known := nodeOfADay(t)
	for engine, hosts := range map[string]int{"ssdprobe-1": 2, probe.Name: 2, "ssdprobe-0": 1} {
		require.NoError(t, s.Save("node", "judge", state.Node{Engine: engine, Judge: known}))
		kept, found, err := s.Node()
		require.NoError(t, err)
		require.True(t, found)
		assert.Len(t, kept.Judge.Hosts, hosts, engine)
	}
}

func TestADamagedNodeIsSetAside(t *testing.T) {
	s := open(t)
	require.NoError(t, s.SaveNode(nodeOfADay(t)))
	path := filepath.Join(s.Dir(), "node", "judge.json")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	spoiled := strings.Replace(string(text), `"healthy"`, `"halthy"`, 1)
	require.NotEqual(t, string(text), spoiled)
	require.NoError(t, os.WriteFile(path, []byte(spoiled), 0o600))
	_, found, err := s.Node()
	assert.False(t, found)
	damaged := new(store.DamagedError)
	require.ErrorAs(t, err, &damaged)
	assert.FileExists(t, damaged.SetAside)
}
