package state_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

func TestRunBaselinesAreKept(t *testing.T) {
	path := t.TempDir()
	d, err := state.Open(path)
	require.NoError(t, err)
	disturbed := []record.Warning{{Code: record.WarnDisturbed, Text: "The CPUs were measured."}}
	r := record.RunReport{
		Version: record.RunReportVersion, Suite: "probe", TargetID: "file:/a b/c", Target: "/a b/c",
		Steps: []record.Step{{Name: "read-4k", Read: &record.Result{IOPS: 1}, Warnings: disturbed}},
	}
	_, found, err := d.RunBaseline(r.Suite, r.TargetID)
	require.NoError(t, err)
	assert.False(t, found)
	require.NoError(t, d.CanSaveRunBaseline(r.Suite, r.TargetID))
	require.NoError(t, d.SaveRunBaseline(r), "with its warnings")
	all, err := d.RunBaselines()
	require.NoError(t, err)
	assert.Equal(t, []record.RunReport{r}, all)
	left, err := os.ReadDir(filepath.Join(path, "run-baselines"))
	require.NoError(t, err)
	assert.Len(t, left, 1, "looking leaves nothing behind")
	require.NoError(t, d.RemoveRunBaseline(r.Suite, r.TargetID))
	all, err = d.RunBaselines()
	require.NoError(t, err)
	assert.Empty(t, all)
}

func TestWhatCannotBeSavedIsKnownBefore(t *testing.T) {
	path := t.TempDir()
	d, err := state.Open(path)
	require.NoError(t, err)
	require.NoError(t, d.SaveRunBaseline(record.RunReport{Version: record.RunReportVersion + 1, Suite: "quick", TargetID: "a"}))
	require.ErrorIs(t, d.CanSaveRunBaseline("quick", "a"), store.ErrNewer)
	require.NoError(t, d.CanSaveRunBaseline("quick", "b"))

	require.NoError(t, os.RemoveAll(filepath.Join(path, "run-baselines")))
	require.NoError(t, os.WriteFile(filepath.Join(path, "run-baselines"), nil, 0o600)) // root can write everywhere else
	require.ErrorContains(t, d.CanSaveRunBaseline("quick", "a"), "run-baselines")
}
