package labtest_test

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// betweenRounds has rounds so seldom that everything is observed between two of them.
const betweenRounds = "probes: [{name: read-4k, interval: 10m, ios: 32}]\n"

// testStalls tests a drive that does not answer for seconds, and a volume that somebody has suspended.
func testStalls(t *testing.T, m *lab.Machine) {
	below, name := mapDevice(t, m, half), disk(t, m, plain).Namespaces[0]
	// I/O on a device above a suspended one is in flight there; the suspended device itself does not count it.
	sectors := number(t, m, "/sys/block", below.name, "size")
	output(t, m, "dmsetup", "create", "top", "--table", fmt.Sprintf("0 %d linear %s 0", sectors, below.node()))
	t.Cleanup(func() {
		_, err := m.Output(afterwards(t), "dmsetup", "remove", "--retry", "--deferred", "top")
		assert.NoError(t, err)
	})
	top := path.Base(output(t, m, "sh", "-ec", "cd /sys/block/"+below.name+"/holders && echo -n *"))
	d := startDaemon(t, m, configuration(t, m, 0, fmt.Sprintf("%sdevices: {include: [{name: %s}, {name: %s}]}\n", betweenRounds, name, top)))
	stalls := func(device, cause string) float64 {
		seconds, _ := d.scrape(t).value(t, "ssdprobe_device_stall_seconds_total", labels{"device": device, "cause": cause})
		return seconds
	}
	for _, device := range []string{name, top} {
		eventually(t, "the traffic is watched", func() bool {
			_, ok := d.scrape(t).value(t, "ssdprobe_device_stalls_total", labels{"device": device})
			return ok
		})
	}
	read := func(device string) *lab.Process {
		p, err := m.StartProcess(bounded(t), "dd", "if=/dev/"+device, "of=/dev/null", "bs=4096", "count=1", "skip=1234")
		require.NoError(t, err)
		return p
	}
	longest := func(device string) float64 {
		return d.scrape(t).must(t, "ssdprobe_device_stall_longest_seconds", labels{"device": device})
	}

	require.NoError(t, m.Hang(bounded(t), plain))
	hanging := read(name)
	eventually(t, "the drive has completed nothing for three seconds", func() bool { return longest(name) > 2.5 })
	assert.Equal(t, 1.0, d.scrape(t).must(t, "ssdprobe_finding", labels{"device": name, "code": "stalled"}), "it is told while it goes on")
	require.NoError(t, m.Throttle(bounded(t), plain, 0))
	_, err := hanging.Wait(bounded(t))
	require.NoError(t, err)
	d.awaitLog(t, "the device stalled: it completed no I/O for a while")
	eventually(t, "the stall is counted", func() bool { return stalls(name, "device") > 2.5 })

	below.hang(t)
	hanging = read(top)
	eventually(t, "the volume stands", func() bool {
		return slices.ContainsFunc(d.stalls(t, top), func(s record.Stall) bool { return s.Length.Seconds() > 2.5 })
	})
	below.release(t)
	_, err = hanging.Wait(bounded(t))
	require.NoError(t, err)
	eventually(t, "its stall is over", func() bool { return stalls(top, "suspended") > 2.5 })
	// Once the volume goes on, a slow machine may take a second or two for what waits: that is the device's.
	assert.Less(t, stalls(top, "device"), 2.5, "the suspension is not the device's")
	assert.Less(t, longest(top), 2.5, "nor its longest stall")
	d.stop(t)
}

// stalls returns the stalls of a device in the last hour.
func (d daemon) stalls(t *testing.T, device string) []record.Stall {
	t.Helper()
	_, body := d.get(t, "api/v1/snapshot")
	var s record.Snapshot
	require.NoError(t, json.Unmarshal([]byte(body), &s))
	for _, target := range s.Targets {
		if target.Device.Name == device && target.Traffic != nil {
			return target.Traffic.Stalls
		}
	}
	return nil
}
