package state_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// The targets of testdata/version-1.txtar.
const (
	drive = "eui.01000000000000008ce38ee2023a1b01"
	array = "md-uuid-4f9a1d3c:2b7e8c10:91d0aa3e:55c2f6b7"
	loop  = "name:loop0"
	file  = "file:/srv/data"
)

// archived opens a copy of a state directory that an earlier version wrote, and lists its files.
func archived(t *testing.T, name string) (dir state.Dir, files []string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	path := t.TempDir()
	for _, f := range archive.Files {
		at := filepath.Join(path, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, f.Data, 0o600))
		files = append(files, f.Name)
	}
	dir, err = state.Open(path)
	require.NoError(t, err)
	return dir, files
}

// summary returns what an operator would miss about a target.
func summary(t *testing.T, target state.Target) map[string][]string {
	t.Helper()
	s := map[string][]string{}
	trackers, err := target.Trackers(config.Default().DriftSettings(target.File))
	require.NoError(t, err)
	for _, tracker := range trackers {
		for i, b := range target.Probes[tracker.Probe].Baselines() {
			text := fmt.Sprintf("%d rounds", b.Rounds)
			if !b.Learned.IsZero() {
				text = fmt.Sprintf("%d rounds, %s since %s, p50 %.1f µs", b.Rounds, b.Maturity, b.Learned.UTC().Format(time.DateTime), 1e6*b.Values[record.LatencyP50])
			}
			if b.Pinned {
				text += ", pinned"
			}
			s[tracker.Probe] = append(s[tracker.Probe], fmt.Sprintf("epoch %d: %s", i+1, text))
		}
		for _, n := range tracker.Explain(time.Time{}).Notes {
			s[tracker.Probe] = append(s[tracker.Probe], "note: "+n.Text)
		}
		status := tracker.Status(time.Now())
		if status.Effect != nil {
			s[tracker.Probe] = append(s[tracker.Probe], status.Effect.String())
		}
		for _, d := range status.Drift {
			if d.State.Judged() && d.State != record.Stable {
				s[tracker.Probe] = append(s[tracker.Probe], fmt.Sprintf("%s %s", d.Statistic.Short(), d.State))
			}
		}
	}
	return s
}

// The baselines, epochs, notes, pins and verdicts of version 1 are preserved.
func TestTargetsOfVersion1(t *testing.T) {
	dir, _ := archived(t, "version-1.txtar")
	targets, err := dir.Targets()
	require.NoError(t, err)
	got := map[string]map[string][]string{}
	for _, target := range targets {
		got[target.ID] = summary(t, target)
	}
	assert.Equal(t, map[string]map[string][]string{
		drive: {
			"read-4k": {
				"epoch 1: 720 rounds, final since 2026-11-15 06:00:00, p50 69.3 µs",
				"epoch 2: 719 rounds, final since 2026-11-16 22:00:00, p50 86.6 µs",
				"since firmware 0105 → 0107: p50 25 % slower (24 to 25 %), p95 24 % slower (23 to 26 %), p99 20 % slower (14 to 41 %), IOPS 25 % slower (24 to 26 %)",
			},
			"read-8k": {"epoch 1: 180 rounds, provisional since 2026-11-14 12:00:00, p50 126.0 µs, pinned"},
			"read-16k": {
				"epoch 1: 720 rounds, final since 2026-11-15 06:00:00, p50 74.9 µs",
				"p50 regressed", "p95 regressed", "p99 regressed", "IOPS regressed",
			},
			"read-128k": {
				"epoch 1: 720 rounds, final since 2026-11-16 15:34:00, p50 97.7 µs",
				"note: slower since it was moved to slot 4; the vendor knows",
			},
		},
		file: {
			"durable-write-4k": {"epoch 1: 10 rounds, early since 2026-11-22 05:20:43, p50 296.8 µs"},
			"read-128k":        {"epoch 1: 10 rounds, early since 2026-11-22 05:20:42, p50 69.2 µs, pinned"},
			"read-4k":          {"epoch 1: 10 rounds, early since 2026-11-22 05:20:30, p50 48.8 µs"},
		},
		array: {"read-4k": {"epoch 1: 29 rounds"}},
		loop: {
			"read-128k": {
				"epoch 1: 10 rounds, early since 2026-11-22 05:22:36, p50 421.4 µs",
				"epoch 2: 10 rounds, early since 2026-11-22 05:23:28, p50 985.9 µs",
			},
			"read-4k": {
				"epoch 1: 10 rounds, early since 2026-11-22 05:22:28, p50 158.7 µs",
				"epoch 2: 10 rounds, early since 2026-11-22 05:23:18, p50 608.4 µs",
			},
		},
	}, got)
}

// Everything that the detector knew is preserved under its current names.
func TestNamesOfVersion1(t *testing.T) {
	dir, files := archived(t, "version-1.txtar")
	renamed := strings.NewReplacer(`"sureness":`, `"maturity":`, `"young"`, `"early"`, `"inertia":`, `"autocorrelation_factor":`,
		`"slow_inertia":`, `"slow_autocorrelation_factor":`, `"back_height":`, `"back_threshold":`, `"ssdprobe-1"`, `"ssdprobe-2"`)
	compared := 0
	for _, f := range files {
		if filepath.Dir(f) != "targets" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir.Dir(), filepath.FromSlash(f)))
		require.NoError(t, err)
		for _, name := range []string{"sureness", "young", "inertia", "slow_inertia", "back_height"} {
			if strings.Contains(string(text), `"`+name+`"`) {
				compared++
			}
		}
		var want struct {
			Data state.Target `json:"data"`
		}
		require.NoError(t, json.Unmarshal([]byte(renamed.Replace(string(text))), &want))
		got, found, err := dir.Target(want.Data.ID)
		require.NoError(t, err)
		require.True(t, found)
		assert.Equal(t, want.Data, got, f)
	}
	assert.GreaterOrEqual(t, compared, 5, "the archive has these names")
}

