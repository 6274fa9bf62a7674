package faulttest_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// awaitFallback waits until the fallback file is used (1) or not (0).
func (d *daemon) awaitFallback(t *testing.T, used float64) {
	t.Helper()
	eventually(t, "the fallback file", func() bool {
		v, found := d.scrape(t).value(t, "ssdprobe_fallback_file_used", nil)
		return found && v == used
	})
}

// Without a device to watch, a file in the state directory is measured, and all outputs say so,
// until a device appears.
func TestFallbackFile(t *testing.T) {
	t.Parallel()
	const size = 40<<20 + 16384
	state := testenv.Ext4(t, 256<<20) // the file takes a tenth of the free space
	configuration := strings.Replace(besideDevices(onFiles(t), size), "fallback_file: false", "fallback_file: true", 1)
	d := startDaemon(t, state, configuration)
	d.awaitFallback(t, 1)
	probed := filepath.Join(state, "probe")
	d.Stderr.Find(t, `level=WARN msg="the fallback file is used" warning="no device is both selected and readable.* a probe file of 1GiB is made in `+probed)
	_, status := d.ask(t, "api/v1/status")
	assert.Contains(t, status, `"fallback_file"`)
	assert.Contains(t, status, "fallback_file: false in the configuration switches that off")
	devices := ssdprobe(t, nil, "devices", "--config", d.config, "--state-dir", state)
	assert.Contains(t, strings.Join(strings.Fields(devices.stdout), " "), "fallback_file: false in the configuration switches that off")
	d.awaitMore(t, fileID(probed), "durable-write-4k", "ok", 1)

	loop := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	d.awaitDevice(t, filepath.Base(loop.Path))
	d.awaitFallback(t, 0)
	d.Stderr.Find(t, `the fallback file is no longer used, and may be removed.*path=`+probed)
	devices = ssdprobe(t, nil, "devices", "--config", d.config, "--state-dir", state)
	assert.NotContains(t, devices.stdout, "fallback_file")
	d.stop(t)
}

// With the fallback file off and no device to watch, the daemon reports that and waits for a device.
func TestNothingToWatch(t *testing.T) {
	t.Parallel()
	const size = 40<<20 + 20480
	d := startDaemon(t, t.TempDir(), besideDevices(onFiles(t), size))
	code, body := d.ask(t, "-/ready")
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, "ready\nnothing is watched: ")
	d.Stderr.Find(t, `level=WARN msg="there is nothing to watch" warning="nothing is watched`)
	d.awaitFallback(t, 0)
	_, status := d.ask(t, "api/v1/status")
	assert.Contains(t, status, `"nothing_watched"`)
	assert.NoFileExists(t, filepath.Join(d.state, "probe"))

	loop := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	d.awaitDevice(t, filepath.Base(loop.Path))
	_, body = d.ask(t, "-/ready")
	assert.Equal(t, "ready\n", body)
	d.stop(t)
}
