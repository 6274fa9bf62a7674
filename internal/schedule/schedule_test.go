package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

const interval = 30 * time.Second

// starts returns the next n starts after the given time.
func starts(r schedule.Rhythm, now time.Time, n int) []time.Time {
	all := make([]time.Time, n)
	for i := range all {
		now = r.Next(now)
		all[i] = now
	}
	return all
}

func TestARhythmFollowsFromTheNamesAndTheClock(t *testing.T) {
	r := schedule.NewRhythm("n", "d", "p", interval)
	begin := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	all := starts(r, begin, 100)
	assert.Equal(t, "09:00:21.034", all[0].Format("15:04:05.000"), "the same over versions: a fleet keeps its rhythm")
	for i, start := range all[1:] {
		before := all[i]
		assert.True(t, r.Next(before.Add(time.Nanosecond)).Equal(start), "a restart at any time")
		assert.True(t, r.Next(start.Add(-time.Nanosecond)).Equal(start))
	}
	for name, now := range map[string]time.Time{
		"before 1970":      time.Unix(0, 0).Add(-50 * time.Second),
		"1970":             time.Unix(0, 0),
		"years later":      time.Date(2031, 5, 6, 7, 8, 9, 10, time.UTC),
		"in another place": begin.In(time.FixedZone("", 7200)),
	} {
		next := r.Next(now)
		assert.True(t, next.After(now), name)
		assert.LessOrEqual(t, next.Sub(now), interval*3/2, name)
	}
	other := schedule.NewRhythm("a", "bc", "p", interval)
	assert.NotEqual(t, other, schedule.NewRhythm("ab", "c", "p", interval))
}

// A probe sometimes coincides with an event that recurs every 30 s, whatever the probe's
// phase.
func TestStartsAreMovedWithinBounds(t *testing.T) {
	const rounds = 2880 // a day
	r := schedule.NewRhythm("node", "eui.1", "read-4k", interval)
	begin := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	all := starts(r, begin, rounds)
	var places [30]int // index: second within the interval
	for i, start := range all {
		places[start.Unix()%30]++
		if i > 0 {
			gap := start.Sub(all[i-1])
			require.GreaterOrEqual(t, gap, interval/2)
			require.LessOrEqual(t, gap, interval*3/2)
		}
	}
	met := slices.DeleteFunc(places[:], func(n int) bool { return n == 0 })
	assert.GreaterOrEqual(t, len(met), 15, "half of the interval is met")
	assert.Less(t, slices.Max(met), rounds/10, "no second of it is met most of the time")
	assert.InDelta(t, 24*time.Hour, all[rounds-1].Sub(begin), float64(interval*3/2), "the mean is the interval")
}

func TestRhythmsAreSpread(t *testing.T) {
	// 24 drives on each of 40 nodes: at no time is a part of the interval crowded.
	for _, now := range []time.Time{time.Unix(1_000_000, 0), time.Date(2026, 11, 22, 9, 0, 7, 0, time.UTC)} {
		var quarters [4]int
		for node := range 40 {
			for drive := range 24 {
				r := schedule.NewRhythm(fmt.Sprintf("node-%d", node), fmt.Sprintf("nvme.%04d", drive), "read-4k", interval)
				quarters[r.Next(now).UnixNano()%int64(interval)*4/int64(interval)]++
			}
		}
		assert.Greater(t, slices.Min(quarters[:]), 180)
		assert.Less(t, slices.Max(quarters[:]), 300)
	}
}

func TestFirstIsSoonAndSpread(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	places := map[time.Duration]bool{}
	for drive := range 24 {
		first := schedule.NewRhythm("n", fmt.Sprint(drive), "read-4k", interval).First(now)
		assert.False(t, first.Before(now))
		assert.True(t, first.Before(now.Add(5*time.Second)))
		places[first.Sub(now)] = true
	}
	assert.Len(t, places, 24)
}

func TestALateRoundIsNotFollowedClosely(t *testing.T) {
	r := schedule.NewRhythm("n", "d", "p", interval)
	started := time.Unix(1_000_000, 0)
	assert.Equal(t, started.Add(15*time.Second), r.Apart(started, started.Add(2*time.Second)))
	assert.Equal(t, started.Add(16*time.Second), r.Apart(started, started.Add(16*time.Second)))
}
