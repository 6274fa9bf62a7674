package faulttest_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Between two rounds, which are minutes apart, the drive completes nothing for three seconds: an
// application's write hangs.
func TestStallBetweenRounds(t *testing.T) {
	t.Parallel()
	below := testenv.Ext4(t, 64<<20)
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: below}) // sparse, so that each write needs the filesystem below
	name := filepath.Base(loop.Path)
	d := startDaemon(t, t.TempDir(), fmt.Sprintf(`
lock_dir: %s
devices: {include: [{name: %s}]}
probes: [{name: read-4k, interval: 10m}]
`, t.TempDir(), name))
	id := d.idOf(t, name)
	byDevice, finding := labels{"id": id, "cause": "device"}, labels{"id": id, "code": "stalled"}
	eventually(t, "the traffic is watched", func() bool {
		_, watched := d.scrape(t).value(t, "ssdprobe_device_stalls_total", byDevice)
		return watched
	})
	before := d.scrape(t)
	assert.Zero(t, before.of(t, "ssdprobe_device_stalls_total", byDevice))
	assert.Zero(t, before.of(t, "ssdprobe_finding", finding))

	thaw := freeze(t, below)
	hanging := exec.CommandContext(context.WithoutCancel(t.Context()), "dd", "if=/dev/urandom", "of="+loop.Path, "bs=4k", "count=1", "seek=1000", "oflag=direct", "conv=notrunc")
	require.NoError(t, hanging.Start())
	eventually(t, "it has been seen to stand for three seconds, and is told already", func() bool {
		now := d.scrape(t)
		return now.of(t, "ssdprobe_device_stall_longest_seconds", labels{"id": id}) > 2.5 && now.of(t, "ssdprobe_finding", finding) == 1
	})
	eventually(t, "after ten seconds it is beyond doubt", func() bool {
		severe, said := d.scrape(t).value(t, "ssdprobe_drive_health", labels{"id": id, "state": "severe"})
		return said && severe == 1
	})
	assert.Contains(t, d.page(t, "api/v1/status"), "the device stalls")
	thaw(t)
	require.NoError(t, hanging.Wait())
	d.Stderr.Find(t, `level=WARN msg="the device stalled: it completed no I/O for a while" id=`+id+` .*in_flight=[1-9]`) // dd, and perhaps a probe
	after := d.scrape(t)
	assert.GreaterOrEqual(t, after.of(t, "ssdprobe_device_stalls_total", byDevice), 1.0)
	assert.Greater(t, after.of(t, "ssdprobe_device_stall_seconds_total", byDevice), 2.5)
	assert.Equal(t, 1.0, after.of(t, "ssdprobe_finding", finding), "for an hour")
	assert.Contains(t, d.page(t, "api/v1/status"), "the device stalled")
	d.stop(t)
}
