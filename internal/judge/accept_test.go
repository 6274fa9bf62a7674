package judge_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func (m *machine) farFromPeers(id string) bool {
	for _, b := range m.node.Beside(id) {
		if b.Far {
			return true
		}
	}
	return false
}

// A level that differs from the peers' is normal once it was accepted, even after a restart. A slower one is found
// again.
func TestALevelBesideThePeersIsAccepted(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 5)
	m.minute = start
	m.slower["d04"] = 1.4
	m.run(30*time.Hour, steady)
	require.Equal(t, record.Degraded, m.verdict("d04").Verdict)

	notes, err := m.node.AcceptLevels("d04", "read-4k", "the slow slot", m.now())
	require.NoError(t, err)
	assert.Equal(t, m.now(), m.verdict("d04").Accepted)
	assert.Zero(t, m.verdict("d03").Accepted)
	require.Contains(t, notes, "read-4k")
	assert.InDelta(t, 1.4, notes["read-4k"].Ratios[record.LatencyP50], 0.05)
	assert.NotContains(t, notes, judge.Traffic, "one source was asked for")
	_, err = m.node.AcceptLevels("d04", judge.Traffic, "the slow slot", m.now())
	require.NoError(t, err)
	_, err = m.node.AcceptLevels("d04", "", "again", m.now())
	require.ErrorIs(t, err, drift.ErrNothingToAccept)

	m.run(6*time.Hour, steady)
	m.restart()
	m.run(6*time.Hour, steady)
	assert.Equal(t, record.Healthy, m.verdict("d04").Verdict)
	assert.False(t, m.farFromPeers("d04"))
	assert.InDelta(t, 1.4, m.node.Beside("d04")[0].Accepted, 0.05)
	assert.Equal(t, "the slow slot", m.node.Beside("d04")[0].Note)

	m.slower["d04"] = 1.4 * 1.4
	m.run(3*time.Hour, steady)
	assert.True(t, m.farFromPeers("d04"))
}

// A drive that was far slower than its peers is as fast as they are since a quarter of an hour: the level that is still reported is not
// accepted.
func TestNoLevelBesideThePeersIsAcceptedWhileItMoves(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 5)
	m.slower["d04"] = 1.4
	m.run(30*time.Hour, steady)
	m.slower["d04"] = 1
	m.run(16*time.Minute, steady)
	require.True(t, m.farFromPeers("d04"))
	_, err := m.node.AcceptLevels("d04", "", "x", m.now())
	require.ErrorIs(t, err, drift.ErrMoving)
	assert.True(t, m.farFromPeers("d04"), "nothing was accepted")
}

// accept does what the daemon does to accept the level of a drive.
func (m *machine) accept(id string) {
	m.t.Helper()
	trackers := map[string]*drift.Tracker{}
	for _, source := range sources() {
		trackers[source] = m.node.Tracker(id, source)
		state, err := trackers[source].State().Accept(m.now(), "the slow slot")
		if err == nil {
			err = trackers[source].Restore(state)
		} else if errors.Is(err, drift.ErrNothingToAccept) {
			err = nil
		}
		require.NoError(m.t, err)
	}
	if _, err := m.node.AcceptLevels(id, "", "the slow slot", m.now()); err != nil {
		require.ErrorIs(m.t, err, drift.ErrNothingToAccept)
	}
	m.node.ReplaceDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40})
	for source, tracker := range trackers {
		m.node.Attach(id, source, tracker)
	}
}

// It takes two hours to find that a drive is far slower than its peers. A level that was accepted before is not found then.
func TestALevelThatWasAcceptedAtOnceIsNotFoundBesideThePeers(t *testing.T) {
	testenv.Long(t)
	for _, learned := range []time.Duration{5 * time.Hour, 30 * time.Hour} {
		m := newMachine(t, 5)
		m.minute = start
		m.run(learned, steady)
		m.slower["d04"] = 2
		m.run(40*time.Minute, steady)
		require.True(t, m.verdict("d04").Verdict.Blames())
		require.False(t, m.farFromPeers("d04"), "it has not been slow for long enough")
		m.accept("d04")
		m.run(6*time.Hour, steady)
		assert.Equal(t, record.Healthy, m.verdict("d04").Verdict, "%s: %+v", learned, m.verdict("d04"))

		m.slower["d04"] = 3
		m.run(4*time.Hour, steady)
		assert.True(t, m.farFromPeers("d04"), "slower than what was accepted")
	}
}

// What was accepted for a drive that is away holds when it comes back.
func TestTheLevelOfADriveThatIsAwayIsAccepted(t *testing.T) {
	m := newMachine(t, 5)
	m.minute = start
	m.slower["d04"] = 1.4
	m.run(30*time.Hour, steady)
	kept := judge.NewNode(drift.Default())
	require.NoError(t, kept.Restore(m.node.State(m.now())))
	_, err := kept.AcceptLevels("d04", "", "the slow slot", m.now())
	require.NoError(t, err)
	m.restartFrom(kept.State(m.now()))
	m.run(6*time.Hour, steady)
	assert.Equal(t, record.Healthy, m.verdict("d04").Verdict)
}

// Once a drive was as fast as its peers for hours, nothing is left of the accepted level.
func TestAnAcceptedLevelIsOutgrown(t *testing.T) {
	m := newMachine(t, 5)
	m.slower["d04"] = 1.4
	m.run(30*time.Hour, steady)
	_, err := m.node.AcceptLevels("d04", "", "the slow slot", m.now())
	require.NoError(t, err)
	m.slower["d04"] = 1
	m.run(3*time.Hour, steady)
	assert.Zero(t, m.node.Beside("d04")[0].Accepted)
	m.slower["d04"] = 1.4
	m.run(3*time.Hour, steady)
	assert.True(t, m.farFromPeers("d04"))
}

