package faulttest_test

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// frozenFor is how long a process is frozen: longer than a round may take, like ten minutes in a
// debugger, a suspended machine or a container's freezer.
const frozenFor = 11 * time.Second

// A daemon that is stopped in the middle of a round has measured its own standstill. The round is
// disturbed, which is neither a slow I/O nor a hang of the drive. Missed rounds are not made up for.
func TestProcessFrozen(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	configuration := fmt.Sprintf(`
lock_dir: %s
devices: {enabled: false}
fallback_file: false
files:
  - {path: %s, size: 16MiB}
admission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}
probes:
  - {name: read-4k, block_size: 64KiB, interval: 2s, ios: 500, timeout: 10s}
`, t.TempDir(), dir)
	d := startDaemon(t, t.TempDir(), configuration)
	round := labels{"id": fileID(dir), "probe": "read-4k"}
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	said := false
	eventually(t, "a round is disturbed by the standstill", func() bool {
		if d.scrape(t).of(t, "ssdprobe_probe_inflight_seconds", round) > 0 {
			d.freeze(t, frozenFor) // the round may have ended since the scrape
			eventually(t, "the round is over", func() bool {
				page := d.page(t, "api/v1/snapshot")
				said = said || strings.Contains(page, "this process stood still for 1")
				return said || d.scrape(t).of(t, "ssdprobe_probe_inflight_seconds", round) == 0
			})
		}
		return said
	})
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	m := d.scrape(t)
	for _, outcome := range []string{"timeout", "error"} {
		assert.Zero(t, m.of(t, "ssdprobe_probe_rounds_total", labels{"id": fileID(dir), "outcome": outcome}), outcome)
	}
	d.stop(t)
}

// freeze stops the process for a while.
func (d *daemon) freeze(t *testing.T, during time.Duration) {
	t.Helper()
	d.Signal(t, syscall.SIGSTOP)
	<-time.After(during)
	http.DefaultClient.CloseIdleConnections() // the daemon closes connections that were idle for too long by its clock
	d.Signal(t, syscall.SIGCONT)
}

// page returns the body of the daemon's answer at a path.
func (d *daemon) page(t *testing.T, path string) string {
	t.Helper()
	_, body := d.ask(t, path)
	return body
}

// A run that was frozen reports that with its figures.
func TestRunFrozen(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	p := start(t, nil, runQuick(t, dir, "--set", "time=4s")...)
	eventually(t, "fio works on the file", func() bool { return len(workingOn(t, dir)) > 0 })
	p.Signal(t, syscall.SIGSTOP)
	<-time.After(4 * time.Second)
	p.Signal(t, syscall.SIGCONT)
	assert.Equal(t, 0, p.Wait(t))
	assert.Regexp(t, `ssdprobe stood still for \d`, p.Stdout.Text())
}
