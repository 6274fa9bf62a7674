package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// feed passes hours of rounds of four drives to the judge. All drives are slower by the given factor.
func (j *judging) feed(minute *int, hours int, slower float64) {
	for range hours * 60 {
		*minute++
		now := time.Unix(int64(*minute)*60, 0)
		for i := range 4 {
			id := fmt.Sprint("d", i)
			j.node.AddDrive(judge.Drive{ID: id, Model: "X"})
			x := 80e-6 * slower * (1 + 0.02*float64((*minute*7+i*5)%17-8)/8)
			j.node.Round(id, "read-4k", drift.Round{Time: now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}}, record.Conditions{})
		}
		j.node.Advance(now)
	}
}

// A reload with other drift settings affects how the host is judged.
func TestAReloadReachesTheHost(t *testing.T) {
	for effect, found := range map[float64]bool{0: true, 0.5: false} {
		c := config.Default()
		d := &Daemon{
			config: c, file: newConfigFile(Options{Config: c, Log: slog.New(slog.DiscardHandler)}),
			shared: &shared{log: slog.New(slog.DiscardHandler), judging: newJudging(c.Drift.Settings)},
			flight: newFlight(sysfs.New("/"), c.Recorder),
		}
		minute := 29_600_000
		d.shared.judging.feed(&minute, 30, 1)
		c.Drift.SmallestEffect = max(c.Drift.SmallestEffect, effect)
		d.take(reload{config: c})
		require.True(t, d.reloaded.Success)
		d.shared.judging.feed(&minute, 1, 1.25)
		assert.Equal(t, found, len(d.shared.judging.node.Together()) > 0, "a smallest effect of %g", effect)
	}
}

// An invalid stored state of the node is set aside. The daemon continues without it and reports that.
func TestAnUnfitStateOfTheNode(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, dir.SaveNode(judge.State{Drives: []judge.DriveState{{ID: "d0", Verdict: record.Judgement{Verdict: "fine"}}}}))
	c := config.Default()
	log := slog.New(slog.DiscardHandler)
	d := &Daemon{shared: &shared{log: log, state: newStorage(dir, log), judging: newJudging(c.Drift.Settings)}}
	require.NoError(t, d.restoreNode())
	status, warnings := d.shared.state.status()
	assert.False(t, status.Success)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0].Text, `unknown verdict "fine"`)
	_, found, err := dir.Node()
	require.NoError(t, err)
	assert.False(t, found, "it was set aside")
	d.saveNode(saveTimeout)
	status, _ = d.shared.state.status()
	assert.True(t, status.Success)
}

// A stored state of the node that could not be read at the start is not replaced when it can be read again.
func TestAnUnreadStateOfTheNodeIsKept(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, dir.SaveNode(judge.State{Drives: []judge.DriveState{{ID: "d0", Verdict: record.Judgement{Verdict: record.Severe}}}}))
	files, err := filepath.Glob(filepath.Join(dir.Dir(), "node", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.Chmod(files[0], 0o666))
	log := slog.New(slog.DiscardHandler)
	d := &Daemon{shared: &shared{log: log, state: newStorage(dir, log), judging: newJudging(config.Default().Drift.Settings)}}
	require.NoError(t, d.restoreNode())
	require.NoError(t, os.Chmod(files[0], 0o600))
	d.saveNode(saveTimeout)
	_, warnings := d.shared.state.status()
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0].Text, "it is not overwritten, restart ssdprobe")
	kept, found, err := dir.Node()
	require.NoError(t, err)
	require.True(t, found)
	assert.Len(t, kept.Judge.Drives, 1)
}

// A request to accept the level of the host is carried out on the node in memory, whichever drives were slow.
func TestARequestAcceptsTheLevelOfTheHost(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	c := config.Default()
	log := slog.New(slog.DiscardHandler)
	d := &Daemon{shared: &shared{log: log, state: newStorage(dir, log), judging: newJudging(c.Drift.Settings)}}
	minute := 29_600_000
	d.shared.judging.feed(&minute, 30, 1)
	d.shared.judging.feed(&minute, 3, 1.3)
	require.NotEmpty(t, d.shared.judging.node.Together())
	require.NoError(t, dir.Save("requests", "late", state.Request{Host: true, Accept: "x", Asked: time.Now().Add(-time.Hour)}))
	d.answerRequests(t.Context())
	require.NotEmpty(t, d.shared.judging.node.Together(), "nobody expects it any more")
	late, found, err := dir.TakeAnswer("late")
	require.NoError(t, err)
	require.True(t, found)
	assert.Equal(t, state.ErrTooLate.Error(), late.Refused)

	asked, err := dir.Leave(state.Request{Host: true, Accept: "powersave is wanted"})
	require.NoError(t, err)
	d.answerRequests(t.Context())
	assert.Empty(t, d.shared.judging.node.Together())
	names, err := dir.Requests()
	require.NoError(t, err)
	assert.Empty(t, names)
	answer, found, err := dir.TakeAnswer(asked)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Empty(t, answer.Refused)
	require.Contains(t, answer.Accepted, "read-4k")
	assert.InDelta(t, 1.3, answer.Accepted["read-4k"].Ratios[record.LatencyP50], 0.03, "who asked is told which level")
	_, news := d.shared.judging.advance()
	assert.True(t, news, "it is kept at once")
}

// What was known when the daemon was stopped is not shown as of now once the node is ready.
func TestAVerdictOfLongAgoIsUnknownFromTheBeginning(t *testing.T) {
	j := newJudging(drift.Default())
	j.waits = true
	long := time.Now().Add(-10 * 24 * time.Hour)
	require.NoError(t, j.restore(judge.State{Drives: []judge.DriveState{{
		ID: "d", Last: long, Verdict: record.Judgement{Verdict: record.Healthy, Scope: record.ScopeDrive},
	}}}))
	j.node.AddDrive(judge.Drive{ID: "d"})
	before, _ := j.node.Verdict("d")
	require.Equal(t, record.Healthy, before.Verdict)
	j.begin()
	now, _ := j.node.Verdict("d")
	assert.Equal(t, record.Unjudged, now.Verdict)
}
