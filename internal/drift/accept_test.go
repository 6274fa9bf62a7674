package drift_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Slow rounds that were accepted stay accepted, no matter how long after the onset that was.
func TestAcceptedSlowRoundsDoNotComeBack(t *testing.T) {
	testenv.Long(t)
	for _, after := range []time.Duration{0, time.Hour, 5 * time.Hour} {
		for seed := range uint64(3) {
			var found time.Time
			var accepted bool
			tracker := drift.NewTracker(drift.Default())
			for r := range (drifttest.Stream{Kind: "intermittent", Noise: "quiet", Seed: 11 + seed, Days: 6}).Rounds() {
				events := tracker.AddRound(r.Round, r.Conditions)
				for _, e := range events {
					if e.Cause == record.BySlowRounds && found.IsZero() {
						found = r.Time
					}
					if accepted {
						assert.NotContains(t, []record.DriftState{record.Regressed, record.Improved}, e.To, "%s, accepted %s after it was found", e.Statistic, after)
					}
				}
				if !accepted && !found.IsZero() && r.Time.Sub(found) >= after {
					state, err := tracker.State().Accept(r.Time, "it is to be so")
					require.NoError(t, err)
					require.NoError(t, tracker.Restore(state))
					accepted = true
					notes := tracker.Explain(r.Time).Notes
					require.Len(t, notes, 1)
					assert.NotEmpty(t, notes[0].SlowShares)
				}
			}
			assert.True(t, accepted)
		}
	}
}

// While the level moves, there is none to accept: otherwise half of a regression would become normal.
func TestNoLevelIsAcceptedWhileItMoves(t *testing.T) {
	h := newHistory(t)
	h.run(day+12*time.Hour, 1, record.Conditions{})
	accept := func() (drift.State, error) { return h.track.State().Accept(h.now(), "x") }
	h.run(10*time.Minute, 2, record.Conditions{})
	require.Equal(t, record.Regressed, h.p50().State)
	_, err := accept()
	require.ErrorIs(t, err, drift.ErrMoving)
	require.ErrorContains(t, err, "for a few minutes only")
	h.run(3*time.Hour, 2, record.Conditions{})
	state, err := accept()
	require.NoError(t, err)
	assert.InDelta(t, 2, state.Epochs[len(state.Epochs)-1].Notes[0].Ratios[record.LatencyP50], 0.03)

	h.run(16*time.Minute, 1.5, record.Conditions{})
	require.Equal(t, record.Regressed, h.p50().State)
	_, err = accept()
	require.ErrorIs(t, err, drift.ErrMoving)
	require.ErrorContains(t, err, "2.00 times slower since")
	require.ErrorContains(t, err, "1.5")
	h.run(3*time.Hour, 1.5, record.Conditions{})
	if h.p50().State == record.Regressed {
		_, err = accept()
		require.NoError(t, err)
	}
}
