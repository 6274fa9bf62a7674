package recorder

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// BenchmarkTake measures what the recorder adds to a second of package traffic, and how much memory it takes.
func BenchmarkTake(b *testing.B) {
	for _, n := range []int{1, 24, 256} {
		b.Run(fmt.Sprintf("devices=%d", n), func(b *testing.B) {
			w, s := newWorld(), secondOf(n)
			b.ReportAllocs()
			for b.Loop() {
				w.steady += time.Second
				w.Take(s, w.host)
			}
			b.ReportMetric(float64(memoryOf(b, n))/(1<<20), "MiB")
		})
	}
}

// secondOf returns a second in which each of that many devices has counted something.
func secondOf(devices int) (s traffic.Second) {
	for i := range devices {
		s.Devices = append(s.Devices, traffic.Counted{
			Device: traffic.Device{ID: fmt.Sprint(i)}, Timing: counters.ExactTimes,
			Disk: counters.Disk{ReadIOs: 1e6, Discards: &counters.Discards{}, Flushes: &counters.Flushes{}},
		})
	}
	return s
}

// BenchmarkHost measures reading what the host of this machine does.
func BenchmarkHost(b *testing.B) {
	h := NewHostReader(sysfs.New("/"))
	for b.Loop() {
		h.pressure.due, h.cpu.due = time.Time{}, time.Time{} // otherwise it would not read
		h.Read()
	}
}

// BenchmarkEncode measures encoding a recording in which all devices were busy.
func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{1, 24, 256} {
		b.Run(fmt.Sprintf("devices=%d", n), func(b *testing.B) {
			w := newWorld()
			for i := range n {
				w.come(fmt.Sprint(i))
			}
			w.run(200, func(i int) {
				for id := range w.devices {
					w.reads(id, uint64(1000+i*7919%977), time.Duration(80+i*104729%31)*time.Microsecond)
				}
			})
			w.stall("0", time.Minute)
			w.run(2, nil)
			rec := w.Due()[0]
			size := 0
			for b.Loop() {
				lines, err := Encode(rec)
				require.NoError(b, err)
				size = len(lines)
			}
			b.ReportMetric(float64(size)/1024, "KiB")
		})
	}
}
