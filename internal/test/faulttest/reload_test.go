package faulttest_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const (
	saysReloaded = `msg="configuration reloaded"`
	saysRefused  = `msg="the new configuration is refused; the old one stays"`
)

// reload gives the daemon another configuration and waits for the message about it.
func (d *daemon) reload(t *testing.T, configuration, says string) {
	t.Helper()
	require.NoError(t, os.WriteFile(d.config, []byte(configuration), 0o600))
	skip := len(d.Stderr.Text())
	d.Signal(t, syscall.SIGHUP)
	d.Stderr.FindAfter(t, skip, says)
}

// A thousand reloads: most with the same configuration, some with another, some with an invalid one.
func TestReloads(t *testing.T) {
	t.Parallel()
	const reloads = 1000
	dir := testenv.OnDisk(t)
	one := onFiles(t, dir)
	other, bad := one+"drift: {threshold: 0.3}\n", one+"colour: red\n"
	d := startDaemonWith(t, eager(), t.TempDir(), one)
	change := func(i int) {
		switch i % 20 {
		case 10:
			d.reload(t, other, saysReloaded) // replaces the watch
		case 15:
			d.reload(t, bad, saysRefused)
		default:
			d.reload(t, one, saysReloaded)
		}
	}
	for i := range 100 { // so that one-time allocations are done
		change(i)
	}
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	before := d.use(t)
	for i := range reloads {
		change(i)
	}
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	d.assertNoGrowth(t, before)
	assert.Equal(t, 1.0, d.scrape(t).of(t, "ssdprobe_collector_success", labels{"collector": "configuration"}))
	d.stop(t)
}

// A reload that changes how a target is probed, and a request of the command line, set no counter back: Prometheus
// would take that for a restart.
func TestCountersGoOn(t *testing.T) {
	t.Parallel()
	dir, stateDir := testenv.OnDisk(t), t.TempDir()
	id, configuration := fileID(dir), onFiles(t, dir)
	d := startDaemonWith(t, nil, stateDir, configuration)
	d.awaitMore(t, id, "read-4k", "ok", 3)
	for name, replace := range map[string]func(){
		"reload": func() { d.reload(t, configuration+"drift: {threshold: 0.3}\n", saysReloaded) },
		"baseline reset": func() {
			reset := ssdprobe(t, nil, "baseline", "reset", dir, "--config", d.config, "--state-dir", stateDir)
			require.Equal(t, 0, reset.code, reset.stderr)
		},
	} {
		read := labels{"id": id, "probe": "read-4k"}
		before, skip := d.scrape(t), len(d.Stderr.Text())
		replace()
		d.Stderr.FindAfter(t, skip, "msg=watching ")
		after := d.scrape(t)
		for _, series := range []string{"ssdprobe_probe_read_bytes_total", "ssdprobe_probe_last_success_timestamp_seconds"} {
			assert.GreaterOrEqual(t, after.of(t, series, read), before.of(t, series, read), "%s of %s", name, series)
		}
		ok := labels{"id": id, "probe": "read-4k", "outcome": "ok"}
		assert.GreaterOrEqual(t, after.of(t, "ssdprobe_probe_rounds_total", ok), before.of(t, "ssdprobe_probe_rounds_total", ok), name)
		d.awaitMore(t, id, "read-4k", "ok", 1)
	}
	d.stop(t)
}

// A configuration of 10 MB is refused after the first MB, and not parsed.
func TestHugeConfiguration(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("devices:\n  include:\n")
	for i := 0; b.Len() < 10<<20; i++ {
		fmt.Fprintf(&b, "    - {name: nvme%dn1}\n", i)
	}
	huge := b.String()
	got := ssdprobe(t, nil, "config", "check", file(t, "huge.yaml", huge))
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "the file is too large")
	assert.Less(t, len(got.stderr), 1000, "it is not shown")

	dir := testenv.OnDisk(t)
	d := startDaemonWith(t, eager(), t.TempDir(), onFiles(t, dir))
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 1)
	before := d.use(t)
	for range 5 {
		d.reload(t, huge, saysRefused+`.*too large`)
	}
	d.awaitCollector(t, "configuration", false)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	d.assertNoGrowth(t, before)
	d.stop(t)
}
