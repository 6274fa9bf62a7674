package judge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// blamed returns how often a verdict blamed a drive or the host, and for how long in all.
func blamed(events []judge.Event, end time.Time) (times int, long time.Duration) {
	since := map[string]time.Time{}
	for _, e := range events {
		if e.Statistic != "" && e.Drive != "" { // of a single statistic of a drive
			continue
		}
		bad := e.Verdict.Blames()
		from, was := since[e.Drive]
		switch {
		case bad && !was:
			since[e.Drive] = e.Time
			times++
		case !bad && was:
			long += e.Time.Sub(from)
			delete(since, e.Drive)
		}
	}
	for _, from := range since {
		long += end.Sub(from)
	}
	return times, long
}

// What makes drives slower for two hours each night or each Sunday is told once. Without a memory of weeks, it came back
// within a week, and so was held until the next one: the alert never ended.
func TestAJobThatRecursIsToldOnce(t *testing.T) {
	testenv.Long(t)
	for _, of := range []struct {
		name         string
		slow, drives int
	}{{"alone", 1, 1}, {"one of two", 1, 2}, {"one of six", 1, 6}, {"three of six", 3, 6}, {"a host", 6, 6}} {
		for when, apart := range map[string]time.Duration{"each night": day, "each week": 7 * day} {
			t.Run(of.name+", "+when, func(t *testing.T) {
				m := newMachine(t, of.drives)
				m.run(6*day+22*time.Hour, steady)
				for k := range 5 {
					for _, id := range m.drives[:of.slow] {
						m.slower[id] = 1.8
					}
					job := 2*time.Hour + time.Duration(k%3-1)*10*time.Minute
					m.run(job, steady)
					for _, id := range m.drives[:of.slow] {
						m.slower[id] = 1
					}
					m.run(apart-job, steady)
				}
				times, long := blamed(m.events, m.now())
				t.Logf("blamed %d times, for %s in all", times, long)
				assert.Positive(t, times)
				assert.LessOrEqual(t, times, of.slow)
				assert.LessOrEqual(t, long, time.Duration(of.slow)*12*time.Hour)
			})
		}
	}
}

// What recurs may be expected of a drive and of its host at the same time. No more is taken off than the drive is slower by: a change
// of conditions meanwhile makes nothing faster.
func TestAChangeDuringANightlyJobHasNoEffect(t *testing.T) {
	m := newMachine(t, 5)
	m.conditions.Firmware = "A"
	night := func(own, host float64, until time.Duration) {
		m.slower["d02"] = own
		m.run(2*time.Hour, slower(host))
		m.slower["d02"] = 1
		m.run(until-2*time.Hour, steady)
	}
	night(1.5, 1, day)
	night(1.5, 1, day)
	night(1, 1.5, day)
	night(1, 1.5, day-10*time.Minute)
	m.changed = map[string]record.Conditions{"d02": {Firmware: "B"}}
	m.run(10*time.Minute, steady)
	night(1, 1.5, day)
	for _, x := range m.node.Tracker("d02", "read-4k").Drift() {
		assert.InDelta(t, 1, x.Ratio, 0.05, x.Statistic)
	}
	assert.Equal(t, record.Healthy, m.verdict("d02").Verdict)
}

// A drive that really got slower stays slower than its peers while something recurs.
func TestWhatRecursEndsNoLevel(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 5)
	run := func(d time.Duration, by float64) (missing int) {
		m.slower["d00"] = by
		for range int(d / time.Hour) {
			m.run(time.Hour, steady)
			if !m.isLevel("d00") {
				missing++
			}
		}
		return missing
	}
	for range 3 {
		run(20*time.Hour, 1)
		run(4*time.Hour, 2)
	}
	run(20*time.Hour, 1)
	run(12*time.Hour, 2)
	for range 3 {
		assert.Zero(t, run(day, 2))
	}
}

// isLevel reports whether a drive is found to be slower than its peers.
func (m *machine) isLevel(id string) bool {
	return slices.ContainsFunc(m.node.Beside(id), func(b record.Beside) bool { return b.Far })
}
