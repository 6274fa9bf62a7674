package daemon

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ranAt returns the report of a run that measured something.
func ranAt(id string, started time.Time) record.RunReport {
	return record.RunReport{
		Suite: "quick", TargetID: id, Started: started, Finished: started.Add(time.Hour),
		Steps: []record.Step{{Name: "random-read-qd1", Read: &record.Result{IOPS: 1000}}},
	}
}

// However many reports are kept, a watch begins before they are read: it would take longer than the state directory has
// to answer.
func TestAWatchBeginsBeforeItsRunsAreCompared(t *testing.T) {
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	for n := 1; n < 7; n++ {
		require.NoError(t, d.shared.state.KeepRun(ranAt("s1", at3(n)), 20))
	}
	damaged := filepath.Join(d.shared.state.Dir.Dir(), "runs", "quick%20s1%2020261103T030000.000.json")
	require.NoError(t, os.Truncate(damaged, 100))
	s := spec{Target: measure.Target{ID: "s1", Path: "/dev/sda"}, Unresolved: true}
	w := newWatch(s, sighting{device: sata()}, newAccess(), d.shared)
	runs := w.suites.list()
	require.Len(t, runs, 1)
	assert.Equal(t, at3(6), runs[0].Last.Started)
	assert.Nil(t, runs[0].Comparison)
	require.FileExists(t, damaged, "an earlier report is not read")
	_, warnings := d.shared.state.status()
	assert.Empty(t, warnings)

	w.compareRuns(t.Context())
	runs = w.suites.list()
	require.NotNil(t, runs[0].Comparison)
	assert.Equal(t, 4, runs[0].Comparison.Runs, "with all others that can be read")
	assert.NoFileExists(t, damaged)
	_, warnings = d.shared.state.status()
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0].Text, "it was set aside as "+damaged)

	after := newWatch(s, sighting{device: sata()}, w.access, d.shared)
	after.countOn(w)
	assert.Equal(t, runs[0].Comparison, after.suites.list()[0].Comparison, "a reload interrupts no metric")
	require.NoError(t, os.RemoveAll(filepath.Dir(damaged)))
	after.compareRuns(t.Context())
	assert.Equal(t, runs[0].Comparison, after.suites.list()[0].Comparison, "nor reads all again")
}

// A watch that is started compares its runs by itself.
func TestAWatchThatRunsComparesItsRuns(t *testing.T) {
	d := newBench(t).discovery()
	t.Cleanup(d.stopAll)
	for n := 1; n < 3; n++ {
		require.NoError(t, d.shared.state.KeepRun(ranAt("s1", at3(n)), 20))
	}
	d.start(t.Context(), context.WithoutCancel(t.Context()), wanted{
		spec: spec{Target: measure.Target{ID: "s1", Path: "/dev/sda"}, Unresolved: true}, seen: sighting{device: sata()},
	})
	require.Eventually(t, func() bool { return d.current()["s1"].suites.list()[0].Comparison != nil }, time.Minute, time.Millisecond)
}

// A comparison that was slow does not take the place of that of a newer run.
func TestAComparisonIsOfTheLastRun(t *testing.T) {
	last := ranAt("s1", at3(2))
	s := newSuites(nil, []record.RunStatus{{Suite: "quick", Last: &last}})
	slow := s.list()[0]
	slow.Comparison = &record.Comparison{Runs: 7}
	s.compared(slow)
	assert.Equal(t, slow.Comparison, s.list()[0].Comparison)
	newer := ranAt("s1", at3(3))
	s.statuses[0].Last, s.statuses[0].Comparison = &newer, nil
	s.compared(slow)
	assert.Nil(t, s.list()[0].Comparison)
}
