package faulttest_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The daemon's own I/O on a drive does not count as the work of others, however much it is.
func TestOurRoundsAreNotTheWorkOfOthers(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
	name := filepath.Base(loop.Path)
	d := startDaemon(t, t.TempDir(), fmt.Sprintf("lock_dir: %s\ndevices: {include: [{name: %s}]}\n%s", t.TempDir(), name, everySecond))
	id := d.idOf(t, name)
	var last record.Measurement
	known := func() bool {
		var s record.Snapshot
		require.NoError(t, json.Unmarshal([]byte(d.page(t, "api/v1/snapshot")), &s))
		last = *s.Targets[0].Probes[0].Last
		return last.Outcome == record.OutcomeOK && last.Load.Others != nil
	}
	d.awaitMore(t, id, "read-4k", "ok", 3)
	eventually(t, "the work of others is known", known)
	assert.Positive(t, last.ReadBytes)
	assert.Equal(t, record.Work{}, *last.Load.Others, "nobody else uses it")

	out, err := exec.CommandContext(t.Context(), "dd", "if="+loop.Path, "of=/dev/null", "bs=64k", "count=64", "iflag=direct").CombinedOutput()
	require.NoError(t, err, "%s", out)
	eventually(t, "that is the work of others", func() bool { return known() && last.Load.Others.Reads > 0 })
	assert.InEpsilon(t, 64<<10, last.Load.Others.ReadBytes/last.Load.Others.Reads, 1e-9, "of 64 KiB each, and none of 4 KiB")
	d.stop(t)
}
