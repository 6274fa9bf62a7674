package state_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// A drive that is far slower than its peers has a warning even while no daemon runs.
func TestASnapshotOfTheStoreKnowsThePeers(t *testing.T) {
	s := open(t)
	c := config.Default()
	n := judge.NewNode(c.Drift.Settings)
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	slower := map[string]float64{"a": 1, "b": 1.01, "c": 0.99, "d": 1.6}
	targets := map[string]state.Target{}
	for id := range slower {
		device := record.Device{ID: id, Name: "nvme" + id, Model: "X", SizeBytes: 1 << 40}
		targets[id] = state.Target{ID: id, Path: "/dev/nvme" + id, Device: device, Probes: map[string]drift.State{}}
		n.AddDrive(judge.DriveOf(id, device, false))
	}
	for range 6 * 60 {
		now = now.Add(time.Minute)
		for id, k := range slower {
			x := 80e-6 * k
			firmware := "A"
			if id == "d" {
				firmware = "B"
			}
			c := record.Conditions{Firmware: firmware}
			n.Round(id, "read-4k", drift.Round{Time: now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}}, c)
		}
		n.Advance(now)
	}
	for id, target := range targets {
		target.Probes["read-4k"] = n.Tracker(id, "read-4k").State()
		require.NoError(t, s.SaveTarget(target))
	}
	require.NoError(t, s.SaveNode(n.State(now)))

	snapshot, err := s.Snapshot(c, now.Add(time.Minute))
	require.NoError(t, err)
	for _, target := range snapshot.Targets {
		if target.ID != "d" {
			assert.Empty(t, target.Warnings, target.ID)
			continue
		}
		require.Len(t, target.Warnings, 1)
		assert.Equal(t, record.WarnSlowerThanPeers, target.Warnings[0].Code)
		assert.Equal(t, "probe read-4k is far slower than that of the 3 other drives of this model on the node (p50 60 % slower); only here: firmware B", target.Warnings[0].Text)
	}
}
