package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// comparedUntil passes rounds, one a minute, to the first probe of a watch. They end at the given time before now.
func comparedUntil(w *watch, ago time.Duration) {
	const rounds = 180
	for i := range rounds {
		x := 80e-6 * (1 + 0.01*float64(i%5))
		w.rounds.probes[0].tracker.AddRound(drift.Round{
			Time: time.Now().Add(-ago - (rounds-time.Duration(i))*time.Minute), Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x},
		}, record.Conditions{})
	}
	// There is no judge here that would judge the rest.
	w.rounds.probes[0].tracker.Close(drift.Slot(time.Now()))
	w.rounds.probes[0].tracker.Settle(time.Now())
}

func p50(w *watch) record.Drift { return w.Status(time.Now()).Probes[0].Drift[0] }

func TestWhatIsNotComparedSaysWhatRefusedTheRounds(t *testing.T) {
	w := quietWatch(t)
	comparedUntil(w, 90*time.Minute)
	w.rounds.probes[0].status.Last = &record.Measurement{Outcome: record.OutcomeBusy, Reason: "40 I/Os in flight, above the limit of 32"}
	d := p50(w)
	require.Equal(t, record.Unknown, d.State)
	assert.Zero(t, d.Ratio)
	require.NotNil(t, d.Unjudged)
	assert.Equal(t, "rounds were refused: 40 I/Os in flight, above the limit of 32", d.Unjudged.String())

	s := record.Snapshot{Targets: []record.TargetStatus{w.Status(time.Now())}}
	w.shared.judging.look(func() { w.shared.judging.node.Advance(time.Now()) })
	w.shared.judging.node.Fill(&s)
	v := s.Targets[0].Verdict
	require.NotNil(t, v)
	require.Equal(t, record.Unjudged, v.Verdict, "a drive of which nothing is known is not healthy")
	assert.Equal(t, record.ReasonBusy, v.Unjudged.Reason)
}

// Quiet hours and runs are planned pauses, so they make nothing stale.
func TestAPlannedPauseKeepsTheVerdict(t *testing.T) {
	w := quietWatch(t)
	comparedUntil(w, 90*time.Minute)
	w.paused(time.Now().Add(-85 * time.Minute))
	assert.Equal(t, record.Stable, p50(w).State)

	late := quietWatch(t)
	comparedUntil(late, 90*time.Minute)
	over := make(chan struct{})
	close(over)
	late.restUntil(t.Context(), over)
	assert.Equal(t, record.Unknown, p50(late).State, "what was unknown before stays so")
}
