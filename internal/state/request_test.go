package state_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// followed returns the state of a tracker after a stream.
func followed(kind string, days float64) drift.State {
	t := drift.NewTracker(drift.Default())
	for r := range (drifttest.Stream{Kind: kind, Noise: "quiet", Seed: 3, Days: days}).Rounds() {
		t.AddRound(r.Round, r.Conditions)
	}
	return t.State()
}

func regressed(s drift.State) bool {
	t := drift.NewTracker(drift.Default())
	if err := t.Restore(s); err != nil {
		return false
	}
	return t.Status(time.Now()).Drift[0].State == record.Regressed
}

func TestAcceptAndPin(t *testing.T) {
	slow, well := followed("step20", 4), followed("none", 1.5)
	require.True(t, regressed(slow))
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	yes, no := true, false
	target := func() state.Target {
		return state.Target{ID: id, Probes: map[string]drift.State{"read-4k": slow, "read-128k": well, "new": {}}}
	}

	changed := target()
	require.NoError(t, state.Request{Target: id, Accept: "new firmware"}.Change(&changed, now))
	assert.False(t, regressed(changed.Probes["read-4k"]))
	assert.Equal(t, well, changed.Probes["read-128k"], "what has not drifted stays")
	trackers, err := changed.Trackers(config.Default().DriftSettings(false))
	require.NoError(t, err)
	require.Len(t, trackers, 3)
	assert.Equal(t, "read-4k", trackers[2].Probe)
	x := trackers[2].Explain(time.Time{})
	require.Len(t, x.Notes, 1)
	assert.Equal(t, "new firmware", x.Notes[0].Text)
	assert.InDelta(t, 1.2, x.Notes[0].Ratios[record.LatencyP50], 0.03)

	require.ErrorIs(t, state.Request{Target: id, Accept: "again"}.Change(&changed, now), drift.ErrNothingToAccept)
	require.ErrorIs(t, state.Request{Target: id, Probe: "read-128k", Accept: "x"}.Change(&changed, now), drift.ErrNothingToAccept)
	require.ErrorIs(t, state.Request{Target: id, Probe: "none", Accept: "x"}.Change(&changed, now), state.ErrUnknownTarget)
	empty := state.Target{ID: id}
	require.ErrorIs(t, state.Request{Target: id, Accept: "x"}.Change(&empty, now), state.ErrUnknownTarget)

	changed = target()
	require.ErrorIs(t, state.Request{Target: id, Probe: "new", Pin: &yes}.Change(&changed, now), drift.ErrNotLearned)
	require.NoError(t, state.Request{Target: id, Pin: &yes}.Change(&changed, now))
	pinned := changed
	for name, refused := range map[string]state.Request{
		"accept": {Target: id, Accept: "x"},
		"reset":  {Target: id},
		"import": {Target: id, Probe: "read-4k", Import: &changed.Probes["read-4k"].Baselines()[:1][0]},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, refused.Change(&changed, now), drift.ErrPinned)
			assert.Equal(t, pinned, changed, "nothing half-done")
		})
	}
	require.NoError(t, state.Request{Target: id, Probe: "new"}.Change(&changed, now), "what is not pinned can be forgotten")
	assert.Equal(t, []string{"read-128k", "read-4k"}, changed.ProbeNames())
	require.NoError(t, state.Request{Target: id, Pin: &no}.Change(&changed, now))
	require.NoError(t, state.Request{Target: id}.Change(&changed, now))
	assert.Empty(t, changed.ProbeNames())
}

// A request for a target applies to its traffic, too.
func TestTrafficIsAcceptedAndForgottenWithItsTarget(t *testing.T) {
	tracker := drift.NewTrafficTracker(drift.Default())
	minute := 0
	for _, part := range []struct {
		minutes int
		seconds float64
	}{{36 * 60, 100e-6}, {180, 160e-6}} {
		for range part.minutes {
			minute++
			noise := 1 + 0.02*float64(minute*7%17-8)/8
			tracker.AddRound(drift.Round{Time: time.Unix(int64(minute)*60, 0), Values: drift.Values{part.seconds * noise}}, record.Conditions{})
		}
	}
	require.Equal(t, record.Regressed, tracker.Drift()[0].State)
	traffic := tracker.State()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

	target := state.Target{ID: id, Probes: map[string]drift.State{"read-4k": followed("none", 1.5)}, Traffic: &traffic}
	for _, only := range []string{"", "traffic"} {
		target.Traffic = &traffic
		require.NoError(t, state.Request{Target: id, Probe: only, Accept: "another tenant"}.Change(&target, now))
		require.NoError(t, tracker.Restore(*target.Traffic))
		assert.Equal(t, record.Stable, tracker.Drift()[0].State)
	}
	require.ErrorIs(t, state.Request{Target: id, Probe: "traffic", Pin: new(true)}.Change(&target, now), state.ErrUnknownTarget, "it has no pin")
	require.NoError(t, state.Request{Target: id, Probe: "traffic"}.Change(&target, now))
	assert.Nil(t, target.Traffic)
	assert.Len(t, target.Probes, 1, "only the traffic was meant")
	require.ErrorIs(t, state.Request{Target: id, Probe: "traffic"}.Change(&target, now), state.ErrUnknownTarget)

	target.Traffic = &traffic
	require.NoError(t, state.Request{Target: id, Probe: "read-4k"}.Change(&target, now))
	assert.NotNil(t, target.Traffic, "only the probe was meant")
	target.Probes["read-4k"] = followed("none", 1.5)
	require.NoError(t, state.Request{Target: id}.Change(&target, now))
	assert.Nil(t, target.Traffic)
}

