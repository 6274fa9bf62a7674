package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	statedir "github.com/ssdprobe/ssdprobe/internal/state"
)

// What was pinned is told by the name of its probe, and so is what has no baseline yet.
func TestWhatIsPinnedIsTold(t *testing.T) {
	at := learned(t)
	dir, err := statedir.Open(at)
	require.NoError(t, err)
	target, _, err := dir.Target("eui.1")
	require.NoError(t, err)
	target.Probes["new"] = drift.State{}
	require.NoError(t, dir.SaveTarget(target))
	run := func(args ...string) done { return in(append(args, "--state-dir", at)...) }

	pinned := func() map[string][]bool {
		t.Helper()
		target, _, err := dir.Target("eui.1")
		require.NoError(t, err)
		all := map[string][]bool{}
		for name, state := range target.Probes {
			for _, b := range state.Baselines() {
				all[name] = append(all[name], b.Pinned)
			}
		}
		return all
	}

	all := run("baseline", "pin", "nvme0n1")
	assert.Equal(t, 0, all.code, all.stderr)
	assert.Equal(t, "baselines of /dev/nvme0n1 pinned: read-128k, read-4k; not new: no baseline has been learned under the current conditions\n", all.stderr)
	one := run("baseline", "pin", "nvme0n1", "--probe", "read-4k")
	assert.Equal(t, 0, one.code, one.stderr)
	assert.Equal(t, "baseline of read-4k on /dev/nvme0n1 pinned\n", one.stderr)
	none := run("baseline", "pin", "nvme0n1", "--probe", "new")
	assert.Equal(t, 1, none.code)
	assert.Equal(t, "ssdprobe: pin baselines of eui.1: no baseline has been learned under the current conditions (probe new)\n", none.stderr)
	assert.Equal(t, map[string][]bool{"read-4k": {true}, "read-128k": {true}}, pinned())

	// The conditions changed, and nothing has been learned under the new ones. Reset is refused until the pin is gone.
	target, _, err = dir.Target("eui.1")
	require.NoError(t, err)
	trackers, err := target.Trackers(drift.Default())
	require.NoError(t, err)
	for _, tracker := range trackers {
		for r := range (drifttest.Stream{Kind: "none", Noise: "quiet", Seed: 3, Days: 5}).Rounds() {
			if r.Time.After(tracker.State().Last) {
				r.Conditions.Firmware = "NEW"
				tracker.AddRound(r.Round, r.Conditions)
				break
			}
		}
		target.Probes[tracker.Probe] = tracker.State()
	}
	require.NoError(t, dir.SaveTarget(target))
	require.Equal(t, map[string][]bool{"read-4k": {true, false}, "read-128k": {true, false}, "new": {false}}, pinned())
	refused := run("baseline", "reset", "nvme0n1")
	assert.Equal(t, 1, refused.code)
	assert.Contains(t, refused.stderr, "the baseline is pinned; unpin it first")
	for range 2 {
		unpinned := run("baseline", "unpin", "nvme0n1")
		assert.Equal(t, 0, unpinned.code)
		assert.Equal(t, "baselines of /dev/nvme0n1 unpinned\n", unpinned.stderr)
		assert.Equal(t, map[string][]bool{"read-4k": {false, false}, "read-128k": {false, false}, "new": {false}}, pinned())
	}
	assert.Equal(t, 0, run("baseline", "reset", "nvme0n1").code)
}
