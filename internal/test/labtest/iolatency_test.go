package labtest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// testIOLatency makes the kernel time the I/O of a drive, of a volume on another drive, and of a
// drive with two controllers, which handles bios like a volume. Nothing else reads them.
func testIOLatency(t *testing.T, m *lab.Machine) {
	volume := mapDevice(t, m, half)
	drive, below, head := disk(t, m, plain), disk(t, m, half), disk(t, m, dual)
	d := startDaemon(t, m, configuration(t, m, 0, fmt.Sprintf(
		"%sio_latency: always\ndevices: {include: [{name: %s}, {name: %s}, {name: %s}]}\n",
		noProbes, drive.Namespaces[0], head.Namespaces[0], volume.name)))
	eventually(t, "I/O is timed", func() bool {
		available, _ := d.scrape(t).value(t, "ssdprobe_io_latency_available", labels{"device": volume.name})
		return available == 1
	})
	require.NoError(t, m.Throttle(bounded(t), plain, 10))
	fio := func(direction, node string, n int) fioLatency {
		t.Helper()
		var r struct{ Jobs []map[string]json.RawMessage }
		out := output(t, m, "fio", "--name=a", "--filename="+node, "--rw="+direction, "--bs=4k", "--direct=1", "--ioengine=psync",
			fmt.Sprintf("--number_ios=%d", n), "--output-format=json")
		require.NoError(t, json.Unmarshal([]byte(out), &r), out)
		var side struct {
			Latency fioLatency `json:"clat_ns"`
		}
		require.NoError(t, json.Unmarshal(r.Jobs[0][direction], &side))
		return side.Latency
	}
	// The kernel's own times are exact to a millisecond.
	counted := func(column int) float64 {
		v, err := strconv.ParseFloat(strings.Fields(text(t, m, "/sys/block", drive.Namespaces[0], "stat"))[column], 64)
		require.NoError(t, err)
		return v
	}
	for operation, column := range map[record.Operation]int{record.OperationRead: 0, record.OperationWrite: 4} {
		// If fio's processor is busy when fio has to wake up, fio is late, but never early. In one
		// of a few attempts it is not late.
		for attempt := 1; ; attempt++ {
			count, kernel, before := counted(column), counted(column+3), d.histogram(t, drive.Namespaces[0], operation)
			by := fio(string(operation), drive.Node(), 20)
			count, kernel = counted(column)-count, counted(column+3)-kernel
			got := since(before, d.histogram(t, drive.Namespaces[0], operation))
			assert.EqualValues(t, count, got.Count())
			// The kernel's time begins with the request, before it is issued. It may end before the
			// completion is visible here.
			assert.LessOrEqual(t, float64(got.Sum.Milliseconds()), 1.01*kernel+1, operation)
			assert.InEpsilon(t, kernel, float64(got.Sum.Milliseconds()), 0.3, operation)
			assert.LessOrEqual(t, float64(got.Mean()), 1.01*by.Mean, operation)
			difference := by.difference(got)
			t.Logf("%s: fio says %s, the histogram %s", operation, time.Duration(by.Mean), got.Mean())
			if difference == "" {
				break
			}
			require.Less(t, attempt, 10, "%s: %s", operation, difference)
		}
	}
	assert.Empty(t, d.histograms(t, head.Namespaces[0]), "the others did nothing")

	fio("read", volume.node(), 20)
	fio("write", volume.node(), 10)
	fio("read", below.Node(), 5)
	fio("read", head.Node(), 30)
	for device, want := range map[string]map[record.Operation]uint64{
		volume.name:        {record.OperationRead: 20, record.OperationWrite: 10}, // without the reads on the drive below
		head.Namespaces[0]: {record.OperationRead: 30},
	} {
		got := map[record.Operation]uint64{}
		for _, h := range d.histograms(t, device) {
			if h.Stage == record.StageDevice {
				got[h.Operation] = h.Count()
			}
		}
		assert.Equal(t, want, got, device)
	}

	require.NoError(t, m.Hang(bounded(t), plain))
	before, reads := d.slowest(t, drive.Namespaces[0]), d.histogram(t, drive.Namespaces[0], record.OperationRead).Count()
	read, err := m.StartProcess(bounded(t), "dd", "if="+drive.Node(), "of=/dev/null", "bs=4096", "count=4", "skip=1234", "iflag=direct")
	require.NoError(t, err)
	eventually(t, "a read has hung for two seconds", func() bool {
		longest, _ := d.scrape(t).value(t, "ssdprobe_device_stall_longest_seconds", labels{"device": drive.Namespaces[0]})
		return longest >= 2
	})
	output(t, m, "nvme", "reset", "/dev/"+drive.Controllers[0])
	require.NoError(t, m.Throttle(bounded(t), plain, 0))
	_, err = read.Wait(bounded(t))
	require.NoError(t, err)
	assert.Equal(t, reads+4, d.histogram(t, drive.Namespaces[0], record.OperationRead).Count(), "each once")
	assert.Less(t, before, 1.0)
	assert.Greater(t, d.slowest(t, drive.Namespaces[0]), 2.0, "from when the drive got it first, although the driver repeated it")

	require.NoError(t, m.Unplug(bounded(t), plain))
	eventually(t, "its histograms are gone", func() bool { return d.histograms(t, drive.Namespaces[0]) == nil })
	d.stop(t)
}

