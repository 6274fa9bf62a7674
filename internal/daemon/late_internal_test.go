package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// observed returns the number of I/Os in the latency histogram of the watch in /metrics, and the sum of their
// latencies.
func (w *watch) observed(t *testing.T) (ios uint64, seconds float64) {
	t.Helper()
	snapshot := func() record.Snapshot { return record.Snapshot{Targets: []record.TargetStatus{w.Status(time.Now())}} }
	registry, err := export.NewRegistry(snapshot, w.shared.latencies, export.Build{})
	require.NoError(t, err)
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "ssdprobe_probe_latency_seconds" {
			h := f.GetMetric()[0].GetHistogram()
			return h.GetSampleCount(), h.GetSampleSum()
		}
	}
	return 0, 0
}

// remoteWatch watches a device whose reads can be made to hang, with one probe.
func remoteWatch(t *testing.T, change func(*record.Probe)) (*watch, *testenv.Remote) {
	t.Helper()
	remote := testenv.RemoteFile(t)
	loop := testenv.Losetup(t, "--find", "--show", remote.Path)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", loop) })
	return watchFile(t, func(s *spec) {
		s.Target = measure.Target{ID: "name:remote", Path: loop, SizeBytes: 1 << 20}
		s.LockID = s.ID
		s.Probes = s.Probes[:1]
		s.Probes[0].IOs = 32
		change(&s.Probes[0])
	}), remote
}

// When the I/O of a hung round returns, its latency enters the histogram once, and the bytes read are counted.
func TestTheAgeOfAHungIOIsInTheMetrics(t *testing.T) {
	const timeout = 2 * time.Second
	w, remote := remoteWatch(t, func(p *record.Probe) { p.Timeout, p.Interval = timeout, time.Hour }) // only requested rounds
	require.True(t, w.rounds.confirm("read-4k", 0, w.spec.Admission.ConfirmationsPerHour))
	w.awaitRounds(t, "read-4k", 1)
	ios, seconds := w.observed(t)

	came, release := remote.HoldReads(t, 0) // before the time for the round is over, however busy the machine is
	require.True(t, w.rounds.confirm("read-4k", 0, w.spec.Admission.ConfirmationsPerHour))
	w.awaitRounds(t, "read-4k", 2)
	p := w.Status(time.Now()).Probes[0]
	require.Equal(t, record.OutcomeTimeout, p.Last.Outcome, p.Last.Reason)
	require.Contains(t, p.Last.Reason, "no answer since", "it was not over before the device hung")
	n, _ := w.observed(t)
	assert.Equal(t, ios, n, "it has not returned yet")

	<-time.After(time.Until((<-came).Add(timeout))) // on a busy machine, the read came long after the round began
	release()
	testenv.Eventually(t, "it has returned", func() bool { return w.access.guard.Since().IsZero() })
	ios, after := w.observed(t)
	assert.Greater(t, after, seconds+timeout.Seconds(), "more than the timeout")
	assert.Greater(t, w.Status(time.Now()).Probes[0].ReadBytes, p.ReadBytes)
	require.True(t, w.rounds.confirm("read-4k", 0, w.spec.Admission.ConfirmationsPerHour))
	w.awaitRounds(t, "read-4k", 3)
	p = w.Status(time.Now()).Probes[0]
	n, _ = w.observed(t)
	assert.Equal(t, ios+uint64(p.Last.Latency.Count()), n, "once")
	rounds := uint64(0)
	for _, n := range p.Rounds {
		rounds += n
	}
	assert.EqualValues(t, 3, rounds, "and it is no further round")
}
