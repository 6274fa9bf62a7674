package faulttest_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// ask returns the daemon's answer at a path.
func (d *daemon) ask(t *testing.T, path string) (code int, body string) {
	t.Helper()
	return testenv.Get(t, testenv.Patience, d.url+path)
}

// besideDevices makes a configuration also watch loop devices of one size, which no other test uses.
func besideDevices(configuration string, size int64) string {
	include := fmt.Sprintf(`devices: {include: [{name: "loop*", min_size: %[1]dB, max_size: %[1]dB}]}`, size)
	return regexp.MustCompile(`devices: .*`).ReplaceAllString(configuration, include)
}

// The server of a filesystem does not answer when the daemon starts. Everything else is watched, including devices that
// appear later, and the daemon reports what is missing. When the server is back, the filesystem is watched as well.
func TestHungFilesystemAtStart(t *testing.T) {
	t.Parallel()
	const size = 40<<20 + 8192
	first := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	volume := testenv.LoopDevice(t, 256<<20, testenv.Options{})
	dir, calm := testenv.Ext4On(t, volume), testenv.OnDisk(t)
	hung := testenv.HungFilesystem(t, dir)
	configuration := besideDevices(onFiles(t, dir, calm), size)
	d := &daemon{config: file(t, "ssdprobe.yaml", configuration), state: t.TempDir()}
	d.Program = start(t, nil, "daemon", "--config", d.config, "--state-dir", d.state, "--web.listen-address", "127.0.0.1:0")
	d.url = "http://" + d.Stderr.Find(t, `msg="Listening on" address=(\S+)`)[1] + "/"

	var body string
	eventually(t, "ready: one that hangs stops no rollout", func() bool {
		var code int
		code, body = d.ask(t, "-/ready")
		return code == http.StatusOK
	})
	assert.Contains(t, body, dir+" ", "not ready before it was given up")
	assert.Contains(t, body, "does not answer")
	d.awaitUp(t, fileID(dir), false)
	d.Stderr.Find(t, `level=WARN msg="the target does not answer.*id=file:`+regexp.QuoteMeta(dir))
	for path, says := range map[string]string{"": "does not answer", "api/v1/devices": `"problem": "it does not answer`, "api/v1/status": "cannot_probe"} {
		_, body := d.ask(t, path)
		assert.Contains(t, body, says, path)
	}
	d.awaitMore(t, fileID(calm), "read-4k", "ok", 2)
	d.awaitMore(t, fileID(calm), "durable-write-4k", "ok", 2)
	d.awaitMore(t, d.idOf(t, filepath.Base(first.Path)), "read-4k", "ok", 2)

	second := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	d.awaitDevice(t, filepath.Base(second.Path))
	d.reload(t, configuration+"drift: {threshold: 0.3}\n", saysReloaded)
	d.awaitMore(t, fileID(calm), "read-4k", "ok", 2)
	d.hasOneHungThreadAtMost(t)

	hung.End(t)
	d.awaitUp(t, fileID(dir), true)
	d.Stderr.Find(t, `msg="the target answers again.*id=file:`+regexp.QuoteMeta(dir))
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	assert.Equal(t, filepath.Base(volume.Path), d.deviceOf(t, fileID(dir)), "the device below is known now")
	_, body = d.ask(t, "-/ready")
	assert.Equal(t, "ready\n", body)
	d.stop(t)
	assert.Len(t, saved(t, d.state), 4)
}

// A filesystem that hangs once at the start is watched soon after it is back, although the next discovery is a day away.
func TestHungFilesystemAtStartIsAskedAgain(t *testing.T) {
	t.Parallel()
	dir := testenv.Ext4(t, 256<<20)
	hung := testenv.HungFilesystem(t, dir)
	d := startDaemon(t, t.TempDir(), strings.Replace(onFiles(t, dir), "discovery_interval: 1s", "discovery_interval: 24h", 1))
	d.Stderr.Find(t, `level=WARN msg="the target does not answer`)
	hung.End(t)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	d.awaitUp(t, fileID(dir), true)
	d.stop(t)
}

