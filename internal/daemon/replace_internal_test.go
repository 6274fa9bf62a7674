package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// replaced ends a watch and returns the one that a reload or a request puts in its place, which does not run yet.
func (w *watch) replaced(t *testing.T, change func(*spec)) *watch {
	t.Helper()
	w.cancel()
	<-w.done
	s := w.spec
	if change != nil {
		change(&s)
	}
	after := newWatch(s, sighting{}, w.access, w.shared)
	after.countOn(w)
	return after
}

// However often a watch is replaced, as by a loop of baseline reset, its probes run no more often than they are planned.
func TestReplacingAWatchBringsNoRoundForward(t *testing.T) {
	t.Parallel()
	w := watchFile(t, nil)
	w.awaitRounds(t, "read-4k", 1)
	w.awaitRounds(t, "durable-write-4k", 1)
	for _, p := range w.replaced(t, nil).rounds.probes {
		assert.False(t, p.next.Before(w.access.last(p.probe.Name).Add(p.probe.Interval/2)), p.probe.Name)
	}
}

// hangingWatch watches a device whose second round hangs until the function that it returns is called.
func hangingWatch(t *testing.T, timeout time.Duration) (*watch, func()) {
	t.Helper()
	w, remote := remoteWatch(t, func(p *record.Probe) { p.Timeout = timeout })
	w.awaitRounds(t, "read-4k", 1)
	came, release := remote.HoldReads(t, 0)
	require.True(t, w.rounds.confirm("read-4k", 0, w.spec.Admission.ConfirmationsPerHour))
	<-came
	return w, release
}

// A round that hangs while its watch is replaced is counted by the new one.
func TestAHangOfAWatchThatWasReplacedIsCounted(t *testing.T) {
	w, _ := hangingWatch(t, time.Hour)
	since := w.access.inflightSince("read-4k")

	after := w.replaced(t, func(s *spec) {
		s.Probes = []record.Probe{s.Probes[0]}
		s.Probes[0].Interval, s.Probes[0].Timeout = time.Millisecond, time.Millisecond
	})
	ctx, cancel := context.WithCancel(t.Context())
	go after.Run(ctx)
	t.Cleanup(func() { cancel(); <-after.done })
	testenv.Eventually(t, "the hang is counted", func() bool { return after.Status(time.Now()).Probes[0].Rounds[record.OutcomeTimeout] > 0 })
	assert.WithinDuration(t, since, after.Status(time.Now()).Probes[0].Last.Start, 0)
}

// What a hung round has read is counted by the watch that is there when the round returns.
func TestARoundThatReturnsAfterItsWatchWasReplaced(t *testing.T) {
	w, release := hangingWatch(t, 2*time.Second)
	w.awaitRounds(t, "read-4k", 2)
	after := w.replaced(t, nil)
	before := after.Status(time.Now()).Probes[0]
	require.Equal(t, record.OutcomeTimeout, before.Last.Outcome)
	release()
	testenv.Eventually(t, "it has returned", func() bool { return w.access.guard.Since().IsZero() })
	assert.Greater(t, after.Status(time.Now()).Probes[0].ReadBytes, before.ReadBytes)
}

// learningWatch returns a watch that has ended, whose probes have learned from a round.
func learningWatch(t *testing.T) *watch {
	t.Helper()
	w := watchFile(t, func(s *spec) { s.Unresolved = true })
	w.cancel()
	<-w.done
	for _, p := range w.rounds.probes {
		p.tracker.AddRound(drift.Round{Time: time.Now(), Values: drift.Values{80e-6, 90e-6, 100e-6, 12000}}, record.Conditions{})
	}
	w.rounds.probes[1].budget = admit.UsedUp(time.Now())
	return w
}

// with returns the watch that replaces w when the configuration has these probes.
func (w *watch) with(probes ...record.Probe) *watch {
	w.save(context.Background(), saveTimeout)
	s := w.spec
	s.Probes = probes
	return newWatch(s, sighting{}, w.access, w.shared)
}

// learned returns how many rounds each probe has learned from.
func (w *watch) learned() map[string]int {
	rounds := map[string]int{}
	for _, p := range w.Status(time.Now()).Probes {
		rounds[p.Probe.Name] = p.LearningRounds
	}
	return rounds
}

// What was learned of a probe waits while the configuration leaves the probe out, and so does its budget.
func TestAProbeThatIsLeftOutForAWhileGoesOn(t *testing.T) {
	t.Parallel()
	w := learningWatch(t)
	reads, writes, budget := w.rounds.probes[0].probe, w.rounds.probes[1].probe, w.rounds.probes[1].budget
	w = w.with(reads)
	assert.Equal(t, map[string]int{"read-4k": 1}, w.learned())
	w = w.with(reads).with(reads, writes)
	assert.Equal(t, map[string]int{"read-4k": 1, "durable-write-4k": 1}, w.learned())
	assert.WithinDuration(t, budget.PaidOff, w.rounds.probes[1].budget.PaidOff, 0)
}

// A probe that reads more at a time takes longer, but no drive got slower.
func TestAProbeThatMeasuresSomethingElseLearnsAnew(t *testing.T) {
	t.Parallel()
	w := learningWatch(t)
	reads, writes, budget := w.rounds.probes[0].probe, w.rounds.probes[1].probe, w.rounds.probes[1].budget
	reads.Interval, writes.Timeout = 2*reads.Interval, 2*writes.Timeout
	w = w.with(reads, writes)
	assert.Equal(t, map[string]int{"read-4k": 1, "durable-write-4k": 1}, w.learned(), "they measure the same as before")
	reads.BlockBytes *= 32
	writes.Datasync = !writes.Datasync
	w = w.with(reads, writes)
	assert.Equal(t, map[string]int{"read-4k": 0, "durable-write-4k": 0}, w.learned())
	assert.WithinDuration(t, budget.PaidOff, w.rounds.probes[1].budget.PaidOff, 0, "it protects the drive, whatever is written")
}
