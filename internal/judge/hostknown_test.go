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

// probed returns a machine of idle drives whose rounds are some minutes apart, and whose host has a baseline.
func probed(t *testing.T, every int) *machine {
	t.Helper()
	m := newMachine(t, 4)
	m.idle, m.every = true, every
	for _, id := range m.drives {
		m.node.Tracker(id, "read-4k").Every(time.Duration(every) * time.Minute)
	}
	for range 20 {
		m.run(day, steady)
		if m.node.Host().Verdict == record.Healthy {
			return m
		}
	}
	require.Fail(t, "the host has no baseline")
	return nil
}

// Where rounds are rare, a block takes up to an hour, and the host stays known from one to the next.
func TestTheHostIsKnownByRareRounds(t *testing.T) {
	for _, every := range []int{5, 15, 30} {
		m := probed(t, every)
		unknown := 0
		for range 12 * 60 {
			m.run(time.Minute, steady)
			if m.node.Host().Verdict == record.Unjudged {
				unknown++
			}
		}
		assert.Zero(t, unknown, "minutes of 12 hours, a round every %d", every)
	}
}

// Quiet hours of all drives are planned, so what was known of the host stays known. Those of one drive change nothing.
func TestTheHostStaysKnownInQuietHours(t *testing.T) {
	quiet := func(paused int) record.Judgement {
		m := probed(t, 1)
		for _, id := range m.drives {
			m.silent[id] = true
		}
		for range 8 * 60 {
			before := m.now()
			m.run(time.Minute, steady)
			for _, id := range m.drives[:paused] {
				m.node.Pause(id, before, m.now())
			}
		}
		return m.node.Host()
	}
	assert.Equal(t, record.Healthy, quiet(4).Verdict)
	v := quiet(1)
	require.Equal(t, record.Unjudged, v.Verdict, "three drives should have had rounds")
	assert.Equal(t, record.ReasonNoRounds, v.Unjudged.Reason)
}

// The verdict on a slow drive stands while nothing compares the drive, and says so.
func TestAVerdictThatNothingConfirmsSaysSo(t *testing.T) {
	m := probed(t, 1)
	m.slower["d00"] = 1.6
	m.run(6*time.Hour, steady)
	v := m.verdict("d00")
	require.Equal(t, record.Degraded, v.Verdict)
	assert.Nil(t, v.Unjudged)
	assert.InDelta(t, 1.6, v.RatioNow().Ratio, 0.1)

	last := m.now()
	m.silent["d00"] = true
	m.run(3*time.Hour, steady)
	v = m.verdict("d00")
	require.Equal(t, record.Degraded, v.Verdict)
	require.NotNil(t, v.Unjudged)
	assert.Equal(t, record.ReasonNoRounds, v.Unjudged.Reason)
	assert.WithinDuration(t, last, v.Unjudged.Since, 10*time.Minute)
	assert.InDelta(t, 1.6, v.Ratio.Ratio, 0.1, "when it was last compared")
	assert.Zero(t, v.RatioNow())

	m.silent["d00"] = false
	m.run(10*time.Minute, steady)
	assert.Nil(t, m.verdict("d00").Unjudged)
}

// So does what the drives do together.
func TestASlowHostThatNothingConfirmsSaysSo(t *testing.T) {
	m := probed(t, 1)
	m.run(3*time.Hour, func(int) float64 { return 1.4 })
	require.NotEmpty(t, m.node.Together())
	assert.Nil(t, m.node.Together()[0].Unjudged)
	last := m.now()
	for _, id := range m.drives {
		m.silent[id] = true
	}
	m.run(3*time.Hour, steady)
	require.NotEmpty(t, m.node.Together())
	why := m.node.Together()[0].Unjudged
	require.NotNil(t, why)
	assert.Equal(t, record.ReasonNoRounds, why.Reason)
	assert.WithinDuration(t, last, why.Since, 10*time.Minute)
}

func TestAHostWithRoundsOfTooFewDrivesSaysSo(t *testing.T) {
	m := probed(t, 1)
	m.silent["d00"], m.silent["d01"] = true, true
	m.run(2*time.Hour, steady)
	v := m.node.Host()
	require.Equal(t, record.Unjudged, v.Verdict)
	assert.Equal(t, record.ReasonFewRounds, v.Unjudged.Reason)
	assert.WithinDuration(t, m.now().Add(-2*time.Hour), v.Unjudged.Since, 2*drift.BlockLength)
}

// A level beside the peers keeps its ratio in quiet hours, as nothing was planned in them.
func TestALevelKeepsItsRatioInQuietHours(t *testing.T) {
	m := newMachine(t, 5)
	m.idle, m.slower["d04"] = true, 1.5
	m.run(30*time.Hour, steady)
	require.Equal(t, record.Degraded, m.verdict("d04").Verdict)
	for _, id := range m.drives {
		m.silent[id] = true
	}
	for range 4 * 60 {
		before := m.now()
		m.run(time.Minute, steady)
		for _, id := range m.drives {
			m.node.Pause(id, before, m.now())
		}
	}
	v := m.verdict("d04")
	assert.Equal(t, record.Degraded, v.Verdict)
	assert.Nil(t, v.Unjudged)
	assert.InDelta(t, 1.5, v.RatioNow().Ratio, 0.1)
}

// A host whose drives are probed for three hours a day gets its baseline from several days.
func TestTheHostIsKnownByAFewHoursADay(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 4)
	m.idle = true
	night := func(host func(int) float64) {
		m.silent = map[string]bool{}
		m.run(3*time.Hour, host)
		for _, id := range m.drives {
			m.silent[id] = true
		}
		m.run(21*time.Hour, host)
	}
	for range 12 {
		night(steady)
	}
	m.events = nil
	night(func(int) float64 { return 1.6 })
	found := false
	for _, e := range m.events {
		if e.Verdict.Blames() {
			found = true
			assert.Equal(t, record.ScopeHost, e.Scope, e.Drive)
			assert.Equal(t, m.drives, e.Drives)
		}
	}
	assert.True(t, found)
}
