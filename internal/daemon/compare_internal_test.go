package daemon

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
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

	w.suites.compareRuns(t.Context())
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
	after.suites.compareRuns(t.Context())
	assert.Equal(t, runs[0].Comparison, after.suites.list()[0].Comparison, "nor reads all again")
}

// While the state directory is full, a reload does not show the run before the last one, as if that had not been.
func TestTheLastRunOutlivesAReload(t *testing.T) {
	d := newBench(t).discovery()
	require.NoError(t, d.shared.state.KeepRun(ranAt("s1", at3(1)), 20))
	s := spec{Target: measure.Target{ID: "s1", Path: "/dev/sda"}, Unresolved: true}
	w := newWatch(s, sighting{device: sata()}, newAccess(), d.shared)
	w.suites.end("quick", record.RunShort, ranAt("s1", at3(2)), errQuietBegins) // and it is not stored
	after := newWatch(s, sighting{device: sata()}, w.access, d.shared)
	after.countOn(w)
	assert.Equal(t, w.suites.list(), after.suites.list())
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
	s := newSuites(nil, nil, []record.RunStatus{{Suite: "quick", Last: &last}})
	slow := s.list()[0]
	slow.Comparison = &record.Comparison{Runs: 7}
	s.compared(slow)
	assert.Equal(t, slow.Comparison, s.list()[0].Comparison)
	newer := ranAt("s1", at3(3))
	s.statuses[0].Last, s.statuses[0].Comparison = &newer, nil
	s.compared(slow)
	assert.Nil(t, s.list()[0].Comparison)
}

// A state directory that hangs while a run ends neither stops the calendar nor loses the report.
func TestAHungStateDirectoryDoesNotHoldUpTheCalendar(t *testing.T) {
	runs := []config.Run{{Suite: "quick", Keep: 20}, {Suite: "none"}}
	w := &watch{}
	c := toRun(t, &runs, map[string]*watch{"s1": w})
	w.shared = c.shared
	for n := 1; n < 3; n++ {
		require.NoError(t, c.state.KeepRun(ranAt("s1", at3(n)), 20))
	}
	hung := testenv.HungFilesystem(t, c.state.Dir.Dir())
	list := func(d state.Dir) error { _, err := d.Requests(); return err }
	require.True(t, guard.Hangs(c.state.do(t.Context(), time.Millisecond, list)))
	report := ranAt("s1", at3(3))
	w.suites.begin("quick", report.Started)
	w.suites.end("quick", record.RunOK, report, nil)
	assert.Zero(t, w.suites.list()[0].Since, "no longer in progress, whatever the directory does")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.keepReport(t.Context(), w, runs[0], report)
		c.execute(t.Context(), runs[1], time.Now().Add(time.Hour))
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		hung.End(t)
		require.Fail(t, "the calendar hangs")
	}
	assert.Equal(t, report.Started, w.suites.list()[0].Last.Started)
	assert.EqualValues(t, 1, w.suites.list()[1].Outcomes[record.RunError], "the next run has begun and ended")

	answers := make(chan struct{})
	c.state.guard.Finally(func() { close(answers) })
	hung.End(t)
	<-answers
	c.state.pay(t.Context())
	names, err := c.state.RunsLike(report)
	require.NoError(t, err)
	assert.Len(t, names, 3)

	w.suites.compareRuns(t.Context())
	assert.Equal(t, 2, w.suites.list()[0].Comparison.Runs)
}

// A run that ended while the state directory hung is compared when the directory answers, not only after the next run.
func TestARunThatEndedDuringAHangIsCompared(t *testing.T) {
	runs := []config.Run{{Suite: "quick", Keep: 20}}
	w := &watch{}
	c := toRun(t, &runs, map[string]*watch{"s1": w})
	w.shared = c.shared
	for n := 1; n < 3; n++ {
		require.NoError(t, c.state.KeepRun(ranAt("s1", at3(n)), 20))
	}
	synctest.Test(t, func(t *testing.T) {
		w.suites.uncompared = make(chan struct{}, 1)
		go w.suites.keepCompared(t.Context())
		synctest.Wait()
		answers := make(chan struct{})
		require.True(t, guard.Hangs(c.state.do(t.Context(), time.Millisecond, func(state.Dir) error { <-answers; return nil })))
		report := ranAt("s1", at3(3))
		w.suites.end("quick", record.RunOK, report, nil)
		c.keepReport(t.Context(), w, runs[0], report)
		require.Nil(t, w.suites.list()[0].Comparison)
		close(answers)
		<-time.After(2 * busyRetry) // of the time of the bubble
		require.NotNil(t, w.suites.list()[0].Comparison)
		assert.Equal(t, 2, w.suites.list()[0].Comparison.Runs)
	})
}
