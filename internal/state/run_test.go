package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// A run that was just made is kept, although a clock that was set back makes it the oldest.
func TestAClockSetBackDropsNoNewRun(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	day := func(n int) time.Time { return time.Date(2026, 5, n, 3, 0, 0, 0, time.UTC) }
	for _, n := range []int{20, 21, 10} {
		require.NoError(t, dir.KeepRun(record.RunReport{Suite: "quick", TargetID: "eui.1", Started: day(n), Steps: []record.Step{{Name: "a"}}}, 2))
	}
	names, err := dir.Names("runs")
	require.NoError(t, err)
	assert.Equal(t, []string{"quick eui.1 20260510T030000.000", "quick eui.1 20260521T030000.000"}, names)
}

// A clock that was ahead dated a run of the future, which is neither the last one nor the last to be dropped.
func TestARunOfTheFutureIsTheOldest(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	now := time.Now()
	keep := func(started time.Time, keep int) {
		require.NoError(t, dir.KeepRun(record.RunReport{Suite: "quick", TargetID: "eui.1", Started: started, Steps: []record.Step{{Name: "a"}}}, keep))
	}
	keep(now.AddDate(1, 0, 0), 3)
	keep(now.AddDate(0, 0, -2), 3)
	keep(now.AddDate(0, 0, -1), 3)
	last := func() time.Time {
		runs, err := dir.Runs("eui.1")
		require.NoError(t, err)
		require.Len(t, runs, 1)
		return runs[0].Last.Started
	}
	assert.WithinDuration(t, now.AddDate(0, 0, -1), last(), 0)
	keep(now, 3)
	names, err := dir.Names("runs")
	require.NoError(t, err)
	assert.Len(t, names, 3)
	for _, name := range names {
		assert.NotContains(t, name, now.AddDate(1, 0, 0).UTC().Format("2006"), "it was dropped first")
	}
	assert.WithinDuration(t, now, last(), 0)
}

// The path of a target may be that of another one, a space and more.
func TestRunsOfATargetWithASpaceInItsPathAreItsOwn(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	const one, other = "file:/srv/disk", "file:/srv/disk 1"
	for i, id := range []string{other, one} {
		started := time.Date(2026, 5, 4+i, 3, 0, 0, 0, time.UTC)
		require.NoError(t, dir.KeepRun(record.RunReport{Suite: "quick", TargetID: id, Started: started, Steps: []record.Step{{Name: "a"}}}, 1))
	}
	for _, id := range []string{one, other} {
		runs, err := dir.Runs(id)
		require.NoError(t, err)
		require.Len(t, runs, 1)
		assert.Equal(t, id, runs[0].Last.TargetID)
	}
}

// A node with many drives has thousands of reports. Reading all of them for each drive would take longer than the state
// directory has to answer, and no drive would be watched.
func TestOnlyTheReportsOfATargetAreRead(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	long := "file:/" + strings.Repeat("deep/", 60)
	report := func(id string) record.RunReport {
		return record.RunReport{Suite: "quick", TargetID: id, Started: time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC), Steps: []record.Step{{Name: "a"}}}
	}
	for _, id := range []string{"eui.1", long} {
		require.NoError(t, dir.KeepRun(report(id), 2))
	}
	damaged := filepath.Join(dir.Dir(), "runs", "quick%20eui.2%2020260504T030000.000.json")
	require.NoError(t, os.WriteFile(damaged, []byte("{"), 0o600))
	for _, id := range []string{"eui.1", long} {
		runs, err := dir.Runs(id)
		require.NoError(t, err)
		require.Len(t, runs, 1)
		assert.Equal(t, id, runs[0].Last.TargetID)
		require.NoError(t, dir.KeepRun(report(id), 2))
	}
	assert.FileExists(t, damaged)
}

