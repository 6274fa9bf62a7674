package faulttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// recordings returns the recordings that the command lists.
func (d *daemon) recordings(t *testing.T) []record.RecordingHead {
	t.Helper()
	out := ssdprobe(t, nil, "record", "list", "--config", d.config, "--state-dir", d.state, "--output", "json")
	require.Zero(t, out.code, out.stderr)
	var list report.RecordingList
	require.NoError(t, json.Unmarshal([]byte(out.stdout), &list))
	return list.Recordings
}

// recording returns a recording as the command shows it.
func (d *daemon) recording(t *testing.T, which string) (rec record.Recording) {
	t.Helper()
	out := ssdprobe(t, nil, "record", "show", which, "--config", d.config, "--state-dir", d.state, "--output", "json")
	require.Zero(t, out.code, out.stderr)
	require.NoError(t, json.Unmarshal([]byte(out.stdout), &rec))
	return rec
}

// A drive hangs during an application's write. A minute later there is a recording of it. The
// finding names it, and its seconds show the write in flight and nothing completed.
func TestAStallIsRecorded(t *testing.T) {
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
	eventually(t, "the traffic is watched", func() bool {
		_, watched := d.scrape(t).value(t, "ssdprobe_device_stalls_total", labels{"id": id, "cause": "device"})
		return watched
	})
	assert.Empty(t, d.recordings(t))

	thaw := freeze(t, below)
	hanging := exec.CommandContext(context.WithoutCancel(t.Context()), "dd", "if=/dev/urandom", "of="+loop.Path, "bs=4k", "count=1", "seek=1000", "oflag=direct", "conv=notrunc")
	require.NoError(t, hanging.Start())
	d.Stderr.Find(t, `msg="the device stalls: it has completed no I/O since" id=`+id)
	thaw(t)
	require.NoError(t, hanging.Wait())
	eventually(t, "the minute after it is over", func() bool { return d.scrape(t).of(t, "ssdprobe_recordings", nil) == 1 })
	now := d.scrape(t)
	assert.Equal(t, 1.0, now.of(t, "ssdprobe_recordings_written_total", nil))
	assert.Zero(t, now.of(t, "ssdprobe_recordings_failures_total", nil))
	assert.Positive(t, now.of(t, "ssdprobe_recordings_size_bytes", nil))

	heads := d.recordings(t)
	require.Len(t, heads, 1)
	head := heads[0]
	assert.Empty(t, head.Cut)
	assert.Equal(t, []string{id, name}, []string{head.Triggers[0].DeviceID, head.Triggers[0].Device})
	assert.Contains(t, d.page(t, "api/v1/status"), "recorded as "+head.ID)
	assert.Contains(t, d.page(t, "api/v1/recordings"), head.ID)
	assert.Contains(t, d.page(t, "recordings/"+head.ID), "no I/O completed for")

	rec := d.recording(t, head.ID)
	require.Len(t, rec.Devices, 1)
	standing := 0
	for _, s := range rec.Devices[0].Seconds {
		if s.Stall == "" {
			continue
		}
		standing++
		assert.Equal(t, record.StallByDevice, s.Stall)
		assert.Positive(t, s.InFlight)
		assert.Zero(t, s.IOs(), "at %s", s.Time)
	}
	assert.GreaterOrEqual(t, standing, 8)
	last := rec.Devices[0].Seconds[len(rec.Devices[0].Seconds)-1]
	assert.Zero(t, last.InFlight)

	var asked record.Recording
	require.NoError(t, json.Unmarshal([]byte(d.page(t, "api/v1/recordings/"+head.ID)), &asked))
	assert.Equal(t, rec, asked, "the daemon says the same as the directory")
	file := filepath.Join(t.TempDir(), "stall.jsonl.gz")
	require.Zero(t, ssdprobe(t, nil, "record", "export", head.ID, "--config", d.config, "--state-dir", d.state, "--to", file).code)
	d.stop(t)
	rec.Bytes = 0 // not part of the file
	assert.Equal(t, rec, d.recording(t, file))

	again := startDaemon(t, d.state, "devices: {enabled: false}\nfallback_file: false\n")
	assert.Equal(t, 1.0, again.scrape(t).of(t, "ssdprobe_recordings", nil), "a restart keeps it")
	assert.Contains(t, again.page(t, "api/v1/recordings"), head.ID)
	again.stop(t)
}
