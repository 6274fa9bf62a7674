package daemon

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// sampling returns a daemon that watches a drive, a file on it, and a file without a device.
func sampling(t *testing.T) (*Daemon, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	d := &Daemon{shared: &shared{judging: newJudging(drift.Default()), locks: &locks{dir: t.TempDir()}, log: slog.New(slog.NewTextHandler(&log, nil))}, watches: map[string]*watch{}}
	d.flight = newFlight(sysfs.New("/"), recorder.Default())
	drive := record.Device{ID: "eui.1", Number: "259:0", Controllers: []string{"nvme0"}}
	for id, device := range map[string]record.Device{"eui.1": drive, "file:/mnt": drive, "file:/tmp": {}} {
		d.watches[id] = &watch{target: target{spec: spec{Target: measure.Target{ID: id, Number: device.Number}, LockID: "eui.1"}}, device: device}
	}
	return d, &log
}

func TestDevicesThatAreSampled(t *testing.T) {
	d, _ := sampling(t)
	want := traffic.Device{ID: "eui.1", Number: "259:0", Controllers: []string{"nvme0"}}
	assert.Equal(t, []traffic.Device{want, want}, d.sampled(), "the drive, and that of the file on it")

	lock, err := store.TakeLock(d.shared.locks.dir, "eui.1")
	require.NoError(t, err)
	assert.Equal(t, []traffic.Device{want, want}, d.sampled(), "a round of ours has the lock")
	require.NoError(t, lock.Note("a run"))
	want.Run = true
	assert.Equal(t, []traffic.Device{want, want}, d.sampled())
	require.NoError(t, lock.Release())
	want.Run = false
	assert.Equal(t, []traffic.Device{want, want}, d.sampled())
}

func TestWhatTheLogSaysOfTraffic(t *testing.T) {
	d, log := sampling(t)
	device, said := traffic.Device{ID: "eui.1", Number: "259:0"}, map[string]string{}
	for _, why := range []string{"", "", "a run of ssdprobe used the device", "a run of ssdprobe used the device", ""} {
		d.tookTraffic(device, record.Traffic{Unusable: why}, said)
	}
	assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte(`msg="the traffic of others is not known now" id=eui.1 why="a run of ssdprobe used the device"`)))
	assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte(`msg="the traffic of others is known again"`)))

	log.Reset()
	stall := record.Stall{Start: time.Unix(0, 0).UTC(), Length: time.Second, Cause: record.StallByDevice, InFlight: 3}
	d.tookStall(device, stall)
	stall.Length, stall.Cause = time.Minute, record.StallByDiscard
	d.tookStall(device, stall)
	assert.Empty(t, log.String(), "a single second, and what is explained, are for who debugs")
	stall.Cause, stall.Ongoing, stall.Length = record.StallByDevice, true, 10*time.Second
	d.tookStall(device, stall)
	assert.Contains(t, log.String(), `level=WARN msg="the device stalls: it has completed no I/O since" id=eui.1 since=1970-01-01T00:00:00.000Z seconds=10 in_flight=3`)
	stall.Ongoing, stall.Length = false, 12*time.Second
	d.tookStall(device, stall)
	assert.Contains(t, log.String(), `level=WARN msg="the device stalled: it completed no I/O for a while" id=eui.1 since=1970-01-01T00:00:00.000Z seconds=12 in_flight=3`)

	log.Reset()
	stall.Ongoing, stall.Start = true, stall.Start.Add(time.Hour)
	d.tookStall(device, stall)
	stall.Ongoing, stall.Cause = false, record.StallByDiscard
	d.tookStall(device, stall)
	assert.Contains(t, log.String(), `level=INFO msg="the device completes I/O again: it did not stall" id=eui.1 since=1970-01-01T01:00:00.000Z seconds=12 in_flight=3 cause=discard`)
}
