package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// collecting makes a drive slower for a quarter of each hour, as garbage collection does.
func collecting(minute int) float64 {
	if minute%60 < 15 {
		return 1.5
	}
	return 1
}

// spells makes a drive slower for a quarter of an hour every few hours, never at the same time of day.
func spells(slower float64) func(minute int) float64 {
	return func(minute int) float64 {
		if minute%197 < 15 {
			return slower
		}
		return 1
	}
}

// Both witnesses see it when a drive collects garbage. That is over after a few minutes.
func TestWitnessesHaveToAgreeForAWhile(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 2.2
	m.run(6*time.Minute, steady)
	m.slower["d00"] = 1
	m.run(20*time.Minute, steady)
	assert.False(t, m.severe("d00"))
	m.slower["d00"] = 2.2
	m.run(14*time.Minute, steady)
	assert.True(t, m.severe("d00"))
	m.slower["d00"] = 1
	m.run(3*time.Hour, steady)
	m.events = nil
	m.slower["d00"] = 5
	m.run(6*time.Minute, steady)
	assert.True(t, m.severe("d00"), "no garbage explains that")
}

// A month shows worse spells than a day.
func TestSpellsThatPassedAreLearned(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, spells(1.3))
	m.run(2*day, spells(1.75)) // too little for severe
	require.False(t, m.severe("d00"))
	m.run(day, spells(1.95))
	assert.False(t, m.severe("d00"), "it has had such spells")
	m.slower["d00"] = 2.2
	m.run(80*time.Minute, steady)
	assert.True(t, m.severe("d00"), "no spell lasts that long")
}

// A drive that is slow has its spells on top of that.
func TestASlowDriveHasItsSpellsOnTop(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.run(36*time.Hour+30*time.Minute, spells(1.7))
	m.slower["d00"] = 1.3
	m.run(2*day, spells(1.7))
	assert.False(t, m.severe("d00"))
	m.slower["d00"] = 5
	m.run(15*time.Minute, steady)
	assert.True(t, m.severe("d00"), "no spell explains that: %+v", m.verdict("d00"))
}

// A drive that is 1.3 times slower, and collects garbage as it always did, has twice its latency at those times.
func TestASlowDriveIsNotSevereWhenItWavers(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour+20*time.Minute, collecting)
	m.slower["d00"] = 1.3
	m.run(12*time.Hour, collecting)
	require.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	assert.False(t, m.severe("d00"))
}

// A drive was severe twice, so the second time is held. Spells of garbage collection in that time would not be severe on
// their own, and do not prolong it.
func TestAHeldVerdictIsNotProlongedByLessThanANewOneTakes(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	for range 2 {
		m.slower["d00"] = 2.4
		m.run(40*time.Minute, steady)
		require.Equal(t, record.Severe, m.verdict("d00").Verdict)
		m.slower["d00"] = 1
		m.run(6*time.Hour, steady)
	}
	require.True(t, m.verdict("d00").Held)
	m.run(10*time.Hour, func(minute int) float64 {
		if minute%180 < 6 {
			return 2.2
		}
		return 1
	})
	assert.NotEqual(t, record.Severe, m.verdict("d00").Verdict, "%+v", m.verdict("d00"))
}

// A spell of last year says nothing about today.
func TestSpellsAreForgotten(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 2
	m.run(25*time.Minute, steady)
	m.slower["d00"] = 1
	m.run(60*day, steady)
	m.events = nil
	m.slower["d00"] = 2.2
	m.run(14*time.Minute, steady)
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
}

// A drive with known spells has to be slow for half an hour. It was for less, and is fast again.
func TestADriveThatIsFastAgainDoesNotBecomeSevere(t *testing.T) {
	for _, minutes := range []int{22, 25} {
		m := newMachine(t, 1)
		m.run(36*time.Hour, steady)
		m.slower["d00"] = 2
		m.run(10*time.Minute, steady)
		m.slower["d00"] = 1
		m.run(30*time.Hour, steady)
		m.events, m.slower["d00"] = nil, 2
		m.run(time.Duration(minutes)*time.Minute, steady)
		require.False(t, m.severe("d00"))
		m.slower["d00"] = 1
		m.run(time.Hour, steady)
		assert.False(t, m.severe("d00"), "%d minutes", minutes)
	}
}

// A fast round after a time without rounds says that the drive is fast, not that it was slow all the time.
func TestAFastRoundAfterAGapIsNoSlowness(t *testing.T) {
	for _, after := range []float64{1, 2.1} {
		m := newMachine(t, 1)
		m.run(36*time.Hour, steady)
		m.slower["d00"] = 2
		m.run(10*time.Minute, steady)
		m.slower["d00"] = 1
		m.run(30*time.Hour, steady)
		m.events, m.idle, m.slower["d00"] = nil, true, 2.1
		m.run(13*time.Minute, steady)
		m.silent["d00"] = true
		m.run(30*time.Minute, steady)
		m.silent["d00"], m.slower["d00"] = false, after
		m.run(3*time.Minute, steady)
		assert.False(t, m.severe("d00"), "it was seen for 16 minutes of 30: %+v", m.verdict("d00"))
		m.run(30*time.Minute, steady)
		assert.Equal(t, after > 1, m.severe("d00"))
	}
}
