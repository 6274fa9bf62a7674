package admit_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// diskstats has lines of a drive, of an array that counts only I/Os, as before Linux 5.14, of the array's two members,
// and of a drive on a kernel that does not count flushes.
const diskstats = `
 259 0 nvme0n1 10 0 80 100 20 0 160 200 1 4000 300 2 0 16 30 3 5
   9 0 md0 50 0 400 0 0 0 0 0 0 0 0 0 0 0 0 0 0
   8 0 sda 10 0 80 100 20 0 160 200 1 1000 300 2 0 16 30 3 5
   8 16 sdb 10 0 80 100 20 0 160 200 2 3000 300 2 0 16 30 3 5
   8 32 sdc 10 0 80 100 20 0 160 200 1 9000 300 2 0 16 30
   9 1 md1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
`

func TestDiskUsage(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"proc/diskstats":                   diskstats,
		"sys/dev/block/259:0/mq/0/cpus":    "",
		"sys/dev/block/8:32/mq/0/cpus":     "",
		"sys/dev/block/9:0/slaves/sda/dev": "8:0\n",
		"sys/dev/block/9:0/slaves/sdb/dev": "8:16\n",
		"sys/dev/block/9:1/slaves/sdb/dev": "8:16\n",
		// The counters of the device's own directory suffice; its line in diskstats has other values.
		"sys/dev/block/8:32/stat": "10 0 80 100 20 0 160 200 1 4000 300 2 0 16 30\n",
		"sys/dev/block/8:48/stat": "10 0 80 100 20 0 160 200 0 5000 300 2 0 16 30 3 5\n",
		"sys/dev/block/8:64/stat": "10 0 80 100 20 0 160 200 3 0 300 2 0 16 30 3 5\n",
		"sys/dev/block/9:0/stat":  "50 0 400 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		"sys/dev/block/8:0/stat":  "damaged\n",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for number, want := range map[string]admit.Usage{
		"259:0": {Busy: 4 * time.Second, Served: 335 * time.Millisecond, InFlight: 1, IOs: 35, Queued: 300 * time.Millisecond, Bytes: 240 * 512},
		"9:0":   {Busy: 2 * time.Second, InFlight: 3, IOs: 50, Queued: 600 * time.Millisecond, Bytes: 400 * 512},
		"9:1":   {},                                                                                                                              // no I/O yet
		"8:16":  {Busy: 3 * time.Second, Served: 335 * time.Millisecond, InFlight: 2, IOs: 35, Queued: 300 * time.Millisecond, Bytes: 240 * 512}, // its driver has no request queue
		"8:32":  {Busy: 4 * time.Second, Served: 330 * time.Millisecond, InFlight: 1, IOs: 32, Queued: 300 * time.Millisecond, Bytes: 240 * 512},
		"8:48":  {Busy: 5 * time.Second, Served: 335 * time.Millisecond, IOs: 35, Queued: 300 * time.Millisecond, Bytes: 240 * 512},
		"8:64":  {Served: 335 * time.Millisecond, InFlight: 3, IOs: 35, Queued: 300 * time.Millisecond, Bytes: 240 * 512},
		"8:0":   {Busy: time.Second, Served: 335 * time.Millisecond, InFlight: 1, IOs: 35, Queued: 300 * time.Millisecond, Bytes: 240 * 512},
	} {
		disk, err := admit.NewDisk(sysfs.New(root), number)
		require.NoError(t, err)
		usage, err := disk.Usage()
		require.NoError(t, err)
		assert.Equal(t, want, usage, number)
	}
	gone, err := admit.NewDisk(sysfs.New(root), "1:1")
	require.NoError(t, err)
	_, err = gone.Usage()
	require.ErrorContains(t, err, "device 1:1 is not in /proc/diskstats")
}
