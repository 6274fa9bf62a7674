package faulttest_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

var regexpQuiet = regexp.MustCompile(`quiet hours until .*: it is opened after them`)

// In quiet hours nothing is opened, filled or measured, and no round is skipped: none is due.
// A reload without them begins to measure, one with them stops it.
func TestQuietHours(t *testing.T) {
	t.Parallel()
	const quiet = "quiet_hours: [{schedule: \"* * * * *\", duration: 1h}]\n"
	dir := testenv.OnDisk(t)
	loud := onFiles(t, dir)
	d := startDaemonWith(t, eager(), t.TempDir(), loud+quiet)
	awaitQuiet := func(value float64) {
		eventually(t, "quiet hours are told of", func() bool {
			v, found := d.scrape(t).value("ssdprobe_quiet", nil)
			return found && v == value
		})
	}
	awaitProblem := func() {
		eventually(t, "the target waits", func() bool {
			_, status := d.ask(t, "api/v1/status")
			return regexpQuiet.MatchString(status)
		})
	}
	awaitQuiet(1)
	awaitProblem()
	made, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	assert.Empty(t, made, "no probe file")
	for _, outcome := range []string{"ok", "busy", "disturbed"} {
		assert.Zero(t, d.scrape(t).of("ssdprobe_probe_rounds_total", labels{"probe": "read-4k", "outcome": outcome}))
	}

	d.reload(t, loud, saysReloaded)
	awaitQuiet(0)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)

	d.reload(t, loud+quiet, saysReloaded)
	awaitQuiet(1)
	awaitProblem()
	assert.Zero(t, d.scrape(t).of("ssdprobe_probe_rounds_total", labels{"probe": "read-4k", "outcome": "busy"}))
	d.stop(t)
}