// fioLatency is fio's completion latency, in nanoseconds.
type fioLatency struct {
	Mean        float64
	Percentiles map[string]float64 `json:"percentile"`
}

// difference says where a histogram of the same I/Os differs; it is empty if the mean is within 3 %
// and the percentiles are within one bucket.
func (f fioLatency) difference(h record.IOHistogram) string {
	if math.Abs(float64(h.Mean())/f.Mean-1) > 0.03 {
		return fmt.Sprintf("fio's mean is %s, that of the histogram %s", time.Duration(f.Mean), h.Mean())
	}
	for percent, name := range map[float64]string{50: "50.000000", 99: "99.000000"} {
		got, _ := h.Percentile(percent)
		if want := record.IOBucketOf(time.Duration(f.Percentiles[name])); got < want-1 || got > want+1 {
			return fmt.Sprintf("fio's p%g lies in bucket %d, that of the histogram in %d", percent, want, got)
		}
	}
	return ""
}

// since returns what a histogram has counted since an earlier one of the same operation.
func since(before, after record.IOHistogram) record.IOHistogram {
	after.Sum -= before.Sum
	after.Buckets = maps.Clone(after.Buckets)
	for bucket, n := range before.Buckets {
		after.Buckets[bucket] -= n
	}
	return after
}

// histograms returns the histograms of a device.
func (d daemon) histograms(t *testing.T, device string) []record.IOHistogram {
	t.Helper()
	_, body := d.get(t, "api/v1/snapshot")
	var s record.Snapshot
	require.NoError(t, json.Unmarshal([]byte(body), &s))
	for _, target := range s.Targets {
		if target.Device.Name == device && target.IOLatency != nil {
			return target.IOLatency.Histograms
		}
	}
	return nil
}

// histogram returns the histogram of an operation on a device.
func (d daemon) histogram(t *testing.T, device string, operation record.Operation) record.IOHistogram {
	t.Helper()
	for _, h := range d.histograms(t, device) {
		if h.Operation == operation && h.Stage == record.StageDevice {
			return h
		}
	}
	return record.IOHistogram{}
}

// slowest returns an upper bound of the time of a device's slowest read, in seconds.
func (d daemon) slowest(t *testing.T, device string) (seconds float64) {
	t.Helper()
	for bucket := range maps.Keys(d.histogram(t, device, record.OperationRead).Buckets) {
		seconds = max(seconds, record.IOBucketSeconds(bucket))
	}
	return seconds
}
