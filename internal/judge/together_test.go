package judge_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// All drives of a new node have their first night. What a job does to them then is known to nobody.
func TestANightlyJobIsNotSevereBeforeTheHostIsKnown(t *testing.T) {
	m := newMachine(t, 8)
	m.run(10*time.Hour, steady)
	require.Equal(t, record.Unjudged, m.node.Host().Verdict)
	for _, id := range m.drives[:3] {
		m.slower[id] = 2.2
	}
	m.run(time.Hour, steady)
	assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	assert.False(t, m.severe("d00"))
}

// A drive that is severe stays so when others of its model get slow, too.
func TestABatchDoesNotExcuseASevereDriveBeforeTheHostIsKnown(t *testing.T) {
	m := newMachine(t, 8)
	m.run(10*time.Hour, steady)
	m.slower["d00"] = 2.4
	m.run(30*time.Minute, steady)
	require.Equal(t, record.Severe, m.verdict("d00").Verdict, "%+v", m.verdict("d00"))
	m.slower["d01"], m.slower["d02"] = 2.4, 2.4
	m.run(20*time.Minute, steady)
	assert.Equal(t, record.ScopeBatch, m.verdict("d00").Scope)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict)
}

// backup makes the host slower from midnight to two.
func backup(minute int) float64 {
	if minute%1440 < 120 {
		return 1.6
	}
	return 1
}

func TestRoundsThatAreRefusedEveryNight(t *testing.T) {
	testenv.Long(t)
	for _, drives := range []int{1, 6} {
		m := newMachine(t, drives)
		for range 4 {
			for _, id := range m.drives {
				m.silent[id] = true
			}
			m.run(2*time.Hour, backup)
			m.silent = map[string]bool{}
			m.run(22*time.Hour, backup)
		}
		m.events = nil
		for _, id := range m.drives[1:] {
			m.silent[id] = true
		}
		m.run(2*time.Hour, backup)
		assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
		for _, e := range m.events {
			assert.False(t, e.Verdict.Blames(), "%d drives: %s %s %.2f", drives, e.Drive, e.Verdict, e.Ratio.Ratio)
		}
	}
}

func TestAHostIsNoBatchOfThoseThatAreProbed(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 8)
	m.run(36*time.Hour, steady)
	for _, id := range m.drives[4:] {
		m.silent[id] = true // too busy for rounds, since the host is slow
	}
	m.run(50*time.Minute, func(int) float64 { return 1.7 })
	var probes []record.Together
	for _, x := range m.node.Together() {
		if x.Source != judge.Traffic {
			probes = append(probes, x)
		}
	}
	require.NotEmpty(t, probes)
	assert.Equal(t, record.ScopeHost, probes[0].Scope)
}

// One cause slows drives unequally: all of them moved, so that the host is slow and they are no batch.
func TestAHostSlowsItsDrivesUnequally(t *testing.T) {
	m := newMachine(t, 4)
	m.run(36*time.Hour, steady)
	for i, id := range m.drives {
		m.slower[id] = []float64{2.3, 2.2, 2.2, 1.3}[i]
	}
	m.run(50*time.Minute, steady)
	together := m.node.Together()
	require.NotEmpty(t, together)
	for _, x := range together {
		assert.Equal(t, record.ScopeHost, x.Scope, "%s %s: %v", x.Source, x.Statistic, x.Drives)
	}
}

