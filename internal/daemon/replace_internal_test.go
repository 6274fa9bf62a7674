package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	for _, p := range w.replaced(t, nil).probes {
		assert.False(t, p.next.Before(w.access.last(p.probe.Name).Add(p.probe.Interval/2)), p.probe.Name)
	}
}

// hangingWatch watches a device whose second round hangs until the function that it returns is called.
func hangingWatch(t *testing.T, timeout time.Duration) (*watch, func()) {
	t.Helper()
	w, remote := remoteWatch(t, func(p *record.Probe) { p.Timeout = timeout })
	w.awaitRounds(t, "read-4k", 1)
	came, release := remote.HoldReads(t, 0)
	require.True(t, w.confirm("read-4k", 0, w.spec.Admission.ConfirmationsPerHour))
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
