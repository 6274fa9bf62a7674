package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// recordedSeconds is how many seconds to record for a figure: as many as the recorder keeps.
const recordedSeconds = 600

// costOfRecorder measures what the flight recorder adds to sampling: time per second, and memory.
func costOfRecorder(ctx context.Context, b *bench) (lines []line, err error) {
	for _, devices := range []int{1, 24, 256} {
		var times []float64
		memory := 0.0
		for range b.pairs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var took time.Duration
			took, memory = recordSeconds(devices)
			times = append(times, float64(took.Nanoseconds())/recordedSeconds/1e3)
		}
		most := shown()
		if devices == 24 {
			most = atMost(4)
		}
		what := fmt.Sprintf("flight recorder, %d devices", devices)
		lines = append(lines,
			newLine(what, "none", "µs each second", shown(), times...),
			newLine(what, "none", "MiB", most, memory))
	}
	var host []float64
	for range b.pairs {
		start := time.Now()
		recorder.NewHostReader(sysfs.New("/")).Read()
		host = append(host, float64(time.Since(start).Nanoseconds())/1e3)
	}
	return append(lines, newLine("flight recorder, pressure and CPU time of this host", "none", "µs each second", shown(), host...)), nil
}

// recordSeconds returns the time that recording took, and the memory of the recorder in MiB.
func recordSeconds(devices int) (took time.Duration, memory float64) {
	s := traffic.Second{}
	for i := range devices {
		s.Devices = append(s.Devices, traffic.Counted{
			Device: traffic.Device{ID: fmt.Sprint(i)}, Timing: counters.ExactTimes,
			Disk: counters.Disk{Discards: &counters.Discards{}, Flushes: &counters.Flushes{}},
		})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	steady := time.Duration(0)
	r := recorder.New(recorder.Options{
		Clock:    func() (time.Time, time.Duration) { return time.Unix(0, 0).Add(steady), steady },
		Describe: func(id string) record.Device { return record.Device{ID: id} }, Taken: func(string) bool { return false },
	})
	r.Switch(true)
	start := time.Now()
	for range recordedSeconds {
		steady += time.Second
		r.Take(s, recorder.Host{})
	}
	took = time.Since(start)
	runtime.ReadMemStats(&after)
	return took, float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20)
}
