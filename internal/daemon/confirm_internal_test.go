package daemon

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// watchFile watches a small probe file until the test ends. The probes are due once a day.
func watchFile(t *testing.T, change func(*spec)) *watch {
	t.Helper()
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	meter, _, err := counters.NewMeter()
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	path := testenv.OnDisk(t)
	reads, writes := record.DefaultProbes()[0], record.DefaultProbes()[2]
	reads.Interval, writes.Interval = 24*time.Hour, 24*time.Hour
	s := spec{
		Target: measure.Target{ID: "file:" + path, Path: path, File: true, FileBytes: 16 << 20}, LockID: "file:" + path,
		Probes: []record.Probe{reads, writes},
		Admission: config.Admission{
			Limits: admit.Unlimited(), MaxCPUWait: 1,
			WriteBytesPerDay: 1 << 30, ConfirmationsPerHour: 5,
		},
	}
	if change != nil {
		change(&s)
	}
	w := newWatch(s, sighting{}, newAccess(), &shared{
		judging: newJudging(drift.Default()), tell: func([]judge.Event) {},
		fs: sysfs.New("/"), log: log, locks: &locks{dir: t.TempDir()}, state: newStorage(dir, log), latencies: export.NewLatencies(),
		meter: meter, engine: probe.NewEngine(meter, 1), slots: make(turn, 1),
	})
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	go w.Run(ctx)
	t.Cleanup(func() { cancel(); <-w.done })
	return w
}

// tried returns the number of rounds of a probe, and how many of them confirmed a suspicion.
func (w *watch) tried(name string) (rounds, confirmations uint64) {
	for _, p := range w.Status(time.Now()).Probes {
		if p.Probe.Name == name {
			for _, n := range p.Rounds {
				rounds += n
			}
			confirmations = p.Confirmations
		}
	}
	return rounds, confirmations
}

func (w *watch) awaitRounds(t *testing.T, name string, want uint64) {
	t.Helper()
	testenv.Eventually(t, name+" was probed", func() bool {
		rounds, _ := w.tried(name)
		return rounds >= want
	})
}

// A suspicion gets a round within seconds even though the next scheduled one is a day away.
func TestASuspicionGetsARoundOutOfTurn(t *testing.T) {
	t.Parallel()
	w := watchFile(t, nil)
	w.awaitRounds(t, "read-4k", 1)
	w.awaitRounds(t, "durable-write-4k", 1)
	assert.False(t, w.rounds.confirm("read-8k", 0, w.spec.Admission.ConfirmationsPerHour), "it does not run here")
	for n := range uint64(4) {
		require.True(t, w.rounds.confirm("read-4k", 0, w.spec.Admission.ConfirmationsPerHour))
		w.awaitRounds(t, "read-4k", 2+n)
		_, confirmations := w.tried("read-4k")
		assert.Equal(t, 1+n, confirmations)
	}
	require.True(t, w.rounds.confirm("durable-write-4k", 0, w.spec.Admission.ConfirmationsPerHour))
	w.awaitRounds(t, "durable-write-4k", 2)
	assert.False(t, w.rounds.confirm("read-4k", 0, w.spec.Admission.ConfirmationsPerHour), "five in an hour are all")
	rounds, _ := w.tried("read-4k")
	assert.EqualValues(t, 5, rounds)
	testenv.Eventually(t, "what comes after is in its turn", func() bool { // a round is counted before the next is planned
		return !slices.ContainsFunc(w.Status(time.Now()).Probes, func(p record.ProbeStatus) bool { return time.Until(p.Next) <= time.Hour })
	})
}

