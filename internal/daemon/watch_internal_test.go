package daemon

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// Without a write budget there are no write probes. A probe that is busy for ever would raise alarms.
func TestNoWriteProbesWithoutABudget(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	for budget, want := range map[int64][]string{1 << 30: {"read-4k", "read-128k", "durable-write-4k"}, 0: {"read-4k", "read-128k"}} {
		w := newWatch(spec{
			Target: measure.Target{ID: "file:/srv", Path: "/srv", File: true},
			Probes: record.DefaultProbes(), Admission: config.Admission{WriteBytesPerDay: budget},
		}, sighting{}, newAccess(), &shared{judging: newJudging(drift.Default()), tell: func([]judge.Event) {}, log: slog.New(slog.DiscardHandler), state: newStorage(dir, slog.New(slog.DiscardHandler))})
		var names []string
		for _, p := range w.Status(time.Now()).Probes {
			names = append(names, p.Probe.Name)
		}
		assert.Equal(t, want, names)
	}
}

// Write probes share the budget equally, and a restart does not renew it.
func TestWriteProbesShareTheBudget(t *testing.T) {
	const round = 1 << 20
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	writer := func(name string) record.Probe {
		return record.Probe{Name: name, Direction: record.Write, BlockBytes: round, IOs: 1, Interval: time.Minute}
	}
	start := func() *watch {
		return newWatch(spec{
			Target: measure.Target{ID: "file:/srv", Path: "/srv", File: true},
			Probes: append(record.DefaultProbes()[:1], writer("a"), writer("b")), Admission: config.Admission{WriteBytesPerDay: 4 * round},
		}, sighting{}, newAccess(), &shared{judging: newJudging(drift.Default()), tell: func([]judge.Event) {}, log: slog.New(slog.DiscardHandler), state: newStorage(dir, slog.New(slog.DiscardHandler)), latencies: export.NewLatencies()})
	}
	now := time.Now()
	allows := func(w *watch, i int) bool {
		p := w.rounds.probes[i]
		return p.budget.Allow(now, round, w.spec.Admission.WriteShare(w.spec.Probes)) == nil
	}
	w := start()
	for range 2 {
		require.True(t, allows(w, 1))
		w.rounds.probes[1].budget.Charge(now, round, w.spec.Admission.WriteShare(w.spec.Probes))
	}
	assert.False(t, allows(w, 1), "half of four rounds")
	assert.True(t, allows(w, 2), "the other has its own half")
	w.opener.most = admit.Capacity{Seen: now.UTC(), IOs: 4000, Bytes: 1 << 30}
	require.NoError(t, dir.SaveTarget(w.kept()))
	again := start()
	assert.Equal(t, w.opener.most.IOs, again.opener.mostWork().IOs, "and admission knows what the device can do")
	assert.WithinDuration(t, now, again.kept().Most.Seen, 0)
	assert.False(t, allows(again, 1))
	assert.True(t, allows(again, 2))

	unfit := again.kept()
	unfit.MountPoint = "/srv"
	impossible := unfit.Probes["a"]
	impossible.Open.Slot = -1
	unfit.Probes["a"] = impossible
	require.NoError(t, dir.SaveTarget(unfit))
	again = start()
	require.NotEmpty(t, again.shared.state.problems)
	assert.False(t, allows(again, 1), "a baseline that is not valid says nothing about the budget")
	assert.True(t, allows(again, 2))
	assert.Equal(t, "/srv", again.opener.place.mountPoint, "nor about the filesystem to fill")

	require.NoError(t, dir.SaveTarget(again.kept()))
	path := filepath.Join(dir.Dir(), "targets", url.PathEscape("file:/srv")+".json")
	require.NoError(t, os.Truncate(path, 100))
	again = start()
	require.NotEmpty(t, again.shared.state.problems)
	assert.False(t, allows(again, 1), "what a damaged file knew of is taken for the whole budget")
	assert.False(t, allows(again, 2))
}