// The server of a filesystem goes away while the filesystem is watched. That is shown, new drives are found, a new
// configuration is accepted, and the daemon still stops when told to.
func TestFilesystemHangsForGood(t *testing.T) {
	t.Parallel()
	const size = 40<<20 + 12288
	volume := testenv.LoopDevice(t, 256<<20, testenv.Options{})
	dir, calm := testenv.Ext4On(t, volume), testenv.OnDisk(t)
	configuration := besideDevices(onFiles(t, dir, calm), size)
	d := startDaemon(t, t.TempDir(), configuration)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)

	hung := testenv.HungFilesystem(t, dir)
	d.awaitUp(t, fileID(dir), false)
	d.Stderr.Find(t, `level=WARN msg="the target does not answer.*id=file:`+regexp.QuoteMeta(dir))
	_, body := d.ask(t, "-/ready")
	assert.Contains(t, body, dir+" ")
	late := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	d.awaitDevice(t, filepath.Base(late.Path))
	d.reload(t, configuration+"drift: {threshold: 0.3}\n", saysReloaded) // also replaces the watch that hangs
	d.awaitMore(t, fileID(calm), "durable-write-4k", "ok", 2)
	d.awaitUp(t, fileID(dir), false)
	assert.Equal(t, filepath.Base(volume.Path), d.deviceOf(t, fileID(dir)), "it keeps its labels")
	d.hasOneHungThreadAtMost(t)

	d.Signal(t, syscall.SIGTERM)
	assert.Equal(t, 0, d.Wait(t), "a clean stop while it hangs")
	assert.Len(t, saved(t, d.state), 3)

	d = startDaemon(t, d.state, configuration)
	assert.Equal(t, filepath.Base(volume.Path), d.deviceOf(t, fileID(dir)), "what is stored says so")
	hung.End(t)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	d.stop(t)
}

// The filesystem of the state directory hangs. Measurements continue, and a new configuration is accepted. A new drive is
// watched only when its stored state can be read: a newly learned state would overwrite the stored one.
func TestStateDirectoryHangs(t *testing.T) {
	t.Parallel()
	const size = 40<<20 + 24576
	state, dir := t.TempDir(), testenv.OnDisk(t)
	configuration := besideDevices(onFiles(t, dir), size)
	d := startDaemon(t, state, configuration)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)

	hung := testenv.HungFilesystem(t, state)
	d.awaitCollector(t, "state", false)
	late := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	d.Stderr.Find(t, `/dev/`+filepath.Base(late.Path)+` is not watched, because its stored state cannot be read`)
	_, body := d.ask(t, "-/ready")
	assert.Contains(t, body, "/dev/"+filepath.Base(late.Path)+" is not watched")
	d.reload(t, configuration+"discovery_interval: 2s\n", `refused.*given again`)
	d.awaitMore(t, fileID(dir), "durable-write-4k", "ok", 2)
	d.hasOneHungThreadAtMost(t)

	hung.End(t)
	d.awaitDevice(t, filepath.Base(late.Path))
	d.awaitCollector(t, "state", true)
	hung = testenv.HungFilesystem(t, state)
	d.Signal(t, syscall.SIGTERM)
	assert.Equal(t, 0, d.Wait(t), "it ends while the state directory hangs")
	d.Stderr.Find(t, `the state directory does not answer`)
	hung.End(t)
}

// awaitDevice waits until a device is watched, and measured.
func (d *daemon) awaitDevice(t *testing.T, name string) {
	t.Helper()
	eventually(t, name+" is measured", func() bool {
		return d.scrape(t).of(t, "ssdprobe_probe_rounds_total", labels{"device": name, "probe": "read-4k", "outcome": "ok"}) > 0
	})
}

// deviceOf returns the device that a target is reported to be on. While its watch is replaced, it is not reported.
func (d *daemon) deviceOf(t *testing.T, id string) (device string) {
	t.Helper()
	eventually(t, "target "+id+" is shown", func() bool {
		for _, series := range d.scrape(t).family(t, "ssdprobe_target_up") {
			have := labels{}
			for _, l := range series.Label {
				have[l.GetName()] = l.GetValue()
			}
			if have["id"] == id {
				device = have["device"]
				return true
			}
		}
		return false
	})
	return device
}