// A round under the conditions last seen belongs to the last epoch, both before and after the target is saved again.
func TestMigrationBeginsNoEpoch(t *testing.T) {
	dir, _ := archived(t, "version-1.txtar")
	targets, err := dir.Targets()
	require.NoError(t, err)
	for _, target := range targets {
		require.NoError(t, dir.SaveTarget(target))
		saved, found, err := dir.Target(target.ID)
		require.NoError(t, err)
		require.True(t, found)
		assert.Equal(t, target, saved)
		for _, stored := range []state.Target{target, saved} {
			trackers, err := stored.Trackers(config.Default().DriftSettings(stored.File))
			require.NoError(t, err)
			for _, tracker := range trackers {
				before := stored.Probes[tracker.Probe].Baselines()
				round := drift.Round{Time: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), Values: drift.Values{1e-4, 2e-4, 3e-4, 9000}}
				for _, event := range tracker.AddRound(round, target.Conditions) {
					assert.Empty(t, event.Changes, "%s %s", target.ID, tracker.Probe)
				}
				assert.Len(t, tracker.State().Baselines(), len(before), "%s %s", target.ID, tracker.Probe)
			}
		}
	}
}

func TestRunsAndRequestsOfVersion1(t *testing.T) {
	dir, _ := archived(t, "version-1.txtar")
	for id, n := range map[string]int{file: 2, loop: 1} {
		runs, err := dir.Runs(id)
		require.NoError(t, err)
		require.Len(t, runs, 1)
		assert.Equal(t, "quick", runs[0].Suite)
		assert.False(t, runs[0].Complete.IsZero())
		assert.Len(t, runs[0].Last.Steps, 3)
		assert.Equal(t, n > 1, runs[0].Comparison.Before.TargetID != "", "an earlier run under the same conditions")
	}
	saved, err := dir.RunBaselines()
	require.NoError(t, err)
	require.Len(t, saved, 2)
	assert.Equal(t, []string{"probe", "quick"}, []string{saved[0].Suite, saved[1].Suite})
	runs, err := dir.Runs(file)
	require.NoError(t, err)
	assert.Equal(t, saved[1].Conditions, runs[0].Last.Conditions, "the two may be compared")
	urls, err := dir.Announced()
	require.NoError(t, err)
	assert.Equal(t, []string{"http://127.0.0.1:10941/"}, urls)

	names, err := dir.Requests()
	require.NoError(t, err)
	require.Len(t, names, 1)
	request, err := dir.Request(names[0])
	require.NoError(t, err)
	_, err = dir.Apply(request)
	require.NoError(t, err)
	target, _, err := dir.Target(loop)
	require.NoError(t, err)
	assert.True(t, target.Probes["read-4k"].Pinned(&target.Conditions))
}

// The migration sets no value aside. What it writes has the current version, which an older ssdprobe refuses.
func TestMigrationKeepsEveryFile(t *testing.T) {
	dir, files := archived(t, "version-1.txtar")
	kinds := map[string]bool{}
	for _, f := range files {
		kinds[filepath.Dir(f)] = true
	}
	for kind := range kinds {
		names, err := dir.Names(kind)
		require.NoError(t, err)
		for _, name := range names {
			var value any
			_, err := dir.Load(kind, name, &value)
			require.NoError(t, err)
			require.NoError(t, dir.Save(kind, name, value))
		}
	}
	old, err := store.Open(dir.Dir(), store.Schema{Version: 1})
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir.Dir(), filepath.FromSlash(f)))
		require.NoError(t, err, f)
		_, found, err := state.Unwrap(text)
		require.NoError(t, err, f)
		assert.True(t, found, f)
		err = old.LoadEach(filepath.Dir(f), func() any { return new(any) }, func(any) {})
		require.ErrorIs(t, err, store.ErrNewer, f)
	}
}

// The engine of version 1 measured equally: under this engine, the epochs of all probes continue, and no condition has
// changed.
func TestAnotherEngineBeginsNoEpoch(t *testing.T) {
	dir, _ := archived(t, "version-1.txtar")
	targets, err := dir.Targets()
	require.NoError(t, err)
	rounds := 0
	for _, target := range targets {
		assert.Contains(t, []string{"", probe.Name}, target.Conditions.Engine)
		trackers, err := target.Trackers(config.Default().DriftSettings(target.File))
		require.NoError(t, err)
		for _, tracker := range trackers {
			before := target.Probes[tracker.Probe]
			now := before.Epochs[len(before.Epochs)-1].Conditions
			now.Engine = probe.Name
			latency := record.Histogram{{Latency: 100 * time.Microsecond, Count: 100}}
			events := tracker.Add(record.Measurement{
				Start: before.Last.Add(time.Second), Outcome: record.OutcomeOK, Duration: latency.Sum(), Latency: latency, Conditions: now,
			})
			for _, e := range events {
				assert.Empty(t, e.Changes, "%s, %s", target.ID, tracker.Probe)
			}
			assert.Len(t, tracker.State().Epochs, len(before.Epochs))
			rounds++
		}
	}
	assert.Greater(t, rounds, 8)
}
