package traffic

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// BenchmarkSecond measures the cost of a second for devices with two partitions each. A file stands in for the
// kernel's /proc/diskstats.
func BenchmarkSecond(b *testing.B) {
	for _, n := range []int{1, 24, 256} {
		b.Run(fmt.Sprintf("devices=%d", n), func(b *testing.B) {
			root := b.TempDir()
			require.NoError(b, os.Mkdir(filepath.Join(root, "proc"), 0o700))
			var text strings.Builder
			var devices []Device
			for i := range n {
				for part := range 3 {
					fmt.Fprintf(&text, "259 %d nvme%dn1p%d 1080336%d 1839324 3308448102 139195967 6162209 1309460 828609543 14023259 9 6591240 155225461 1138820 269 2065308664 1773658 487808 232575\n", 3*i+part, i, part, i)
				}
				devices = append(devices, Device{ID: fmt.Sprint(i), Number: fmt.Sprintf("259:%d", 3*i)})
			}
			require.NoError(b, os.WriteFile(filepath.Join(root, "proc/diskstats"), []byte(text.String()), 0o600))
			benchmark(b, sysfs.New(root), devices)
		})
	}
}

// BenchmarkSecondOfThisMachine does the same for the devices of this machine, where the kernel sums the
// counters of all CPUs.
func BenchmarkSecondOfThisMachine(b *testing.B) {
	host := sysfs.New("/")
	disks, err := counters.ReadDisks(host)
	require.NoError(b, err)
	var devices []Device
	for _, d := range disks {
		devices = append(devices, Device{ID: d.Name, Number: d.Number})
	}
	benchmark(b, host, devices)
	b.ReportMetric(float64(len(devices)), "devices")
}

func benchmark(b *testing.B, host sysfs.FS, devices []Device) {
	b.Helper()
	s := New(Options{
		FS: host, Devices: func() []Device { return devices },
		Sample: func(Device, record.Traffic) {}, Stall: func(Device, record.Stall) {},
	})
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		s.sample(context.Background(), false)
	}
	// CPU time is the same on a busy machine as on an idle one. 10 ms per second are 1 % of a core.
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpuTime returns the CPU time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