// Without a daemon, too, blocks are as long as the interval of the probe needs them.
func TestBlocksOfRareRoundsAreLongWithoutADaemon(t *testing.T) {
	target := state.Target{
		ID: id, Probes: map[string]drift.State{"read-4k": {}, "read-8k": {}},
		Defined: map[string]record.Probe{"read-4k": {Name: "read-4k", Interval: 20 * time.Minute}},
	}
	trackers, err := target.Trackers(drift.Default())
	require.NoError(t, err)
	assert.EqualValues(t, 12, trackers[0].Slots())
	assert.EqualValues(t, 1, trackers[1].Slots(), "an earlier version did not store the interval")
}

// To unpin or to forget a target concerns the probes, too, that the configuration leaves out now.
func TestProbesThatAreLeftOutAreUnpinnedAndForgottenWithTheirTarget(t *testing.T) {
	well := followed("none", 1.5)
	pinned, err := well.Pin()
	require.NoError(t, err)
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	no := false
	target := state.Target{ID: id, Probes: map[string]drift.State{"read-4k": well}, Idle: map[string]drift.State{"read-8k": well, "read-16k": pinned}}
	require.NoError(t, state.Request{Target: id, Probe: "read-4k"}.Change(&target, now))
	assert.Len(t, target.Idle, 2, "only the probe was meant")
	require.NoError(t, state.Request{Target: id}.Change(&target, now))
	assert.Equal(t, map[string]drift.State{"read-16k": pinned}, target.Idle, "a pinned baseline stays")
	target.Probes["read-4k"] = well
	require.NoError(t, state.Request{Target: id, Pin: &no}.Change(&target, now))
	assert.False(t, target.Idle["read-16k"].Pinned(nil))
}

// An imported baseline is used under its own conditions alone. One that is the only one may know less than is known now.
func TestWhyAnImportedBaselineIsNotUsed(t *testing.T) {
	b := record.Baseline{
		Conditions: record.Conditions{Firmware: "A"}, Learned: time.Now(), Rounds: 120,
		Values: map[record.Statistic]float64{record.LatencyP50: 1e-4, record.LatencyP95: 2e-4, record.LatencyP99: 3e-4, record.IOPS: 1e4},
	}
	imported := state.Target{ID: id}
	require.NoError(t, state.Request{Target: id, Probe: "read-4k", Import: &b}.Change(&imported, time.Now()))
	unlike := func(now record.Conditions) ([]record.Change, bool) {
		imported.Conditions = now
		return imported.Unlike("read-4k", b.Conditions)
	}
	_, seen := unlike(record.Conditions{})
	assert.False(t, seen)
	changes, seen := unlike(record.Conditions{Firmware: "A", Kernel: "6"})
	assert.True(t, seen)
	assert.Empty(t, changes)
	changes, _ = unlike(record.Conditions{Firmware: "B", Kernel: "6"})
	assert.Equal(t, []record.Change{{Condition: "firmware", From: "A", To: "B"}, {Condition: "kernel", To: "6"}}, changes)
	b.Conditions = record.Conditions{Kernel: "6"}
	changes, _ = unlike(record.Conditions{Firmware: "A", Kernel: "6"})
	assert.Equal(t, []record.Change{{Condition: "firmware", To: "A"}}, changes, "it is not the current one")
}

// To forget what was learned of a probe file is not to forget where its filesystem belongs: it may only be not mounted now.
func TestResetKeepsTheMountPoint(t *testing.T) {
	target := state.Target{ID: "file:/srv", File: true, Probes: map[string]drift.State{"read-4k": {}}, MountPoint: "/srv", Directory: true, Foreign: true}
	require.NoError(t, state.Request{Target: target.ID}.Change(&target, time.Now()))
	assert.Empty(t, target.Probes)
	assert.Equal(t, "/srv", target.MountPoint)
	assert.True(t, target.Directory)
	assert.True(t, target.Foreign)
	require.NoError(t, state.Request{Target: target.ID, Gone: true}.Change(&target, time.Now()))
	assert.Empty(t, target.MountPoint)
	assert.False(t, target.Directory)
	assert.False(t, target.Foreign)
}
