package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// What the daemon refuses is told by the command that asked, and by its exit code.
func TestTheDaemonRefuses(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	dir, lock, err := state.Hold(at) // as a daemon does
	require.NoError(t, err)
	exported := file(t, "b.json", `{"format": "ssdprobe/baselines", "version": 2, "baselines": [{"target_id": "eui.1", "probe": "read-4k",
		"baseline": {"learned": "2026-11-01T00:00:00Z", "rounds": 120}}]}`)
	asked := start(t, "baseline", "import", exported, "--state-dir", at)
	var names []string
	eventually(t, "the request is left", func() bool {
		names, err = dir.Requests()
		return err == nil && len(names) == 1
	})
	require.NoError(t, dir.AnswerRequest(names[0], errors.New("the drive is pinned")))
	assert.Equal(t, 1, asked.Wait(t))
	assert.Equal(t, "ssdprobe: the daemon refused: the drive is pinned\n", asked.Stderr.Text())
	assert.Empty(t, testenv.Names(t, filepath.Join(at, "answers")), "it was taken")
	require.NoError(t, lock.Release())
}

// A user who may not read the state is told so, and not that there is none.
func TestStateOfOthers(t *testing.T) {
	t.Parallel()
	testenv.Root(t)
	at := testenv.OnDisk(t)
	require.NoError(t, os.Chmod(at, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(at, "targets"), 0o700))
	config := filepath.Join(at, "c.yaml")
	require.NoError(t, os.WriteFile(config, []byte("listen: [127.0.0.1:1]\n"), 0o644))
	for _, args := range [][]string{{"baseline", "show"}, {"baseline", "export"}, {"baseline", "reset", "x"}, {"drift"}, {"drift", "explain", "x"}} {
		code, says := asNobody(t, append(args, "--config", config, "--state-dir", at)...)
		assert.Equal(t, 1, code, args)
		assert.Contains(t, says, "permission denied: run as root", args)
		assert.NotContains(t, says, "no baseline", args)
	}
}
