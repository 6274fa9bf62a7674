package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// One drive folds its cache for half an hour: few reads take so long that the mean is six times as long, and the median is as ever.
func TestFewSlowIOsMustLastAsATailMust(t *testing.T) {
	m := newMachine(t, 1)
	m.run(20*time.Hour, steady)
	for range 3 {
		m.few = 6
		m.run(25*time.Minute, steady)
		m.few = 0
		m.run(7*time.Hour, steady)
	}
	for _, e := range m.events {
		assert.False(t, e.Verdict.Blames() && e.Statistic == "", "%+v", e)
	}
	m.few = 6
	m.run(70*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict, "that is more than a spell: %+v", m.verdict("d00"))
}

// It takes a day to know what is normal for a tail.
func TestFewSlowIOsAreNotJudgedOnTheFirstDay(t *testing.T) {
	m := newMachine(t, 1)
	m.run(6*time.Hour, steady)
	m.few = 3
	m.run(2*time.Hour, steady)
	assert.Equal(t, record.Watch, m.verdict("d00").Verdict, "%+v", m.verdict("d00"))
}

// A drive at half its speed shows that in the median, too, and is found as fast as ever.
func TestFewSlowIOsHideNoSlowDrive(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.few = 1.5
	m.slower["d00"] = 2.2
	m.run(10*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict, "%+v", m.verdict("d00"))
}
