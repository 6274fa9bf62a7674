package replay_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/replay"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The daemon exports the traffic of a device once, with the id of one of the targets on it.
func TestTheTrafficOfADeviceIsThatOfEachTargetOnIt(t *testing.T) {
	testenv.Installed(t, "promtool")
	s := promtest.StartWith(t, strings.ReplaceAll(`# TYPE ssdprobe_device_info gauge
ssdprobe_device_info{instance="a:1",device="sda",id="file:/a",kind="file"} 1 TIME
ssdprobe_device_info{instance="a:1",device="sda",id="file:/b",kind="file"} 1 TIME
ssdprobe_device_info{instance="a:1",device="sdb",id="eui.2",kind="disk"} 1 TIME
# TYPE ssdprobe_traffic_ios gauge
ssdprobe_traffic_ios{instance="a:1",device="sda",id="file:/a",operation="read"} 3000 TIME
ssdprobe_traffic_ios{instance="a:1",device="sdb",id="eui.2",operation="read"} 6000 TIME
ssdprobe_traffic_ios{instance="b:1",device="sda",id="file:/b",operation="read"} 9000 TIME
# TYPE ssdprobe_traffic_latency_mean_seconds gauge
ssdprobe_traffic_latency_mean_seconds{instance="a:1",device="sda",id="file:/a",operation="read"} 0.25 TIME
ssdprobe_traffic_latency_mean_seconds{instance="a:1",device="sdb",id="eui.2",operation="read"} 0.5 TIME
ssdprobe_traffic_latency_mean_seconds{instance="b:1",device="sda",id="file:/b",operation="read"} 0.75 TIME
# EOF
`, "TIME", "1000000"))
	at := time.Unix(1000000, 0)
	for device, want := range map[string]float64{"file:/a": 0.25, "file:/b": 0.25, "sda": 0.25, "eui.2": 0.5} {
		p, err := replay.NewPrometheus(nil, replay.Query{URL: s.URL, Instance: "a:1", Device: device, Probe: "read-4k", From: at, To: at.Add(time.Minute)})
		require.NoError(t, err)
		sample, err := p.Next(t.Context())
		require.NoError(t, err, device)
		assert.Equal(t, want, sample.Traffic.ReadLatency, device)
	}
}

// A drive that rests for half a minute has no series of I/Os, and yet nobody doubts what others did. Otherwise nothing would be
// known of the work in the five minutes of a block, and the load in the others would not be taken off.
func TestATimeWithoutTrafficIsKnown(t *testing.T) {
	testenv.Installed(t, "promtool")
	s := promtest.StartWith(t, `# TYPE ssdprobe_probe_iops gauge
ssdprobe_probe_iops{instance="a:1",device="sda",id="eui.1",probe="read-4k"} 9000 1000000
ssdprobe_probe_iops{instance="a:1",device="sda",id="eui.1",probe="read-4k"} 9000 1000060
ssdprobe_probe_iops{instance="a:1",device="sda",id="eui.1",probe="read-4k"} 9000 1000120
# TYPE ssdprobe_probe_latency_percentile_seconds gauge
ssdprobe_probe_latency_percentile_seconds{instance="a:1",device="sda",id="eui.1",probe="read-4k",percentile="50"} 0.0001 1000000
ssdprobe_probe_latency_percentile_seconds{instance="a:1",device="sda",id="eui.1",probe="read-4k",percentile="50"} 0.0001 1000060
ssdprobe_probe_latency_percentile_seconds{instance="a:1",device="sda",id="eui.1",probe="read-4k",percentile="50"} 0.0001 1000120
ssdprobe_probe_latency_percentile_seconds{instance="a:1",device="sda",id="eui.1",probe="read-4k",percentile="95"} 0.0001 1000000
ssdprobe_probe_latency_percentile_seconds{instance="a:1",device="sda",id="eui.1",probe="read-4k",percentile="95"} 0.0001 1000060
ssdprobe_probe_latency_percentile_seconds{instance="a:1",device="sda",id="eui.1",probe="read-4k",percentile="95"} 0.0001 1000120
ssdprobe_probe_latency_percentile_seconds{instance="a:1",device="sda",id="eui.1",probe="read-4k",percentile="99"} 0.0001 1000000
ssdprobe_probe_latency_percentile_seconds{instance="a:1",device="sda",id="eui.1",probe="read-4k",percentile="99"} 0.0001 1000060
ssdprobe_probe_latency_percentile_seconds{instance="a:1",device="sda",id="eui.1",probe="read-4k",percentile="99"} 0.0001 1000120
# TYPE ssdprobe_traffic_known gauge
ssdprobe_traffic_known{instance="a:1",device="sda",id="eui.1"} 1 1000000
ssdprobe_traffic_known{instance="a:1",device="sda",id="eui.1"} 1 1000060
ssdprobe_traffic_known{instance="a:1",device="sda",id="eui.1"} 0 1000120
# TYPE ssdprobe_traffic_ios gauge
ssdprobe_traffic_ios{instance="a:1",device="sda",id="eui.1",operation="read"} 3000 1000000
ssdprobe_traffic_ios{instance="a:1",device="sda",id="eui.1",operation="read"} NaN 1000001
# EOF
`)
	from := time.Unix(1000000, 0)
	p, err := replay.NewPrometheus(nil, replay.Query{URL: s.URL, Device: "sda", Probe: "read-4k", From: from, To: from.Add(2 * time.Minute)})
	require.NoError(t, err)
	for _, want := range []drift.Work{{Known: true, Reads: 100}, {Known: true}, {}} {
		sample, err := p.Next(t.Context())
		require.NoError(t, err)
		assert.True(t, sample.Probed())
		assert.Equal(t, want, sample.Work, sample.Time)
	}
}

// The daemon judges no latencies that the kernel counts in ticks.
func TestTrafficInTicksIsNotJudged(t *testing.T) {
	testenv.Installed(t, "promtool")
	s := promtest.StartWith(t, strings.ReplaceAll(`# TYPE ssdprobe_traffic_ios gauge
ssdprobe_traffic_ios{instance="a:1",device="dm-0",id="dm.1",operation="read"} 3000 TIME
ssdprobe_traffic_ios{instance="a:1",device="sda",id="eui.1",operation="read"} 3000 TIME
# TYPE ssdprobe_traffic_latency_mean_seconds gauge
ssdprobe_traffic_latency_mean_seconds{instance="a:1",device="dm-0",id="dm.1",operation="read"} 0.25 TIME
ssdprobe_traffic_latency_mean_seconds{instance="a:1",device="sda",id="eui.1",operation="read"} 0.25 TIME
# TYPE ssdprobe_traffic_coarse_times gauge
ssdprobe_traffic_coarse_times{instance="a:1",device="dm-0",id="dm.1"} 1 TIME
# EOF
`, "TIME", "1000000"))
	at := time.Unix(1000000, 0)
	for device, judged := range map[string]bool{"sda": true, "dm-0": false} {
		p, err := replay.NewPrometheus(nil, replay.Query{URL: s.URL, Instance: "a:1", Device: device, Probe: "read-4k", From: at, To: at.Add(time.Minute)})
		require.NoError(t, err)
		sample, err := p.Next(t.Context())
		assert.Equal(t, judged, sample.Traffic.Known(), device)
		if !judged {
			assert.ErrorIs(t, err, io.EOF)
		}
	}
}
