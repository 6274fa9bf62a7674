package counters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestReadQueue(t *testing.T) {
	const drive, array = "sys/devices/pci/nvme0n1/", "sys/devices/virtual/md0/"
	host := sysfstest.Make(t, map[string]string{
		drive + "queue/max_sectors_kb": "1280\n", drive + "queue/nr_requests": "1023\n",
		drive + "mq/0/cpu_list": "0, 1\n", drive + "mq/1/cpu_list": "2, 3\n",
		array + "queue/max_sectors_kb": "512\n", array + "queue/nr_requests": "128\n", // the kernel prints this for all devices
		"sys/devices/silent/mq/0/cpu_list":      "0\n",
		"sys/devices/odd/queue/max_sectors_kb":  "many\n",
		"sys/devices/odd2/queue/nr_requests":    "-\n",
		"sys/devices/odd2/mq/0/cpu_list":        "0\n",
		"sys/devices/odd2/queue/max_sectors_kb": "4\n",
	}, map[string]string{
		"sys/dev/block/259:0": "../../devices/pci/nvme0n1", "sys/dev/block/9:0": "../../devices/virtual/md0",
		"sys/dev/block/8:0": "../../devices/silent", "sys/dev/block/8:16": "../../devices/odd", "sys/dev/block/8:32": "../../devices/odd2",
	})
	for number, want := range map[string]counters.Queue{
		"259:0": {Requests: 1023, HardwareQueues: 2, MaxRequestBytes: 1280 << 10},
		"9:0":   {MaxRequestBytes: 512 << 10},
		"8:0":   {HardwareQueues: 1},
		"8:99":  {}, // it has left
	} {
		got, err := counters.ReadQueue(host, number)
		require.NoError(t, err, number)
		assert.Equal(t, want, got, number)
	}
	for number, file := range map[string]string{"8:16": "max_sectors_kb", "8:32": "nr_requests"} {
		got, err := counters.ReadQueue(host, number)
		require.ErrorContains(t, err, file)
		assert.Zero(t, got)
	}
}
