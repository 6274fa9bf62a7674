package replay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
