package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
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

	for _, did := range []string{"pinned", "unpinned"} {
		command := did[:len(did)-len("ned")]
		all := run("baseline", command, "nvme0n1")
		assert.Equal(t, 0, all.code, all.stderr)
		assert.Equal(t, "baselines of /dev/nvme0n1 "+did+": read-128k, read-4k; not new: no baseline has been learned under the current conditions\n", all.stderr)
		one := run("baseline", command, "nvme0n1", "--probe", "read-4k")
		assert.Equal(t, 0, one.code, one.stderr)
		assert.Equal(t, "baseline of read-4k on /dev/nvme0n1 "+did+"\n", one.stderr)
		none := run("baseline", command, "nvme0n1", "--probe", "new")
		assert.Equal(t, 1, none.code)
		assert.Equal(t, "ssdprobe: "+command+" baselines of eui.1: no baseline has been learned under the current conditions (probe new)\n", none.stderr)
	}
}
