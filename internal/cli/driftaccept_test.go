package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// fourDrives returns a state directory with two drives that a firmware made 1.25 times slower, one that became slower by
// itself, and one that is well.
func fourDrives(t *testing.T) state.Dir {
	t.Helper()
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	for i, kind := range []string{"firmware", "firmware", "step20", "none"} {
		tracker := drift.NewTracker(drift.Default())
		for r := range (drifttest.Stream{Kind: kind, Noise: "quiet", Seed: 4, Days: 4}).Rounds() {
			tracker.AddRound(r.Round, r.Conditions)
		}
		name := fmt.Sprintf("nvme%dn1", i)
		require.NoError(t, dir.SaveTarget(state.Target{
			ID: fmt.Sprintf("eui.%d", i), Path: "/dev/" + name, Device: record.Device{ID: fmt.Sprintf("eui.%d", i), Name: name},
			Probes: map[string]drift.State{"read-4k": tracker.State()},
		}))
	}
	return dir
}

// accepting returns a function that runs drift accept on a state directory.
func accepting(dir state.Dir) func(...string) done {
	return func(args ...string) done {
		return in(append([]string{"drift", "accept", "--note", "it is to be so", "--state-dir", dir.Dir()}, args...)...)
	}
}

func TestSeveralTargetsAreAcceptedAtOnce(t *testing.T) {
	accept := accepting(fourDrives(t))
	wrong := accept("nvme0n1", "nvme8n1", "nvme9n1")
	assert.Equal(t, 2, wrong.code)
	assert.Contains(t, wrong.stderr, `a target "nvme8n1"`)
	assert.Contains(t, wrong.stderr, `a target "nvme9n1"`)
	wrong = accept("nvme0n1", "nvme1n1", "--probe", "read-5k")
	assert.Equal(t, 2, wrong.code)
	assert.Equal(t, 2, strings.Count(wrong.stderr, "it has read-4k"))

	got := accept("nvme0n1", "nvme3n1", "nvme2n1", "/dev/nvme0n1")
	assert.Equal(t, 1, got.code, "one of them is well")
	lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
	require.Len(t, lines, 3, "the name of a drive is given twice, and no mistake before has changed anything")
	assert.Regexp(t, `^level of /dev/nvme0n1 accepted \(read-4k p50 1\.2\d×, IOPS 1\.2\d×\)$`, lines[0])
	assert.Regexp(t, `^level of /dev/nvme2n1 accepted \(read-4k p50 1\.2\d×`, lines[1])
	assert.Equal(t, "ssdprobe: accept the current level of eui.3: no drift was found, so there is nothing to accept (probe read-4k); "+
		"ssdprobe drift explain nvme3n1 shows its state", lines[2])
	got = accept("nvme1n1")
	assert.Equal(t, 0, got.code, got.stderr)
}

// After a change that is wanted, one command accepts what it did to all drives. A drive with another fault keeps it.
func TestWhatAChangeDidIsAcceptedOnAllDrives(t *testing.T) {
	dir := fourDrives(t)
	accept := accepting(dir)
	told := func() string {
		got := in("drift", "--state-dir", dir.Dir(), "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]"))
		require.Equal(t, 0, got.code, got.stderr)
		return got.stdout
	}
	require.Contains(t, told(), "2 targets: nvme0n1, nvme1n1")
	require.Contains(t, told(), "ssdprobe drift accept --change firmware")
	none := accept("--change", "kernel")
	assert.Equal(t, 1, none.code)
	assert.Equal(t, "ssdprobe: accept changes of kernel: none is known to have made a target slower; ssdprobe drift shows what was found\n", none.stderr)
	none = accept("--change", "firmware", "nvme2n1")
	assert.Equal(t, 1, none.code)
	assert.Contains(t, none.stderr, "no change of firmware is known to have made it slower")

	got := accept("--change", "firmware")
	assert.Equal(t, 0, got.code)
	assert.Regexp(t, `^level of /dev/nvme0n1 accepted \(read-4k p50 1\.2\d×, IOPS 1\.2\d×\)\nlevel of /dev/nvme1n1 accepted \(.*\)\n$`, got.stderr)
	assert.NotContains(t, told(), "slower_since_change")
	assert.Contains(t, told(), "regressed", "nvme2n1")
	assert.Equal(t, 1, accept("--change", "firmware").code, "it is accepted already")
}

// What each target says is told, whichever of them the daemon refuses.
func TestTheDaemonRefusesOneOfSeveral(t *testing.T) {
	t.Parallel()
	dir, lock, err := state.Hold(fourDrives(t).Dir())
	require.NoError(t, err)
	asked := start(t, "drift", "accept", "nvme0n1", "nvme3n1", "nvme1n1", "--note", "x", "--state-dir", dir.Dir())
	var names []string
	eventually(t, "all requests are left", func() bool {
		names, err = dir.Requests()
		return err == nil && len(names) == 3
	})
	for i, a := range []state.Answer{{}, {Refused: "the level is moving"}, {}} {
		require.NoError(t, dir.AnswerRequest(names[i], a))
	}
	assert.Equal(t, 1, asked.Wait(t))
	assert.Equal(t, "level of /dev/nvme0n1 accepted\nlevel of /dev/nvme1n1 accepted\n"+
		"ssdprobe: nvme3n1: the daemon refused: the level is moving\n", asked.Stderr.Text())
	require.NoError(t, lock.Release())
}
