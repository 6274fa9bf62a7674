package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// onceAnHour keeps the stored state unchanged for as long as the test runs.
const onceAnHour = `
probes: [{name: read-4k, interval: 1h, ios: 64}]
`

// learnSlowly replaces what is stored about the drives by a history: after a day and a half the host got 1.3
// times slower, and one drive another 1.5 times. The history ends now.
func learnSlowly(t *testing.T, dir state.Dir, drives []record.TargetStatus, slow string) {
	t.Helper()
	learn(t, dir, drives, 1.3, slow, 1.5)
}

// learn stores a history in which the host and one drive got slower by these factors.
func learn(t *testing.T, dir state.Dir, drives []record.TargetStatus, host float64, slow string, drive float64) {
	t.Helper()
	node, now := judge.NewNode(drift.Default()), time.Now().Truncate(time.Minute)
	trackers := map[string]*drift.Tracker{}
	for _, d := range drives {
		node.AddDrive(judge.Drive{ID: d.ID, Model: d.Device.Model, SizeBytes: d.Device.SizeBytes, Rotational: d.Device.Rotational, Group: d.ID})
		trackers[d.ID] = node.Tracker(d.ID, "read-4k")
	}
	const minutes = 40 * 60
	for minute := range minutes {
		at := now.Add(time.Duration(minute-minutes) * time.Minute)
		for i, d := range drives {
			x := 5e-3 * (1 + 0.02*float64((minute*7+i*5)%17-8)/8)
			if minute > 36*60 {
				x *= host
			}
			if minute > 38*60 && d.ID == slow {
				x *= drive
			}
			node.Round(d.ID, "read-4k", drift.Round{Time: at, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}}, d.Conditions)
		}
		node.Advance(at)
	}
	for _, d := range drives {
		stored, found, err := dir.Target(d.ID)
		require.NoError(t, err)
		require.True(t, found)
		stored.Probes = map[string]drift.State{"read-4k": trackers[d.ID].State()}
		require.NoError(t, dir.SaveTarget(stored))
	}
	require.NoError(t, dir.SaveNode(node.State(now)))
}

// The verdicts on the drives and on the host, and their onsets, are the same after a restart.
func TestVerdictsSurviveARestart(t *testing.T) {
	t.Parallel()
	const size = 16<<20 + 4096*77 // no other test uses this size
	for range 4 {
		testenv.LoopDevice(t, size, testenv.Options{Random: true})
	}
	path := t.TempDir()
	config := file(t, "c.yaml", fmt.Sprintf("lock_dir: %s\ndiscovery_interval: 1s\ndevices: {include: [{name: \"loop*\", min_size: %[2]d, max_size: %[2]d}]}\n", t.TempDir(), size)+onceAnHour)
	// once runs a daemon until it has reported what it knows.
	once := func(look func(url string)) (known record.Snapshot) {
		p, url := startDaemon(t, path, config)
		eventually(t, "the drives are here", func() bool {
			code, body := get(t, url+"api/v1/devices")
			require.Equal(t, http.StatusOK, code, body)
			known = record.Snapshot{}
			require.NoError(t, json.Unmarshal([]byte(body), &known))
			return len(known.Targets) == 4
		})
		look(url)
		p.Signal(t, syscall.SIGTERM)
		require.Equal(t, 0, p.Wait(t), p.Stderr.Text())
		return known
	}
	nothing := func(string) {}
	drives := once(nothing).Targets
	slow := drives[1].ID
	dir, err := state.Open(path)
	require.NoError(t, err)
	learnSlowly(t, dir, drives, slow)
	stored, _, err := dir.Node()
	require.NoError(t, err)

	for range 2 {
		known := once(func(url string) {
			text := ssdprobe(t, "drift", "--url", url)
			require.Equal(t, 0, text.code, text.stderr)
			assert.Contains(t, text.stdout, "regressed")
		})
		for i, d := range known.Targets {
			require.NotNil(t, d.Verdict)
			want := stored.Judge.Drives[slices.IndexFunc(stored.Judge.Drives, func(s judge.DriveState) bool { return s.ID == d.ID })].Verdict
			assert.Equal(t, want.Verdict, d.Verdict.Verdict, d.ID)
			assert.WithinDuration(t, want.Since, d.Verdict.Since, 0, d.ID)
			assert.Equal(t, want.Witnesses, d.Verdict.Witnesses)
			assert.InDelta(t, want.Ratio.Ratio, d.Verdict.Ratio.Ratio, 0.01)
			assert.Equal(t, i == 1, d.Verdict.Verdict == record.Degraded, d.ID)
		}
		require.NotEmpty(t, known.Together, "the host is slow")
		assert.Equal(t, record.ScopeHost, known.Together[0].Scope)
		assert.Len(t, known.Together[0].Drives, 4)
	}
}