// What all drives did together is accepted as the host's normal level. A drive that gets slower than that is found,
// and so is a host that gets slower. When the host recovers, nobody is blamed, except a drive that does not recover.
func TestTheLevelOfAHostIsAccepted(t *testing.T) {
	testenv.Long(t)
	for name, then := range map[string]struct {
		host  float64 // how many times slower than at first the host is afterwards
		drive float64 // how many times slower one drive is beyond that
		slow  bool    // whether the host is found to be slow
	}{
		"stays":                 {1.3, 1, false},
		"one drive gets slower": {1.3, 1.25, false},
		"gets slower still":     {1.3 * 1.3, 1, true},
		"recovers":              {1, 1, false},
		"recovers but one":      {1, 1.25, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, 6)
			m.minute = start
			m.run(36*time.Hour, steady)
			slow := func(int) float64 { return 1.3 }
			m.run(3*time.Hour, slow)
			require.NotEmpty(t, m.node.Together())
			notes, err := m.node.AcceptHost("powersave is wanted here", m.now())
			require.NoError(t, err)
			assert.InDelta(t, 1.3, notes["read-4k"].Ratios[record.LatencyP50], 0.03)
			assert.Equal(t, m.now(), m.node.Host().Accepted)
			_, err = m.node.AcceptHost("again", m.now())
			require.ErrorIs(t, err, drift.ErrNothingToAccept)
			m.run(time.Hour, slow)
			m.restart()
			m.run(time.Hour, slow)
			assert.Empty(t, m.node.Together())
			assert.NotEmpty(t, m.node.HostNotes())

			m.slower["d01"] = then.drive
			m.run(3*time.Hour, func(int) float64 { return then.host })
			assert.Equal(t, then.slow, len(m.node.Together()) > 0)
			assert.Equal(t, then.drive > 1, m.verdict("d01").Verdict.Blames(), "%+v", m.verdict("d01"))
			assert.Equal(t, record.Healthy, m.verdict("d02").Verdict)
		})
	}
}

// Hard disks have a host's part of their own. Both levels are accepted, and both are told.
func TestTheLevelOfAHostWithHardDisksIsAccepted(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 4)
	for _, id := range []string{"h00", "h01", "h02", "h03"} {
		m.drives, m.slower[id] = append(m.drives, id), 1
		m.node.AddDrive(judge.Drive{ID: id, Model: "H", SizeBytes: 1 << 44, Rotational: true})
	}
	m.run(36*time.Hour, steady)
	m.run(3*time.Hour, func(int) float64 { return 1.3 })
	notes, err := m.node.AcceptHost("powersave is wanted here", m.now())
	require.NoError(t, err)
	for _, source := range []string{"read-4k", "read-4k of hard disks"} {
		assert.InDelta(t, 1.3, notes[source].Ratios[record.LatencyP50], 0.03, source)
	}
}

// While the host is recovering, there is no one level to accept.
func TestNoLevelOfAHostIsAcceptedWhileItMoves(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(36*time.Hour, steady)
	m.run(3*time.Hour, func(int) float64 { return 1.5 })
	m.run(16*time.Minute, func(int) float64 { return 1.2 })
	_, err := m.node.AcceptHost("x", m.now())
	require.ErrorIs(t, err, drift.ErrMoving)
	assert.NotEmpty(t, m.node.Together(), "nothing was accepted")
}

// The level of a probe that is switched off is accepted, too, and once.
func TestTheLevelOfASourceThatIsNotAttachedIsAccepted(t *testing.T) {
	m := newMachine(t, 5)
	m.idle, m.slower["d04"] = true, 1.5
	m.run(30*time.Hour, steady)
	tracker := m.node.Tracker("d04", "read-4k")
	m.node.ReplaceDrive(judge.Drive{ID: "d04", Model: "X", SizeBytes: 1 << 40}) // a reload, without the probe
	notes, err := m.node.AcceptLevels("d04", "", "the slow slot", m.now())
	require.NoError(t, err)
	require.Contains(t, notes, "read-4k")
	_, err = m.node.AcceptLevels("d04", "", "the slow slot", m.now())
	require.ErrorIs(t, err, drift.ErrNothingToAccept)
	m.node.Attach("d04", "read-4k", tracker)
	m.run(3*time.Hour, steady)
	assert.False(t, m.farFromPeers("d04"))
}

// To accept what the host made slower changes nothing of what is known of its other statistics.
func TestToAcceptTheReadsOfAHostLeavesItsWrites(t *testing.T) {
	m := newMachine(t, 6)
	m.minute, m.writes = start, true
	m.run(36*time.Hour, steady)
	m.run(36*time.Hour, always(1.05))
	m.felt = map[string]float64{}
	for _, id := range m.drives {
		m.felt[id] = 1.4
	}
	m.run(3*time.Hour, always(1.05))
	known := func() map[record.Statistic]any {
		var all struct {
			Hosts []struct {
				Source  string
				Wanders map[record.Statistic]any
			}
		}
		text, err := json.Marshal(m.node.State(m.now()))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &all))
		require.Equal(t, judge.Traffic, all.Hosts[1].Source)
		return all.Hosts[1].Wanders
	}
	before := known()
	notes, err := m.node.AcceptHost("the new cipher", m.now())
	require.NoError(t, err)
	require.Equal(t, []record.Statistic{record.OthersReadLatency}, slices.Collect(maps.Keys(notes[judge.Traffic].Ratios)))
	assert.Equal(t, before[record.OthersWriteLatency], known()[record.OthersWriteLatency])
	assert.NotEqual(t, before[record.OthersReadLatency], known()[record.OthersReadLatency])
}
