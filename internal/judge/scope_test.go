package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// scopes returns whom the events are about that name several drives.
func (m *machine) scopes() map[record.Scope]int {
	scopes := map[record.Scope]int{}
	for _, e := range m.events {
		if e.Drive == "" && e.State == record.Regressed {
			scopes[e.Scope]++
		}
	}
	return scopes
}

// together returns whom the slowdowns are about that drives have in common now.
func (m *machine) together() map[record.Scope]int {
	out := map[record.Scope]int{}
	for _, x := range m.node.Together() {
		out[x.Scope]++
	}
	return out
}

// A batch stays a batch after the whole host was slow for a while.
func TestABatchStaysABatch(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	m.idle = true
	m.run(36*time.Hour, steady)
	for _, id := range m.drives[:6] {
		m.slower[id] = 1.5
	}
	m.run(5*time.Hour, steady)
	require.Positive(t, m.together()[record.ScopeBatch], "%v", m.together())
	for _, id := range m.drives[6:] {
		m.slower[id] = 1.5
	}
	m.run(30*time.Minute, steady)
	for _, id := range m.drives[6:] {
		m.slower[id] = 1
	}
	m.run(2*day, steady)
	assert.Zero(t, m.together()[record.ScopeHost], "%v", m.node.Together())
	assert.Positive(t, m.together()[record.ScopeBatch])
}

// A host becomes a batch when other drives recover.
func TestAHostBecomesABatch(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	m.idle = true
	m.run(36*time.Hour, steady)
	for _, id := range m.drives {
		m.slower[id] = 1.5
	}
	m.run(5*time.Hour, steady)
	require.Positive(t, m.together()[record.ScopeHost])
	for _, id := range m.drives[6:] {
		m.slower[id] = 1
	}
	m.run(2*day, steady)
	assert.Zero(t, m.together()[record.ScopeHost], "%v", m.node.Together())
}

// A batch got slower while the host was slower by too little to be told.
func TestABatchOnAHostThatIsALittleSlowerIsNoHost(t *testing.T) {
	m := newMachine(t, 12)
	m.run(36*time.Hour, steady)
	m.run(4*time.Hour, slower(1.13))
	require.Empty(t, m.node.Together())
	for _, id := range m.drives[:7] {
		m.slower[id] = 1.4
	}
	m.run(2*time.Hour, slower(1.13))
	assert.Zero(t, m.scopes()[record.ScopeHost])
	assert.Positive(t, m.together()[record.ScopeBatch])
}

// Drives whose noise is not small differ in how much slower they seem to be on a slow host. That is no batch, unless there is a clear
// line between those that are slower and those that are not.
func TestDrivesThatAreSlowerByMoreOrLessAreNoBatch(t *testing.T) {
	for others, want := range map[float64]record.Scope{0.88: record.ScopeHost, 0.8: record.ScopeBatch} {
		m := newMachine(t, 12)
		m.run(36*time.Hour, steady)
		for _, id := range m.drives[:3] {
			m.slower[id] = others
		}
		m.run(4*time.Hour, slower(1.25))
		assert.Equal(t, map[record.Scope]int{want: len(m.node.Together())}, m.together(), "%.2f", others)
		assert.NotEmpty(t, m.node.Together())
	}
}

// Seven of twelve drives are a little slower, and the others are so by about half: that may be chance, unless it lasts.
func TestABatchWithoutAClearLineIsToldOnlyIfItLasts(t *testing.T) {
	m := newMachine(t, 12)
	m.run(36*time.Hour, steady)
	for _, id := range m.drives[7:] {
		m.slower[id] = 0.88
	}
	m.run(11*time.Hour, slower(1.24))
	assert.Empty(t, m.scopes())
	for _, id := range m.drives {
		assert.False(t, m.verdict(id).Verdict.Blames(), id)
	}
	m.run(3*time.Hour, slower(1.24))
	assert.Positive(t, m.scopes()[record.ScopeBatch], "%v", m.node.Together())
}

// The host has been slower for hours. Then some of its drives seem to be fast for a while.
func TestAFastQuarterOfAnHourMakesNoBatch(t *testing.T) {
	m := newMachine(t, 12)
	m.run(36*time.Hour, steady)
	m.run(4*time.Hour, slower(1.25))
	require.Positive(t, m.together()[record.ScopeHost], "%v", m.together())
	for _, id := range m.drives[:5] {
		m.slower[id] = 0.8
	}
	m.run(20*time.Minute, slower(1.25))
	assert.Zero(t, m.together()[record.ScopeBatch], "%v", m.node.Together())
	m.run(time.Hour, slower(1.25))
	assert.Positive(t, m.together()[record.ScopeBatch], "they have recovered")
}

