package counters_test

import (
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// stacked returns a host with two drives, an array of their partitions that counts only I/Os, as md
// did before Linux 5.14, a volume on the array, an NVMe namespace whose path counts for it, and a
// drive of an old kernel.
func stacked(t *testing.T) sysfs.FS {
	t.Helper()
	return sysfstest.Make(t, map[string]string{
		"proc/diskstats": `
   8 0 sda 10 0 80 100 20 0 160 200 1 1000 5000 2 0 16 30 3 5
   8 1 sda1 10 0 80 100 20 0 160 200 1 1000 5000 2 0 16 30 3 5
   8 16 sdb 10 0 80 100 20 0 160 200 2 3000 300 2 0 16 30 3 5
   8 17 sdb1 10 0 80 100 20 0 160 200 2 3000 300 2 0 16 30 3 5
   8 32 sdc 10 0 80 100 20 0 160 200 1 9000 300
   9 0 md0 50 0 400 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 253 0 dm-0 10 0 80 100 0 0 0 0 0 0 0 0 0 0 0 0 0
 259 0 nvme0n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259 1 nvme0c0n1 7 0 56 10 0 0 0 0 0 9 10 0 0 0 0 0 0
`,
		"sys/devices/sda/mq/0/cpu_list":  "0\n",
		"sys/devices/sda/dev":            "8:0\n",
		"sys/devices/sda/sda1/dev":       "8:1\n",
		"sys/devices/sda/sda1/partition": "1\n",
		"sys/devices/sda/stat":           "10 0 80 100 20 0 160 200 1 1000 5000 2 0 16 30 3 5\n",
		"sys/devices/sdb/dev":            "8:16\n",
		"sys/devices/sdb/sdb1/dev":       "8:17\n",
		"sys/devices/sdb/sdb1/partition": "1\n",
		"sys/devices/sdc/mq/0/cpu_list":  "0\n",
		"sys/devices/sdc/dev":            "8:32\n",
		"sys/devices/md0/dev":            "9:0\n",
		"sys/devices/md0/stat":           "50 0 400 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		"sys/devices/dm-0/dev":           "253:0\n",
		"sys/devices/nvme0n1/dev":        "259:0\n",
		"sys/devices/nvme0n1/stat":       "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
	}, map[string]string{
		"sys/dev/block/8:0": "../../devices/sda", "sys/dev/block/8:1": "../../devices/sda/sda1",
		"sys/dev/block/8:16": "../../devices/sdb", "sys/dev/block/8:17": "../../devices/sdb/sdb1",
		"sys/dev/block/8:32": "../../devices/sdc", "sys/dev/block/9:0": "../../devices/md0",
		"sys/dev/block/253:0": "../../devices/dm-0", "sys/dev/block/259:0": "../../devices/nvme0n1",
		"sys/devices/md0/slaves/sda1": "../../sda/sda1", "sys/devices/md0/slaves/sdb1": "../../sdb/sdb1",
		"sys/devices/dm-0/slaves/md0": "../../md0",
	})
}

func TestSource(t *testing.T) {
	host := stacked(t)
	disks, err := counters.ReadDisks(host)
	require.NoError(t, err)
	for number, want := range map[string]struct {
		timing         counters.Timing
		busy, weighted time.Duration
		inFlight, ios  uint64
		below          []string
	}{
		"8:0":   {counters.ExactTimes, time.Second, 5 * time.Second, 1, 35, nil},
		"8:16":  {counters.TickTimes, 3 * time.Second, 300 * time.Millisecond, 2, 35, nil},                    // without a queue of requests
		"8:32":  {counters.TickTimes, 9 * time.Second, 300 * time.Millisecond, 1, 30, nil},                    // an old kernel
		"9:0":   {counters.NoTimes, 2 * time.Second, 5300 * time.Millisecond, 3, 50, []string{"8:0", "8:16"}}, // its members are busy
		"253:0": {counters.TickTimes, 0, 0, 0, 10, []string{"9:0", "8:0", "8:16"}},                            // it counts itself
		"259:0": {counters.ExactTimes, 9 * time.Millisecond, 10 * time.Millisecond, 0, 7, nil},                // its path
	} {
		t.Run(number, func(t *testing.T) {
			source, err := counters.FindSource(host, number)
			require.NoError(t, err)
			assert.Equal(t, want.below, source.Below())
			disk, timing, ok := source.In(disks)
			require.True(t, ok)
			assert.Equal(t, want.timing, timing)
			assert.Equal(t, want.busy, disk.BusyTime)
			assert.Equal(t, want.weighted, disk.WeightedTime)
			assert.Equal(t, want.inFlight, disk.InFlight)
			assert.Equal(t, want.ios, disk.IOs())
			alone, timing, err := source.Read(host)
			require.NoError(t, err)
			assert.Equal(t, want.timing, timing)
			alone.Name = disk.Name
			assert.Equal(t, disk, alone, "read by itself it has the same counts")
		})
	}
}

// Linux 6.10 and later leave the times of a device without requests at zero while each I/O takes less than a tick.
func TestSourceOfAnArrayWithFewIOs(t *testing.T) {
	host := stacked(t)
	for release, want := range map[string]struct {
		timing   counters.Timing
		inFlight uint64
	}{
		"6.12.9-amd64":      {counters.TickTimes, 0},
		"5.14.0-503.el9":    {counters.TickTimes, 0},
		"5.10.0-33-amd64":   {counters.NoTimes, 3},
		"4.18.0-553.el8_10": {counters.NoTimes, 3},
		"nonsense":          {counters.NoTimes, 3},
	} {
		sysfstest.Add(t, host.Root(), map[string]string{"proc/sys/kernel/osrelease": release + "\n"}, nil)
		source, err := counters.FindSource(host, "9:0")
		require.NoError(t, err)
		disk, timing, err := source.Read(host)
		require.NoError(t, err)
		assert.Equal(t, want.timing, timing, release)
		assert.Equal(t, want.inFlight, disk.InFlight, release)
	}
}

func TestSourceOfADeviceThatLeft(t *testing.T) {
	host := stacked(t)
	gone, err := counters.FindSource(host, "8:48")
	require.NoError(t, err)
	_, _, err = gone.Read(host)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "device 8:48 is not in /proc/diskstats")
	_, _, ok := gone.In(nil)
	assert.False(t, ok)
}
