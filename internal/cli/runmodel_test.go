package cli_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The costs that the daemon has learned for the drive are shown next to the kernel's model of it, whatever
// target they were learned from.
func TestModelBesideTheJudges(t *testing.T) {
	t.Parallel()
	testenv.Installed(t, "fio")
	dir, stored := testenv.OnDisk(t), t.TempDir()
	below, err := device.NewFilesystems(sysfs.FS{}).BelowFile(dir)
	require.NoError(t, err)
	s, err := state.Open(stored)
	require.NoError(t, err)
	tracker := drift.NewTracker(drift.Default())
	for minute := range 25 * 60 {
		// A read takes 100 µs, regardless of its size.
		reads := float64(1000 + 500*(minute%5))
		tracker.AddRound(drift.Round{
			Time: time.Now().Add(time.Duration(minute-25*60) * time.Minute), Values: drift.Values{80e-6, 104e-6, 144e-6, 12500},
			Work: drift.Work{Known: true, Reads: reads, ReadBytes: 4096 * reads}, Utilisation: 1e-4 * reads,
		}, record.Conditions{})
	}
	require.NoError(t, s.SaveTarget(state.Target{
		ID: "eui.1", Path: "/dev/nvme9n1", Device: below.Device, Probes: map[string]drift.State{"read-4k": tracker.State()},
	}))
	got := in("run", "model", "-t", dir, "--size", "64MiB", "--even-if-busy", "--state-dir", stored, "--set", "time=100ms", "--set", "repeats=1",
		"--set", "writes=no", "--set", "sequential-block=1MiB", "-o", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var doc report.Document
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &doc))
	m := doc.Report.Analysis.CostModel
	require.NotNil(t, m)
	assert.Equal(t, below.Device.Number, m.Device)
	require.NotNil(t, m.Learned)
	assert.Equal(t, []string{"eui.1", "read-4k"}, []string{m.Learned.Target, m.Learned.Source})
	assert.Greater(t, m.Learned.Cost(record.Read, 4096), 50e-6, "%+v", m.Learned)
}
