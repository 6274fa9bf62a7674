package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
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