// A few drives do not get slower. If they are of the same model and firmware as the others, the host is slow. If one is of another
// model or firmware, or if there are few drives, the others are a batch.
func TestABatchIsOfOneModel(t *testing.T) {
	testenv.Long(t)
	for _, c := range []struct {
		slow, same, other int
		older             bool // those of the same model that are not slow have an older firmware
		scope             record.Scope
	}{
		{12, 2, 0, false, record.ScopeHost}, {12, 0, 2, false, record.ScopeBatch}, {12, 1, 1, false, record.ScopeBatch}, {4, 1, 0, false, record.ScopeBatch},
		{12, 2, 0, true, record.ScopeBatch},
	} {
		m := newMachine(t, c.slow+c.same)
		m.conditions.Firmware = "B"
		m.changed = map[string]record.Conditions{}
		for _, id := range m.drives[c.slow:] {
			if m.changed[id] = m.conditions; c.older {
				m.changed[id] = record.Conditions{Firmware: "A"}
			}
		}
		for i := range c.other {
			id := fmt.Sprintf("e%d", i)
			m.drives, m.slower[id] = append(m.drives, id), 1
			m.node.AddDrive(judge.Drive{ID: id, Model: "Y", SizeBytes: 1 << 40})
		}
		m.run(36*time.Hour, steady)
		for _, id := range m.drives[:c.slow] {
			m.slower[id] = 1.4
		}
		m.run(50*time.Minute, steady)
		together := m.node.Together()
		require.NotEmpty(t, together)
		for _, x := range together {
			assert.Len(t, x.Drives, c.slow)
			assert.Equal(t, c.scope, x.Scope, "%+v: %s %s", c, x.Source, x.Statistic)
		}
	}
}

// garbage runs a machine in which the probes of one drive are slower for ten minutes of each half hour.
func (m *machine) garbage(d time.Duration, id string, slower float64, visit func()) {
	for range int(d / time.Minute) {
		m.probed = map[string]float64{}
		if (m.minute+1)%30 < 10 {
			m.probed[id] = slower
		}
		m.run(time.Minute, steady)
		visit()
	}
}

func TestABatchIsNoHostWhileAnotherDriveCollectsGarbage(t *testing.T) {
	m := newMachine(t, 4)
	m.garbage(36*time.Hour, "d03", 1.25, func() {})
	for _, id := range m.drives[:3] {
		m.slower[id] = 2
	}
	found := 0
	m.garbage(2*time.Hour, "d03", 1.25, func() {
		for _, x := range m.node.Together() {
			found++
			assert.Equal(t, record.ScopeBatch, x.Scope, "%s %s: %v", x.Source, x.Statistic, x.Drives)
		}
	})
	assert.Positive(t, found)
}

// What the probes do all the time is no sign that the drive makes its users slow.
func TestGarbageDoesNotBlameADriveForItsTraffic(t *testing.T) {
	m := newMachine(t, 2)
	m.garbage(36*time.Hour, "d00", 1.7, func() {})
	m.felt = map[string]float64{"d00": 1.5}
	m.garbage(3*time.Hour, "d00", 1.7, func() {
		assert.False(t, m.verdict("d00").Verdict.Blames(), "%+v", m.verdict("d00"))
	})
}

func TestADriveThatIsProbedAloneIsNotBlamedForItsHost(t *testing.T) {
	m := newMachine(t, 4)
	m.run(36*time.Hour, steady)
	for _, id := range m.drives[1:] {
		m.silent[id] = true // too busy for rounds, since the host is slow
	}
	m.events = nil
	m.run(3*time.Hour, func(int) float64 { return 1.3 })
	for _, e := range m.events {
		assert.False(t, e.Drive != "" && e.Verdict.Blames(), "%s %s %.2f", e.Drive, e.Verdict, e.Ratio.Ratio)
	}
}

func TestABatchDuringABackupIsNoHost(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	m.run(4*day+10*time.Minute, backup)
	for _, id := range m.drives[:6] {
		m.slower[id] = 1.4
	}
	m.run(40*time.Minute, backup)
	together := m.node.Together()
	require.NotEmpty(t, together)
	for _, x := range together {
		assert.Equal(t, record.ScopeBatch, x.Scope, "%s %s: %v", x.Source, x.Statistic, x.Drives)
		assert.Len(t, x.Drives, 6)
	}
}

// A drive becomes slow in the hours in which its users slow its traffic every day. Its probes run then and find it:
// what the users do every day is not taken off the probes.
func TestADriveThatGetsSlowWhileItsUsersDo(t *testing.T) {
	m := newMachine(t, 4)
	m.minute = start
	job := func() map[string]float64 { return map[string]float64{"d03": 3} }
	for range 4 {
		m.felt = job()
		m.run(5*time.Hour, steady)
		m.felt = nil
		m.run(19*time.Hour, steady)
	}
	require.Equal(t, record.Healthy, m.verdict("d03").Verdict)
	m.felt = job()
	m.run(time.Hour, steady)
	m.slower["d03"] = 2.5
	m.run(30*time.Minute, steady)
	assert.True(t, m.verdict("d03").Verdict.Blames(), "%+v", m.verdict("d03"))
}

