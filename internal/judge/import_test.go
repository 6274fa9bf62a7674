package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// exported returns the baseline of a probe of a drive as an export has it.
func (m *machine) exported(id string) record.Baseline {
	m.t.Helper()
	all := again(m.t, m.node.Tracker(id, "read-4k").State()).Baselines()
	return again(m.t, all[len(all)-1])
}

// restored makes b the baseline of a probe of a drive.
func (m *machine) restored(id string, b record.Baseline) {
	m.t.Helper()
	s, err := m.node.Tracker(id, "read-4k").State().WithBaseline(b, m.now())
	require.NoError(m.t, err)
	tracker := drift.NewTracker(drift.Default())
	require.NoError(m.t, tracker.Restore(again(m.t, s)))
	m.node.Attach(id, "read-4k", tracker)
}

// What the host does while an imported baseline learns its noise is not what it did when the level was learned.
func TestABaselineIsImportedWhileTheHostIsSlow(t *testing.T) {
	testenv.Long(t)
	for _, drives := range []int{2, 4} {
		m := newMachine(t, drives)
		m.run(2*day, steady)
		b := m.exported("d00")
		assert.Empty(t, b.HostSlower, "the host was as fast as usual")
		m.run(3*time.Hour, always(1.3))
		m.restored("d00", b)
		assert.False(t, m.blamed(2*day, always(1.3)), "of %d drives", drives)
		assert.Equal(t, record.Degraded, m.node.Host().Verdict)
		m.slower["d00"] = 1.4
		m.run(2*time.Hour, always(1.3))
		assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	}
}

// A baseline that was learned on a slow host says so where it is imported.
func TestABaselineOfASlowHostIsImported(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 4)
	m.run(2*day, steady)
	m.run(3*time.Hour, always(1.3))
	m.remove("d00")
	m.add("new")
	m.run(2*day, always(1.3))
	b := m.exported("new")
	assert.InDelta(t, 1.3, b.HostSlower[record.LatencyP50], 0.02)
	m.run(6*time.Hour, steady)
	m.restored("new", b)
	assert.False(t, m.blamed(2*day, steady))
	m.slower["new"] = 1.3
	m.run(2*time.Hour, steady)
	assert.Equal(t, record.Degraded, m.verdict("new").Verdict, "as slow as on the slow host, which is well now")

	b.HostSlower[record.LatencyP50] = -1
	_, err := drift.State{}.WithBaseline(b, m.now())
	require.EqualError(t, err, "import a baseline: host_slower of latency_p50_seconds is -1; expected a number of times above 0")
}
