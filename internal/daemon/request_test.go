package daemon_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/daemon"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// followed is the state after a stream.
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
	target := func() daemon.TargetState {
		return daemon.TargetState{ID: id, Probes: map[string]drift.State{"read-4k": slow, "read-128k": well, "new": {}}}
	}

	state := target()
	require.NoError(t, daemon.Request{Target: id, Accept: "new firmware"}.Change(&state, now))
	assert.False(t, regressed(state.Probes["read-4k"]))
	assert.Equal(t, well, state.Probes["read-128k"], "what has not drifted stays")
	x, err := state.Explain(config.Default(), now)
	require.NoError(t, err)
	require.Len(t, x.Probes, 3)
	assert.Equal(t, "read-4k", x.Probes[2].Probe)
	require.Len(t, x.Probes[2].Notes, 1)
	assert.Equal(t, "new firmware", x.Probes[2].Notes[0].Text)
	assert.InDelta(t, 1.2, x.Probes[2].Notes[0].Ratios[record.LatencyP50], 0.03)

	require.ErrorIs(t, daemon.Request{Target: id, Accept: "again"}.Change(&state, now), drift.ErrNothingToAccept)
	require.ErrorIs(t, daemon.Request{Target: id, Probe: "read-128k", Accept: "x"}.Change(&state, now), drift.ErrNothingToAccept)
	require.ErrorIs(t, daemon.Request{Target: id, Probe: "none", Accept: "x"}.Change(&state, now), daemon.ErrUnknownTarget)
	empty := daemon.TargetState{ID: id}
	require.ErrorIs(t, daemon.Request{Target: id, Accept: "x"}.Change(&empty, now), daemon.ErrUnknownTarget)

	state = target()
	require.ErrorIs(t, daemon.Request{Target: id, Probe: "new", Pin: &yes}.Change(&state, now), drift.ErrNotLearned)
	require.NoError(t, daemon.Request{Target: id, Pin: &yes}.Change(&state, now))
	pinned := state
	for name, refused := range map[string]daemon.Request{
		"accept": {Target: id, Accept: "x"},
		"reset":  {Target: id},
		"import": {Target: id, Probe: "read-4k", Import: &state.Probes["read-4k"].Baselines()[:1][0]},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, refused.Change(&state, now), drift.ErrPinned)
			assert.Equal(t, pinned, state, "nothing half-done")
		})
	}
	require.NoError(t, daemon.Request{Target: id, Probe: "new"}.Change(&state, now), "what is not pinned can be forgotten")
	assert.Equal(t, []string{"read-128k", "read-4k"}, state.ProbeNames())
	require.NoError(t, daemon.Request{Target: id, Pin: &no}.Change(&state, now))
	require.NoError(t, daemon.Request{Target: id}.Change(&state, now))
	assert.Empty(t, state.ProbeNames())
}
