package faulttest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// In quiet hours nothing is opened, filled or measured, and no round counts as skipped, because
// none is due. A reload without quiet hours starts measuring, one with them stops it.
func TestQuietHours(t *testing.T) {
	t.Parallel()
	const quiet = "quiet_hours: [{schedule: \"* * * * *\", duration: 1h}]\n"
	dir := testenv.OnDisk(t)
	loud := onFiles(t, dir)
	d := startDaemonWith(t, eager(), t.TempDir(), loud+quiet)
	awaitQuiet := func(value float64) {
		eventually(t, "quiet hours are told of", func() bool {
			v, found := d.scrape(t).value(t, "ssdprobe_quiet", nil)
			return found && v == value
		})
	}
	awaitQuiet(1)
	_, status := d.ask(t, "api/v1/status")
	assert.Contains(t, status, "nothing is measured until")
	for _, outcome := range []string{"ok", "busy", "disturbed"} {
		assert.Zero(t, d.scrape(t).of(t, "ssdprobe_probe_rounds_total", labels{"probe": "read-4k", "outcome": outcome}))
	}

	d.reload(t, loud, saysReloaded)
	awaitQuiet(0)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)

	before, _, _ := strings.Cut(d.Stderr.Text(), saysReloaded)
	assert.NotContains(t, before, "filled a probe file")

	d.reload(t, loud+quiet, saysReloaded)
	awaitQuiet(1)
	assert.Equal(t, 1.0, d.scrape(t).of(t, "ssdprobe_target_up", nil), "quiet hours are no fault")
	assert.Zero(t, d.scrape(t).of(t, "ssdprobe_probe_rounds_total", labels{"probe": "read-4k", "outcome": "busy"}))
	d.stop(t)
}