// While the first rounds are disturbed, they are retried soon, at growing intervals.
func TestFirstRoundsAreTriedAgainLessAndLessSoon(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	p := &probeState{
		probe:  record.Probe{Interval: time.Minute},
		rhythm: schedule.NewRhythm("n", "d", "p", time.Minute),
		status: record.ProbeStatus{Last: &record.Measurement{Outcome: record.OutcomeDisturbed}, Rounds: map[record.Outcome]uint64{}},
	}
	next := p.rhythm.Apart(now, p.rhythm.Next(now)).Sub(now)
	var pauses []time.Duration
	for _, disturbed := range []uint64{1, 2, 3, 4, 5, 6, 1000} {
		p.status.Rounds[record.OutcomeDisturbed] = disturbed
		pauses = append(pauses, p.after(now, now).Sub(now))
	}
	assert.Equal(t, []time.Duration{2e9, 4e9, 8e9, 16e9, min(32e9, next), next, next}, pauses)

	p.status.LastSuccess = now
	p.status.Rounds[record.OutcomeDisturbed] = 1
	assert.Equal(t, next, p.after(now, now).Sub(now), "after a good one there is no hurry")
}

// A probe that always finds the device busy becomes overdue. What it measures then is kept apart.
func TestAProbeThatIsNeverAdmittedIsOverdue(t *testing.T) {
	w := quietWatch(t)
	w.spec.Admission.ForcedInterval = 15 * time.Minute
	p := w.rounds.probes[0]
	began := p.went
	busy := record.Measurement{Device: w.spec.ID, Probe: p.probe.Name, Start: began, Outcome: record.OutcomeBusy}
	w.took(t.Context(), p, busy)
	assert.Equal(t, began, p.went)
	assert.False(t, p.overdue(began.Add(14*time.Minute), 15*time.Minute))
	assert.True(t, p.overdue(began.Add(15*time.Minute), 15*time.Minute))
	assert.False(t, p.overdue(began.Add(24*time.Hour), 0), "switched off")
	p.went = began.Add(-time.Hour)
	assert.True(t, w.rounds.begin(p, record.Conditions{}, nil).Overdue)

	loaded := busy
	loaded.Outcome, loaded.Loaded, loaded.Duration = record.OutcomeOK, true, time.Second
	loaded.Latency = record.Histogram{{Latency: 20 * time.Millisecond, Count: 32}}
	w.took(t.Context(), p, loaded)
	assert.False(t, w.rounds.begin(p, record.Conditions{}, nil).Overdue)
	s := w.Status(time.Now()).Probes[0]
	assert.EqualValues(t, 1, s.LoadedRounds)
	assert.EqualValues(t, 1, s.Rounds[record.OutcomeOK])
	assert.Zero(t, s.LearningRounds)
	assert.Nil(t, s.Window)

	alone := loaded
	alone.Loaded = false
	w.took(t.Context(), p, alone)
	s = w.Status(time.Now()).Probes[0]
	assert.EqualValues(t, 1, s.LoadedRounds)
	assert.Equal(t, 1, s.LearningRounds)
	assert.NotNil(t, s.Window)
}

// It is known when I/Os last failed, also those of a round that returned late, and a reload does not forget it.
func TestWhenIOsLastFailed(t *testing.T) {
	w := quietWatch(t)
	p := w.rounds.probes[0]
	took := func(o record.Outcome, errors map[string]int64) time.Time {
		w.took(t.Context(), p, record.Measurement{Device: w.spec.ID, Probe: p.probe.Name, Start: time.Now(), Outcome: o, Errors: errors})
		return w.Status(time.Now()).Probes[0].LastError
	}
	assert.Zero(t, took(record.OutcomeOK, nil))
	assert.Zero(t, took(record.OutcomeError, nil), "no I/O failed: something about the device could not be read")
	before := time.Now()
	first := took(record.OutcomeError, map[string]int64{"EIO": 1})
	assert.False(t, first.Before(before))
	assert.Equal(t, first, took(record.OutcomeOK, nil))
	w.tookLate(record.Measurement{Probe: p.probe.Name, Start: before, Outcome: record.OutcomeTimeout, Errors: map[string]int64{"EIO": 1}})
	last := w.Status(time.Now()).Probes[0].LastError
	assert.True(t, last.After(first))

	after := newWatch(w.spec, sighting{}, w.access, w.shared)
	after.countOn(w)
	assert.Equal(t, last, after.Status(time.Now()).Probes[0].LastError)
}
