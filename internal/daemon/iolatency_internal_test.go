package daemon

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/iolatency"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// The disk below a device lets few I/Os pass, so more of them are slow at once than are reported. The snapshot and the
// recording say how many.
func TestSlowIOsThatAreNotReportedAreTold(t *testing.T) {
	below := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	path := testenv.Losetup(t, "--find", "--show", "--direct-io=on", below.Path)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", path) })
	group := testenv.Throttled(t, below.Number, 200)
	d, _ := flying(t, t.TempDir())
	device := traffic.Device{ID: "eui.1", Number: testenv.DeviceNumber(t, path)}
	tracer, err := iolatency.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tracer.Close()) })
	require.NoError(t, tracer.Follow(map[string]iolatency.Device{device.Number: {ID: device.ID, Requests: true}}))
	timed := &timed{devices: func() []traffic.Device { return []traffic.Device{device} }, flight: d.flight, tracer: tracer}
	require.NoError(t, timed.record(tracer))

	testenv.Installed(t, "fio")
	fio := exec.CommandContext(t.Context(), "fio", "--name=a", "--filename="+path, "--direct=1", "--ioengine=libaio", "--rw=randread", "--bs=4k", "--iodepth=128", "--number_ios=256")
	out, err := testenv.InCGroup(fio, group).CombinedOutput()
	require.NoError(t, err, "%s", out)
	d.second(2)
	require.NoError(t, timed.record(tracer))
	require.NoError(t, timed.record(tracer))

	var s record.Snapshot
	timed.fill(&s)
	limited := s.IOLatencyUnreported[record.UnreportedLimit]
	assert.Positive(t, limited)
	d.flight.Trigger(record.Trigger{Time: time.Now(), Kind: record.TriggerRequest, DeviceID: device.ID}, 0)
	rest := d.flight.Rest("the test ends")
	require.Len(t, rest, 1)
	host := rest[0].Host
	assert.EqualValues(t, limited, host[len(host)-1].SlowUnreported)
	assert.Zero(t, s.IOLatencyUnreported[record.UnreportedRoom])
}
