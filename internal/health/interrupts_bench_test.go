package health_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// host is a server with two nodes whose drives have an admin queue and the same number of I/O queues each.
type host struct{ drives, ioQueues, cpus int }

// make creates the files of the server. The interrupts of an I/O queue go to its share of the CPUs,
// as the kernel spreads them, and those of an admin queue to the first.
func (h host) make(tb testing.TB) (sysfs.FS, []health.Source) {
	tb.Helper()
	files := map[string]string{}
	for node := range 2 {
		files[fmt.Sprintf("sys/devices/system/node/node%d/cpulist", node)] = fmt.Sprintf("%d-%d\n", node*h.cpus/2, (node+1)*h.cpus/2-1)
	}
	var table strings.Builder
	for cpu := range h.cpus {
		files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)] = fmt.Sprintln(cpu)
		fmt.Fprintf(&table, " %10s", fmt.Sprintf("CPU%d", cpu))
	}
	var sources []health.Source
	for drive := range h.drives {
		name := fmt.Sprintf("nvme%d", drive)
		files[fmt.Sprintf("sys/class/nvme/%s/%sn1/stat", name, name)] = stat(1000)
		sources = append(sources, health.Source{Name: name, Kind: record.ControllerNVMe, NUMANode: drive % 2})
		for queue := range 1 + h.ioQueues {
			irq := 100 + drive*(1+h.ioQueues) + queue
			files[fmt.Sprintf("proc/irq/%d/effective_affinity_list", irq)] = "0-3\n"
			fmt.Fprintf(&table, "\n%4d:", irq)
			for cpu := range h.cpus {
				count := 0
				if queue == 0 && cpu == 0 || queue > 0 && cpu*h.ioQueues/h.cpus == queue-1 {
					count = 1 + 1000*cpu
				}
				fmt.Fprintf(&table, " %10d", count)
			}
			fmt.Fprintf(&table, "  IR-PCI-MSIX-0000:%02x:00.0 %4d-edge      %sq%d", drive+1, queue, name, queue)
		}
	}
	files["proc/interrupts"] = table.String() + "\n"
	return sysfstest.Make(tb, files, nil), sources
}

// live returns the bytes in use on the heap, once all garbage is gone.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the first run leaves objects with finalizers, and those in pools
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Most CPUs never see an interrupt of most queues, and zero counts are not kept. With them, this would be 14 MB.
func TestAMeterKeepsOnlyWhatHappened(t *testing.T) {
	files, sources := host{drives: 8, ioQueues: 64, cpus: 256}.make(t)
	meter := health.NewMeter(files)
	before := live()
	found, err := meter.Read(time.Now(), sources)
	require.NoError(t, err)
	assert.Less(t, live()-before, int64(1<<20))
	assert.Len(t, found, 8)
	runtime.KeepAlive(meter)
}

// BenchmarkMeter measures one reading of the interrupts of a large server.
func BenchmarkMeter(b *testing.B) {
	files, sources := host{drives: 24, ioQueues: 128, cpus: 512}.make(b)
	meter := health.NewMeter(files)
	before := live()
	found, err := meter.Read(time.Now(), sources)
	require.NoError(b, err)
	kept := live() - before
	b.ReportAllocs()
	for b.Loop() {
		found, err = meter.Read(time.Now(), sources)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(kept), "kept-B")
	require.Len(b, found, 24)
	runtime.KeepAlive(meter)
}
