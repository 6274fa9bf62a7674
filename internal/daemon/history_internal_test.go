package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The history contains the results of real rounds and of traffic, also after a restart.
func TestHistorySurvivesARestart(t *testing.T) {
	w := watchFile(t, func(s *spec) { s.Probes[0].Interval, s.Drift = time.Second, drift.Default() })
	w.awaitRounds(t, "read-4k", 2)
	w.shared.judging.attach(w) // as discovery does, because the window comes from the tracker
	w.rememberTraffic(record.Traffic{
		Time: time.Now(), Length: 30 * time.Second, Span: 30 * time.Second, Work: record.Work{Reads: 40},
		Read: record.Served{IOs: 1200, MeanLatency: time.Millisecond},
	})
	d := &Daemon{watches: map[string]*watch{w.spec.ID: w}}
	h, ok := d.History(w.spec.ID)
	require.True(t, ok)
	mean := func(h *history.History, source string, f history.Figure) float64 {
		points := h.Points(history.Key{Source: source, Figure: f}, history.Day(), time.Now())
		require.NotEmpty(t, points, "%s %s", source, f)
		return points[len(points)-1].Mean
	}
	assert.NotContains(t, h.Keys(), history.Key{Source: "read-4k", Figure: history.P99}, "it takes 1 000 I/Os")
	testenv.Eventually(t, "a p99", func() bool {
		return len(h.Points(history.Key{Source: "read-4k", Figure: history.P99}, history.Day(), time.Now())) > 0
	})
	p50, p99 := mean(h, "read-4k", history.P50), mean(h, "read-4k", history.P99)
	assert.Positive(t, p50)
	assert.GreaterOrEqual(t, p99, p50)
	assert.Positive(t, mean(h, "read-4k", history.IOPS))
	assert.InEpsilon(t, 40, mean(h, record.SourceTraffic, history.Reads), 1e-9)
	assert.InEpsilon(t, 0.001, mean(h, record.SourceTraffic, history.ReadLatency), 1e-9)
	assert.NotContains(t, h.Keys(), history.Key{Source: record.SourceTraffic, Figure: history.WriteLatency}, "nobody wrote")
	_, ok = d.History("eui.9")
	assert.False(t, ok)

	w.saveHistory(t.Context(), saveTimeout)
	again := &watch{target: w.target}
	again.restoreHistory(time.Now())
	assert.InEpsilon(t, mean(h, record.SourceTraffic, history.Reads), mean(&again.history, record.SourceTraffic, history.Reads), 1e-9)
	assert.Positive(t, mean(&again.history, "read-4k", history.P50))
}

// A clock that was set back by a month does not leave the history unsaved for a month.
func TestAHistoryIsSavedAfterTheClockWasSetBack(t *testing.T) {
	w := quietWatch(t)
	now := time.Now()
	assert.False(t, w.historyIsDue(now))
	assert.True(t, w.historyIsDue(now.Add(saveHistoryEvery)))
	assert.True(t, w.historyIsDue(now.AddDate(0, -1, 0)))
}

// While the state directory is full, and nothing is stored therefore, a reload loses no plots.
func TestAHistoryOutlivesAReload(t *testing.T) {
	w := quietWatch(t)
	key := history.Key{Source: "read-4k", Figure: history.P50}
	w.history.Add(key, time.Now(), 1, 1)
	after := newWatch(w.spec, sighting{}, w.access, w.shared)
	after.countOn(w)
	assert.Len(t, after.history.Points(key, history.Hour(), time.Now()), 1)

	w.unread.Store(true) // it began anew, and a directory that can be read now has more
	again := newWatch(w.spec, sighting{}, w.access, w.shared)
	again.countOn(w)
	assert.Empty(t, again.history.Keys())
}

// Only the plots are lost.
func TestAHistoryThatMakesNoSenseIsSetAside(t *testing.T) {
	path := t.TempDir()
	dir, err := state.Open(path)
	require.NoError(t, err)
	require.NoError(t, dir.SaveHistory("eui.1", history.State{Series: []history.KeptSeries{{Spans: make([]history.Series, 1)}}}))
	w := &watch{target: target{shared: &shared{state: newStorage(dir, slog.New(slog.DiscardHandler))}}}
	w.spec.ID = "eui.1"
	w.restoreHistory(time.Now())
	assert.Empty(t, w.history.Keys())
	_, warnings := w.shared.state.status()
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0].Text, "1 spans instead of 3")
	aside, err := filepath.Glob(filepath.Join(path, "histories", "*damaged*"))
	require.NoError(t, err)
	if assert.Len(t, aside, 1) {
		assert.FileExists(t, aside[0])
	}
	w.saveHistory(t.Context(), saveTimeout)
	_, warnings = w.shared.state.status()
	assert.Empty(t, warnings, "the next save ends it")
	_, err = os.Stat(aside[0])
	require.NoError(t, err)
}
