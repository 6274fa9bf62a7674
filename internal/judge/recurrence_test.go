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

// timesBlamed counts how often the verdict on a drive changed from one that does not blame it to one that does.
func (m *machine) timesBlamed(id string) int {
	times, before := 0, false
	for _, e := range m.events {
		if e.Drive != id || e.Verdict == "" {
			continue
		}
		now := e.Verdict.Blames()
		if now && !before {
			times++
		}
		before = now
	}
	return times
}

func alone(int) float64 { return 1 }

// spells makes d00 slower for two hours, several times, each time after the given period. With 31 hours that is at
// another hour of each day.
func (m *machine) spells(times int, apart time.Duration) {
	for range times {
		m.slower["d00"] = 1.6
		m.run(2*time.Hour, alone)
		m.slower["d00"] = 1
		m.run(apart-2*time.Hour, alone)
	}
}

func TestWhatComesAndGoesIsHeld(t *testing.T) {
	m := newMachine(t, 1)
	m.run(day+12*time.Hour, alone)
	m.spells(6, 31*time.Hour)
	assert.Equal(t, 2, m.timesBlamed("d00"), "with the second spell it is known to come and go")
	v, _ := m.node.Verdict("d00")
	assert.Equal(t, record.Degraded, v.Verdict)

	m.run(4*day, alone)
	v, _ = m.node.Verdict("d00")
	assert.Equal(t, record.Healthy, v.Verdict, "it came no more")
}

// Short spells that come back within two days are one finding, too: an alert that fires every day is switched off.
func TestShortSpellsAreHeld(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 1)
	m.run(day+12*time.Hour, alone)
	for range 13 {
		m.slower["d00"] = 1.5
		m.run(15*time.Minute, alone)
		m.slower["d00"] = 1
		m.run(36*time.Hour+10*time.Minute, alone) // each time at another time of day
	}
	assert.LessOrEqual(t, m.timesBlamed("d00"), 3)
	assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
}

// A drive that is slow for a quarter of an hour each week is not slow all week.
func TestWhatIsRareAndShortIsNotHeldForLong(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 1)
	m.run(day+12*time.Hour, alone)
	for _, apart := range []time.Duration{6 * day, 5 * day, 6 * day} {
		m.slower["d00"] = 1.5
		m.run(20*time.Minute, alone)
		assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
		m.slower["d00"] = 1
		m.run(day, alone)
		assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
		m.run(apart-day, alone)
	}
}

func TestASingleSpellEndsAtOnce(t *testing.T) {
	m := newMachine(t, 1)
	m.run(day+12*time.Hour, alone)
	m.spells(1, 4*time.Hour)
	assert.Equal(t, 1, m.timesBlamed("d00"))
	v, _ := m.node.Verdict("d00")
	assert.Equal(t, record.Healthy, v.Verdict)
}

func TestAnAcceptedLevelIsHeldNoMore(t *testing.T) {
	m := newMachine(t, 1)
	m.run(day+12*time.Hour, alone)
	m.spells(3, 31*time.Hour)
	for _, source := range []string{"read-4k", "traffic"} {
		state := m.node.Tracker("d00", source).State()
		fresh := drift.NewTracker(drift.Default())
		if source == "traffic" {
			fresh = drift.NewTrafficTracker(drift.Default())
		}
		require.NoError(t, fresh.Restore(state))
		m.node.Attach("d00", source, fresh)
	}
	m.run(10*time.Minute, alone)
	v, _ := m.node.Verdict("d00")
	assert.Equal(t, record.Healthy, v.Verdict)
}

func TestAHostIsToldFromSomePercentsOn(t *testing.T) {
	testenv.Long(t)
	for slower, told := range map[float64]bool{1.11: false, 1.2: true} {
		m := newMachine(t, 5)
		m.run(2*day, alone)
		m.run(12*time.Hour, func(int) float64 { return slower })
		hosts := 0
		for _, e := range m.events {
			if e.Scope == record.ScopeHost && e.State == record.Regressed && e.Drive == "" {
				hosts++
			}
		}
		assert.Equal(t, told, hosts > 0, "%g times", slower)
		assert.Equal(t, told, len(m.node.Together()) > 0, "%g times", slower)
		assert.Zero(t, m.timesBlamed("d00"), "%g times", slower)
	}
}

// Applications change what they do, on all drives of a host as well as on one.
func TestAHostIsToldByTrafficFromMoreOn(t *testing.T) {
	testenv.Long(t)
	for slower, told := range map[float64]bool{1.18: false, 1.4: true} {
		m := newMachine(t, 5)
		m.run(2*day, alone)
		m.felt = map[string]float64{}
		for _, id := range m.drives {
			m.felt[id], m.silent[id] = slower, true // probes that go on would refute it
		}
		m.run(6*time.Hour, alone)
		assert.Equal(t, told, len(m.node.Together()) > 0, "%g times", slower)
	}
}

func TestAVerdictThatIsHeldSurvivesARestart(t *testing.T) {
	m := newMachine(t, 1)
	m.run(day+12*time.Hour, alone)
	m.spells(3, 31*time.Hour)
	v := m.verdict("d00")
	require.Equal(t, record.Degraded, v.Verdict)
	assert.True(t, v.Held, "nothing says so now")
	m.restart()
	m.run(time.Hour, alone)
	assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	m.run(7*day, alone)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

// A slowdown of the host that is too small to be reported is also not reported as over when the drives have gone.
func TestAHostWithoutDrives(t *testing.T) {
	m := newMachine(t, 5)
	m.run(2*day, alone)
	m.run(12*time.Hour, func(int) float64 { return 1.11 })
	for _, id := range m.drives {
		m.node.RemoveDrive(id)
	}
	m.drives = nil
	told := len(m.events)
	for range 20 {
		m.minute += 5
		m.events = append(m.events, m.node.Advance(m.now())...)
	}
	assert.Empty(t, m.events[told:])
	assert.Empty(t, m.node.Together())
}