// A suspicion about one drive requests rounds on others, too. Rounds that are due anyway are not counted, and drives
// that are gone are skipped.
func TestASuspicionGetsRoundsOfOthers(t *testing.T) {
	t.Parallel()
	first, second := watchFile(t, nil), watchFile(t, nil)
	spent := watchFile(t, func(s *spec) { s.Admission.ConfirmationsPerHour = 0 })
	d := &Daemon{watches: map[string]*watch{first.spec.ID: first, second.spec.ID: second, spent.spec.ID: spent}}
	for _, w := range d.watches {
		w.awaitRounds(t, "read-4k", 1)
		testenv.Eventually(t, "the next is planned", func() bool { return w.Status(time.Now()).Probes[0].Next.After(time.Now()) })
	}
	d.confirm([]judge.Wanted{{Drive: spent.spec.ID}, {Drive: first.spec.ID}, {Drive: second.spec.ID}}, "read-4k")
	d.confirm([]judge.Wanted{{Drive: first.spec.ID, In: 48 * time.Hour}, {Drive: second.spec.ID}, {Drive: "gone"}}, "read-4k")
	second.awaitRounds(t, "read-4k", 2)
	_, confirmations := second.tried("read-4k")
	assert.EqualValues(t, 1, confirmations)
	rounds, _ := first.tried("read-4k")
	assert.EqualValues(t, 1, rounds)
	assert.True(t, first.access.confirmed.Take(time.Now(), 1), "its round was due before, and is not counted")
	assert.False(t, second.access.confirmed.Take(time.Now(), 1), "its round is counted")
	assert.True(t, second.access.confirmed.Take(time.Now(), 2), "but none for a drive that may have none itself")
}

// The round that raises a suspicion is not the requested one, even though the next is not scheduled yet.
func TestARoundUnderWayIsNotTheNext(t *testing.T) {
	w := quietWatch(t)
	w.spec.Quiet, w.spec.Admission.ConfirmationsPerHour = nil, 12
	w.rounds.probes[0].rhythm = schedule.NewRhythm("stor-07", w.spec.ID, "read-4k", 24*time.Hour)
	w.rounds.probes[0].next = time.Now().Add(-time.Second)
	require.True(t, w.rounds.confirm("read-4k", time.Minute, w.spec.Admission.ConfirmationsPerHour))
	assert.Len(t, w.rounds.asked, 1)
	w.rounds.probes[0].next = time.Now().Add(30 * time.Second)
	require.True(t, w.rounds.confirm("read-4k", time.Minute, w.spec.Admission.ConfirmationsPerHour))
	assert.Len(t, w.rounds.asked, 1, "it comes before")
}

// A confirmation round does not write more than the budget allows.
func TestAConfirmationIsChargedToTheBudget(t *testing.T) {
	t.Parallel()
	w := watchFile(t, func(s *spec) { s.Admission.WriteBytesPerDay = s.Probes[1].RoundBytes() })
	w.awaitRounds(t, "durable-write-4k", 1)
	require.True(t, w.rounds.confirm("durable-write-4k", 0, w.spec.Admission.ConfirmationsPerHour))
	w.awaitRounds(t, "durable-write-4k", 2)
	p := w.Status(time.Now()).Probes[1]
	assert.EqualValues(t, 1, p.Rounds[record.OutcomeBusy])
	assert.EqualValues(t, p.Probe.RoundBytes(), p.WrittenBytes)
}

// A confirmation waits for a run to end, and is not deferred until after quiet hours.
func TestAConfirmationRests(t *testing.T) {
	t.Parallel()
	w := watchFile(t, nil)
	w.awaitRounds(t, "read-4k", 1)
	w.awaitRounds(t, "durable-write-4k", 1)
	end := w.access.rest.begin("quick", time.Now())
	require.True(t, w.rounds.confirm("read-4k", 0, w.spec.Admission.ConfirmationsPerHour))
	testenv.Eventually(t, "it is due", func() bool { return w.Status(time.Now()).Probes[0].Next.Before(time.Now()) })
	rounds, _ := w.tried("read-4k")
	assert.EqualValues(t, 1, rounds)
	end()
	w.awaitRounds(t, "read-4k", 2)

	quiet := quietWatch(t)
	quiet.spec.Admission.ConfirmationsPerHour = 12
	assert.False(t, quiet.rounds.confirm("read-4k", 0, quiet.spec.Admission.ConfirmationsPerHour))
	quiet.spec.Quiet, quiet.rounds.probes[0].next = nil, time.Now().Add(time.Hour)
	require.True(t, quiet.rounds.confirm("read-4k", 0, quiet.spec.Admission.ConfirmationsPerHour))
	asked := <-quiet.rounds.asked
	asked.at = time.Now().Add(-time.Hour)
	quiet.rounds.advance(asked)
	quiet.rounds.keepQuiet(time.Now().Add(time.Hour))
	assert.True(t, quiet.Status(time.Now()).Probes[0].Next.After(time.Now()))
	quiet.rounds.begin(quiet.rounds.probes[0], record.Conditions{}, nil)
	_, confirmations := quiet.tried("read-4k")
	assert.Zero(t, confirmations)
}
