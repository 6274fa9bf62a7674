package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// A drive that was slow from the first day has nothing to drift from. Only its data sheet shows it.
func TestABaselineFarFromTheDataSheetIsTold(t *testing.T) {
	tracker := drift.NewTracker(drift.Default())
	stream := drifttest.Stream{Kind: "none", Noise: "quiet", Seed: 1, Days: 0.5} // a median of 60 µs or more
	for r := range stream.Rounds() {
		tracker.AddRound(r.Round, r.Conditions)
	}
	dir := t.TempDir()
	s, err := state.Open(dir)
	require.NoError(t, err)
	require.NoError(t, s.SaveTarget(state.Target{
		ID: "eui.1", Path: "/dev/nvme9n1", Device: record.Device{ID: "eui.1", Name: "nvme9n1", Model: "SAMSUNG MZQL2"},
		Probes: map[string]drift.State{"read-4k": tracker.State()},
	}))
	config := func(sheet string) string { return file(t, "c.yaml", "listen: ['127.0.0.1:1']\n"+sheet) }
	promised := config("drift: {data_sheets: [{model: SAMSUNG*, random-read-latency: 20us}]}\n")
	for name, c := range map[string]struct {
		args  []string
		shown bool
	}{
		"baseline show":         {[]string{"baseline", "show", "--config", promised}, true},
		"baseline show as JSON": {[]string{"baseline", "show", "nvme9n1", "-o", "json", "--config", promised}, true},
		"drift":                 {[]string{"drift", "--config", promised}, true},
		"without a sheet":       {[]string{"baseline", "show", "--config", config("")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := in(append(c.args, "--state-dir", dir)...)
			assert.Equal(t, 0, got.code, got.stderr)
			assert.Contains(t, got.stdout, "read-4k")
			if c.shown {
				assert.Contains(t, got.stdout, record.WarnSlowerThanSheet)
			} else {
				assert.NotContains(t, got.stdout, record.WarnSlowerThanSheet)
			}
		})
	}
}
