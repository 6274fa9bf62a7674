package faulttest_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// idOf returns the identity of the watched device with the given name.
func (d *daemon) idOf(t *testing.T, name string) string {
	t.Helper()
	for _, series := range d.scrape(t).family(t, "ssdprobe_device_info") {
		have := labels{}
		for _, l := range series.Label {
			have[l.GetName()] = l.GetValue()
		}
		if have["device"] == name {
			return have["id"]
		}
	}
	require.FailNow(t, "not watched", name)
	return ""
}

// Reads of a raw device fail, except those of its first blocks.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	loop, dir := testenv.LoopDevice(t, size, testenv.Options{Random: true}), testenv.OnDisk(t)
	name := filepath.Base(loop.Path)
	config := onFiles(t, dir)
	config = regexp.MustCompile(`devices: .*`).ReplaceAllString(config, "devices: {include: [{name: "+name+"}]}")
	d := startDaemon(t, t.TempDir(), config)
	id, other := d.idOf(t, name), fileID(dir)
	d.awaitMore(t, id, "read-4k", "ok", 2)

	loop.Truncate(t, 1<<20)
	d.awaitMore(t, id, "read-4k", "error", 2)
	d.Stderr.Find(t, `round not usable.*device=`+name+`.*outcome=error`)
	now := d.scrape(t)
	assert.Positive(t, now.of(t, "ssdprobe_probe_errors_total", labels{"id": id, "errno": "EIO"}))
	d.awaitMore(t, other, "read-4k", "ok", 2) // one bad drive does not affect others

	loop.Truncate(t, size)
	loop.Write(t, 0, size)
	d.awaitMore(t, id, "read-4k", "ok", 2)
	d.Stderr.Find(t, `rounds are fine again.*device=`+name+`.*was=`)
	d.stop(t)
	assert.Len(t, saved(t, d.state), 2)
}

// Writes to a probe file fail, as on a thin volume that has run out of space below the filesystem.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	pool := testenv.Ext4(t, 96<<20)
	volume := testenv.LoopDevice(t, 256<<20, testenv.Options{Dir: pool})
	// Without a journal: on a full pool its next blocks could not be written either, and the
	// filesystem would become read-only.
	dir, other := testenv.Ext4On(t, volume, "-O", "^has_journal"), testenv.OnDisk(t)
	d := startDaemon(t, t.TempDir(), onFiles(t, dir, other))
	id := fileID(dir)
	d.awaitMore(t, id, "durable-write-4k", "ok", 1)
	written := d.scrape(t).of(t, "ssdprobe_probe_written_bytes_total", labels{"id": id})
	require.Positive(t, written)

	for _, e := range extents(t, filepath.Join(dir, "ssdprobe.dat")) {
		volume.Punch(t, e.start, e.length)
	}
	filler := fill(t, pool)
	d.awaitMore(t, id, "durable-write-4k", "error", 2)
	d.Stderr.Find(t, `round not usable.*probe=durable-write-4k outcome=error`)
	assert.Positive(t, d.scrape(t).of(t, "ssdprobe_probe_errors_total", labels{"id": id, "probe": "durable-write-4k"}))
	d.awaitMore(t, fileID(other), "durable-write-4k", "ok", 2)

	empty(t, filler)
	d.awaitMore(t, id, "durable-write-4k", "ok", 2)
	d.stop(t)
}

// extent is a part of a file, by its position on the device.
type extent struct{ start, length int64 }

// extents returns where a file is on its device, according to filefrag.
func extents(t *testing.T, path string) []extent {
	t.Helper()
	const blockBytes = 4096
	out := outside(t, "filefrag", "-v", "-b4096", path)
	var list []extent
	for _, m := range regexp.MustCompile(`(?m)^ *\d+: +\d+\.\. +\d+: +(\d+)\.\. +(\d+):`).FindAllStringSubmatch(out, -1) {
		first, err := strconv.ParseInt(m[1], 10, 64)
		require.NoError(t, err)
		last, err := strconv.ParseInt(m[2], 10, 64)
		require.NoError(t, err)
		list = append(list, extent{first * blockBytes, (last - first + 1) * blockBytes})
	}
	require.NotEmpty(t, list, out)
	return list
}