// Drives that are used for an hour a day do not show for long what their host does usually. After a day that excuses nothing.
func TestAHostThatIsNeverKnownExcusesNothing(t *testing.T) {
	m := newMachine(t, 6)
	for _, id := range m.drives {
		m.silent[id] = true
	}
	used := func(days int) {
		for range days {
			m.run(time.Hour, steady)
			m.minute += 23 * 60
		}
	}
	used(16)
	require.Equal(t, record.Unjudged, m.node.Host().Verdict)
	for _, id := range m.drives[:3] {
		m.slower[id] = 2.4
	}
	used(1)
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
}

// What no job does is severe also on the first day, and so is a stall.
func TestAJobExcusesNoStallsBeforeTheHostIsKnown(t *testing.T) {
	m := newMachine(t, 8)
	m.run(10*time.Hour, steady)
	for _, id := range m.drives[:3] {
		m.slower[id] = 2.2
	}
	m.slower["d01"] = 3.5
	m.run(20*time.Minute, steady)
	m.node.Stall("d02", record.Stall{Start: m.now().Add(-11 * time.Second), Length: 11 * time.Second, Cause: record.StallByDevice, InFlight: 3})
	m.run(time.Minute, steady)
	assert.False(t, m.severe("d00"))
	assert.True(t, m.severe("d01"), "%+v", m.verdict("d01"))
	assert.True(t, m.severe("d02"), "%+v", m.verdict("d02"))
}

// Three targets of one drive are no batch that its host may explain: a host is never judged by one drive.
func TestTargetsOfOneDriveAreNotExcusedByTheirHost(t *testing.T) {
	m := newMachine(t, 3)
	for _, id := range m.drives {
		m.node.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40, Device: "nvme0"})
	}
	m.run(10*time.Hour, steady)
	for _, id := range m.drives {
		m.slower[id] = 2.2
	}
	m.run(30*time.Minute, steady)
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
}

// The users of all drives turn to work that takes longer. The probes find the drives as fast as ever, so that the host is not slow.
func TestProbesRefuteASlowHostThatOnlyUsersFeel(t *testing.T) {
	testenv.Long(t)
	for _, drives := range []int{3, 6} {
		m := newMachine(t, drives)
		m.run(36*time.Hour, steady)
		m.events, m.felt = nil, map[string]float64{}
		for _, id := range m.drives {
			m.felt[id] = 1.5
		}
		m.run(3*time.Hour, steady)
		assert.Empty(t, m.scopes(), "%d drives", drives)
		assert.Equal(t, record.Healthy, m.node.Host().Verdict)
		assert.Empty(t, m.node.Together(), "and it is no finding")

		for _, id := range m.drives {
			m.silent[id] = true
		}
		m.run(3*time.Hour, steady)
		assert.Empty(t, m.scopes(), "what the probes said stands while the users feel no more")
		m.run(2*time.Hour, slower(1.5))
		assert.Positive(t, m.scopes()[record.ScopeHost], "the users feel more than what the probes refuted")
	}
}

// The probes find the drives slower, too, or nothing is known of them: what users feel counts.
func TestAHostThatUsersAndProbesFeel(t *testing.T) {
	testenv.Long(t)
	for name, silent := range map[string]bool{"probes agree": false, "no rounds": true} {
		m := newMachine(t, 6)
		m.run(36*time.Hour, steady)
		for _, id := range m.drives {
			m.silent[id] = silent
		}
		m.run(2*time.Hour, slower(1.5))
		traffic := 0
		for _, x := range m.node.Together() {
			if x.Source == judge.Traffic && x.Scope == record.ScopeHost && x.Verdict == record.Degraded {
				traffic++
			}
		}
		assert.Positive(t, traffic, name)
	}
}