// A thousand reports take longer to read than the start of a watch may wait. Only the last one of each suite is read then.
func TestAStartReadsOnlyTheLastReports(t *testing.T) {
	for name, id := range map[string]string{"a drive": "eui.1", "a file": "file:/srv/data 1/µ"} {
		t.Run(name, func(t *testing.T) {
			dir, err := state.Open(t.TempDir())
			require.NoError(t, err)
			keep := func(suite string, day int) {
				require.NoError(t, dir.KeepRun(record.RunReport{
					Suite: suite, TargetID: id, Started: time.Date(2026, 5, day, 3, 0, 0, 0, time.UTC), Steps: []record.Step{{Name: "a"}},
					Finished: time.Date(2026, 5, day, 4, 0, 0, 0, time.UTC),
				}, 9))
			}
			keep("quick", 1)
			keep("burst", 2)
			keep("quick", 3)
			files, err := filepath.Glob(filepath.Join(dir.Dir(), "runs", "*"))
			require.NoError(t, err)
			require.Len(t, files, 3)
			for _, file := range files {
				require.NoError(t, os.Truncate(file, 100))
			}
			keep("burst", 4)
			keep("quick", 5)
			last, err := dir.LastRuns(id)
			require.NoError(t, err)
			require.Len(t, last, 2)
			for i, day := range []int{4, 5} {
				assert.Equal(t, day, last[i].Last.Started.Day())
				assert.Equal(t, last[i].Last.Finished, last[i].Complete)
				assert.Nil(t, last[i].Comparison)
			}
			for _, file := range files {
				assert.FileExists(t, file, "neither a start nor a run that is kept reads the others")
			}

			runs, err := dir.Runs(id)
			damaged := new(store.DamagedError)
			require.ErrorAs(t, err, &damaged)
			assert.Len(t, runs, 2)
			for _, file := range files {
				assert.NoFileExists(t, file, "set aside by who compares")
			}
			_, err = dir.Runs(id)
			require.NoError(t, err, "told once")
		})
	}
}

// A last report that was cut is told once and set aside; the one before takes its place.
func TestADamagedLastReportIsSetAside(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	for day := 4; day < 6; day++ {
		require.NoError(t, dir.KeepRun(record.RunReport{
			Suite: "quick", TargetID: "eui.1", Started: time.Date(2026, 5, day, 3, 0, 0, 0, time.UTC), Steps: []record.Step{{Name: "a"}},
		}, 2))
	}
	require.NoError(t, os.Truncate(filepath.Join(dir.Dir(), "runs", "quick%20eui.1%2020260505T030000.000.json"), 100))
	runs, err := dir.LastRuns("eui.1")
	damaged := new(store.DamagedError)
	require.ErrorAs(t, err, &damaged)
	assert.FileExists(t, damaged.SetAside)
	require.Len(t, runs, 1)
	assert.Equal(t, 4, runs[0].Last.Started.Day())
	_, err = dir.LastRuns("eui.1")
	require.NoError(t, err)
}

// A comparison finds out when the last complete run was where the last one ended early.
func TestAComparisonFindsTheLastCompleteRun(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	keep := func(day int, warnings ...record.Warning) {
		require.NoError(t, dir.KeepRun(record.RunReport{
			Suite: "quick", TargetID: "eui.1", Started: time.Date(2026, 5, day, 3, 0, 0, 0, time.UTC), Steps: []record.Step{{Name: "a"}},
			Finished: time.Date(2026, 5, day, 4, 0, 0, 0, time.UTC), Warnings: warnings,
		}, 9))
	}
	short := record.Warning{Code: record.WarnShort, Text: "Stopped in step 2 of 3: fio was killed."}
	keep(1)
	keep(2)
	keep(3, short)
	keep(4, short)
	runs, err := dir.Runs("eui.1")
	require.NoError(t, err)
	require.Len(t, runs, 1)
	assert.Equal(t, 4, runs[0].Last.Started.Day())
	assert.Equal(t, 2, runs[0].Complete.Day())
}
