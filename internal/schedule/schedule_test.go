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

func TestNextKeepsItsPhaseWhereverTheClockIs(t *testing.T) {
	phase := 7 * time.Second
	epoch := time.Unix(0, 0)
	tests := map[string]struct{ now, want time.Time }{
		"before the phase":   {epoch.Add(3 * time.Second), epoch.Add(7 * time.Second)},
		"exactly on it":      {epoch.Add(7 * time.Second), epoch.Add(37 * time.Second)},
		"after it":           {epoch.Add(8 * time.Second), epoch.Add(37 * time.Second)},
		"clock stepped back": {epoch.Add(-50 * time.Second), epoch.Add(-23 * time.Second)},
		"years later":        {time.Date(2031, 5, 6, 7, 8, 9, 10, time.UTC), time.Date(2031, 5, 6, 7, 8, 37, 0, time.UTC)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want.UnixNano(), schedule.Next(test.now, interval, phase).UnixNano())
		})
	}
}

func TestPhaseIsStableAndSpread(t *testing.T) {
	assert.Equal(t, 23138097174*time.Nanosecond, schedule.Phase("n", "d", "p", interval), "the same over versions: a fleet keeps its rhythm")
	assert.NotEqual(t, schedule.Phase("a", "bc", "p", interval), schedule.Phase("ab", "c", "p", interval))

	// 24 drives on each of 40 nodes: no part of the interval is crowded.
	var quarters [4]int
	for node := range 40 {
		for drive := range 24 {
			phase := schedule.Phase(fmt.Sprintf("node-%d", node), fmt.Sprintf("nvme.%04d", drive), "read-4k", interval)
			require.GreaterOrEqual(t, phase, time.Duration(0))
			require.Less(t, phase, interval)
			quarters[phase*4/interval]++
		}
	}
	assert.Greater(t, slices.Min(quarters[:]), 190)
	assert.Less(t, slices.Max(quarters[:]), 290)
}

func TestFirstIsSoonAndInTheOrderOfThePhases(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	early := schedule.First(now, interval, time.Second)
	late := schedule.First(now, interval, 29*time.Second)
	assert.True(t, early.After(now))
	assert.True(t, late.After(early))
	assert.True(t, late.Before(now.Add(5*time.Second)))
}