// After a restart some drives answer late. A batch is still a batch.
func TestDrivesThatAnswerLateAfterARestartMakeNoHost(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	m.idle, m.minute = true, start
	m.run(36*time.Hour, steady)
	for _, id := range m.drives[:6] {
		m.slower[id] = 1.5
	}
	m.run(5*time.Hour, steady)
	require.Positive(t, m.together()[record.ScopeBatch], "%v", m.together())
	old, all := m.node, m.drives
	node := judge.NewNode(drift.Default())
	require.NoError(t, node.Restore(again(t, old.State(m.now()))))
	add := func(ids []string) {
		for _, id := range ids {
			node.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40})
			tracker := drift.NewTracker(drift.Default())
			require.NoError(t, tracker.Restore(again(t, old.Tracker(id, "read-4k").State())))
			node.Attach(id, "read-4k", tracker)
		}
	}
	add(all[:6])
	m.node, m.drives = node, all[:6]
	m.run(10*time.Minute, steady)
	add(all[6:])
	m.drives = all
	m.run(day, steady)
	assert.Zero(t, m.together()[record.ScopeHost], "%v", m.node.Together())
	assert.Positive(t, m.together()[record.ScopeBatch])
}

// A batch of a host that varies stands after the whole host was slow for a while.
func TestASmallBatchStands(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	m.idle = true
	m.run(10*day, varying)
	for _, id := range m.drives[:7] {
		m.slower[id] = 1.2
	}
	m.run(6*time.Hour, steady)
	require.Positive(t, m.together()[record.ScopeBatch])
	for _, id := range m.drives[7:] {
		m.slower[id] = 1.2
	}
	m.run(30*time.Minute, steady)
	for _, id := range m.drives[7:] {
		m.slower[id] = 1
	}
	m.run(6*time.Hour, steady)
	assert.Positive(t, m.together()[record.ScopeBatch])
}

// Writes show that the host makes all drives slower. Reads show it of most drives only, which are no batch beside the probes.
func TestAHostIsNoBatchByAnotherStatistic(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	m.writes = true
	m.felt = map[string]float64{"d00": 1.3, "d01": 1.3, "d02": 1.3, "d03": 1.3} // reads of these get faster
	m.run(36*time.Hour, steady)
	m.felt = nil
	m.run(2*time.Hour, slower(1.35))
	scopes := m.scopes()
	assert.Positive(t, scopes[record.ScopeHost])
	assert.Zero(t, scopes[record.ScopeBatch])
}

// All rounds are refused; reads and writes of the traffic show it at the same time.
func TestReadsMakeNoBatchOfAHostThatWritesShow(t *testing.T) {
	m := newMachine(t, 10)
	m.writes = true
	for _, id := range m.drives {
		m.silent[id] = true
	}
	m.felt = map[string]float64{"d00": 1.3, "d01": 1.3, "d02": 1.3, "d03": 1.3}
	m.run(36*time.Hour, steady)
	m.felt = nil
	m.run(2*time.Hour, slower(1.35))
	assert.Positive(t, m.scopes()[record.ScopeHost])
	assert.Zero(t, m.scopes()[record.ScopeBatch])
}

// Rounds just before a host became slower, after which others were refused, do not make the other drives a batch.
func TestDrivesWithoutRoundsSinceDoNotMakeABatch(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	m.idle = true
	m.run(36*time.Hour+time.Minute, steady) // two rounds of the block in which the host becomes slower
	for _, id := range m.drives[:4] {
		m.silent[id] = true
	}
	m.run(2*time.Hour, slower(1.5))
	assert.Positive(t, m.scopes()[record.ScopeHost])
	assert.Zero(t, m.scopes()[record.ScopeBatch])
}

// After a slowdown of the host was accepted, a batch is still a batch.
func TestABatchAfterASlowerHostWasAccepted(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	m.idle = true
	m.run(36*time.Hour, steady)
	m.run(12*time.Hour, slower(1.4))
	_, err := m.node.AcceptHost("new", m.now())
	require.NoError(t, err)
	m.run(6*time.Hour, slower(1.4))
	m.events = nil
	for _, id := range m.drives[:6] {
		m.slower[id] = 1.4
	}
	m.run(day, slower(1.4))
	assert.Zero(t, m.together()[record.ScopeHost], "%v", m.node.Together())
	assert.Positive(t, m.together()[record.ScopeBatch], "%v", m.node.Together())
}
