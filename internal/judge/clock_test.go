package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// What others did before the clock was set back says nothing about the same time of the clock now.
func TestBlocksOfTheFutureExcuseNoDrive(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		m := newMachine(t, 3)
		m.idle = true
		m.minute = start
		m.run(2*day, steady)
		m.run(4*time.Hour, always(1.4))
		m.run(2*time.Hour, steady)
		m.minute -= 6 * 60
		if restarted {
			m.restart()
		}
		m.silent["d01"], m.silent["d02"] = true, true
		m.slower["d00"] = 1.4
		m.run(90*time.Minute, steady)
		assert.True(t, m.verdict("d00").Verdict.Blames(), "restarted: %t", restarted)
	}
}

func TestNoVerdictBeginsInTheFuture(t *testing.T) {
	m := newMachine(t, 3)
	m.run(2*day, steady)
	for range 2 {
		m.slower["d00"] = 1.6
		m.run(2*time.Hour, steady)
		m.slower["d00"] = 1
		m.run(time.Hour, steady)
	}
	require.True(t, m.verdict("d00").Held)
	m.minute -= 5 * 60
	m.run(2*time.Minute, steady)
	v := m.verdict("d00")
	require.Equal(t, record.Degraded, v.Verdict)
	assert.False(t, v.Since.After(m.now()), "%s", v.Since)
}

func TestNoSlowdownOfTheHostBeginsInTheFuture(t *testing.T) {
	m := newMachine(t, 3)
	m.run(2*day, steady)
	m.run(time.Hour, always(1.4))
	require.NotEmpty(t, m.node.Together())
	m.minute -= 100
	m.run(2*time.Minute, always(1.4))
	for _, x := range m.node.Together() {
		assert.False(t, x.Since.After(m.now()), "%s", x.Since)
	}
	assert.False(t, m.node.Host().Since.After(m.now()))
}

// A drive becomes slow while the clock of its node is a year ahead. Once the clock is right, the drift has an onset that stays, a
// ratio that is of now, and may become severe.
func TestADriftThatBeganWhileTheClockWasAhead(t *testing.T) {
	m := newMachine(t, 3)
	m.minute = start
	m.run(2*day, steady)
	const ahead = 365 * 24 * 60
	m.minute += ahead
	m.run(2*time.Hour, steady)
	m.slower["d01"] = 1.5
	m.run(time.Hour, steady)
	require.Equal(t, record.Degraded, m.verdict("d01").Verdict)
	m.minute -= ahead
	right := m.now()
	m.run(2*time.Hour, steady)
	assert.WithinDuration(t, right, m.verdict("d01").Since, 10*time.Minute)
	m.slower["d01"] = 2.4
	m.run(3*time.Hour, steady)
	v := m.verdict("d01")
	assert.Equal(t, record.Severe, v.Verdict)
	assert.InDelta(t, 2.4, v.Ratio.Ratio, 0.1)
	assert.WithinDuration(t, right, v.Since, 10*time.Minute)
}

// The same of a host. How long it has been slow decides whether that is reported.
func TestAHostThatBecameSlowWhileTheClockWasAhead(t *testing.T) {
	for _, drives := range []int{2, 4} {
		m := newMachine(t, drives)
		m.minute = start
		m.run(2*day, steady)
		const ahead = 365 * 24 * 60
		m.minute += ahead
		m.run(2*time.Hour, steady)
		m.run(45*time.Minute, always(1.5))
		m.minute -= ahead
		right := m.now()
		m.run(3*time.Hour, always(1.5))
		host := m.node.Host()
		assert.Equal(t, record.Degraded, host.Verdict, "%d drives", drives)
		assert.WithinDuration(t, right, host.Since, 10*time.Minute)
	}
}

func TestADriveThatWasRemovedWhileTheClockWasAheadIsForgotten(t *testing.T) {
	m := newMachine(t, 3)
	m.minute = start
	m.run(time.Hour, steady)
	const ahead = 365 * 24 * 60
	m.minute += ahead
	m.run(10*time.Minute, steady)
	m.node.RemoveDrive("d02")
	m.drives = m.drives[:2]
	m.minute -= ahead
	m.run(25*time.Hour, steady)
	var known []string
	for _, d := range m.node.State(m.now()).Drives {
		known = append(known, d.ID)
	}
	assert.Equal(t, m.drives, known)
}

// While the clock is years behind for hours, the onset of a drift stays what it was.
func TestADriftKeepsItsOnsetWhileTheClockIsBehind(t *testing.T) {
	m := newMachine(t, 3)
	m.minute = start
	m.run(2*day, steady)
	m.slower["d01"] = 1.5
	m.run(2*time.Hour, steady)
	before := m.verdict("d01")
	const behind = 6 * 365 * 24 * 60
	m.minute -= behind
	m.run(4*time.Hour, steady)
	m.minute += behind
	m.run(2*time.Hour, steady)
	assert.Equal(t, before.Since, m.verdict("d01").Since)
}

// A node without a battery for its clock begins to measure before it knows the time. What the host did is as true as before.
func TestAHostIsSlowBeforeAndAfterTheClockWasWrong(t *testing.T) {
	testenv.Long(t)
	for name, wrong := range map[string]time.Duration{
		"years behind": -6 * 365 * day, "hours behind": -3 * time.Hour, "a day ahead": 26 * time.Hour, "years ahead": 6 * 365 * day,
	} {
		m := newMachine(t, 3)
		m.minute = start
		m.run(2*day, steady)
		m.run(6*time.Hour, always(1.5))
		before := m.node.Host()
		require.Equal(t, record.Degraded, before.Verdict)
		m.restart()
		m.minute += int(wrong / time.Minute)
		m.run(10*time.Minute, always(1.5))
		assert.False(t, m.node.Host().Since.After(m.now()), name)
		m.minute -= int(wrong / time.Minute)
		for range 4 {
			m.run(6*time.Hour, always(1.5))
			assert.Equal(t, record.Degraded, m.node.Host().Verdict, name)
			assert.Equal(t, before.Since, m.node.Host().Since, name)
		}
	}
}

// A node is off while its firmware is updated or parts of it are replaced, and comes back slow.
func TestAHostThatWasOffIsComparedWithWhatItWas(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 3)
	m.minute = start
	m.run(2*day, steady)
	m.minute += int(30 * day / time.Minute)
	back := m.now()
	m.restart()
	for range 3 {
		m.run(6*time.Hour, always(1.5))
		assert.Equal(t, record.Degraded, m.node.Host().Verdict)
		assert.WithinDuration(t, back, m.node.Host().Since, time.Hour)
	}
}
