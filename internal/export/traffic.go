package export

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// trafficFamilies returns the families that describe the latency of applications' I/O, as far as node_exporter does not.
func trafficFamilies() []family[record.TargetStatus] {
	operation := []string{"operation"}
	each := func(value func(record.Served) (float64, bool)) func(record.TargetStatus, emit) {
		return func(t record.TargetStatus, emit emit) {
			if t.Traffic == nil || t.Traffic.Last == nil || t.Traffic.Last.Unusable != "" {
				return
			}
			for _, o := range record.Operations() {
				if v, ok := value(t.Traffic.Last.Of(o)); ok {
					emit(v, string(o))
				}
			}
		}
	}
	latency := func(d time.Duration) (float64, bool) { return known(d.Seconds()) }
	return append(stallFamilies(),
		metric("ssdprobe_traffic_latency_mean_seconds", gauge, operation,
			"Mean latency of others' I/O over the last 30 s, in seconds, including the wait in the kernel's queue. operation is read, write, discard or flush. The kernel "+
				"counts whole milliseconds: the mean of n I/Os is off by up to a millisecond divided by n. Absent without such I/O, and where the kernel does not measure its time.",
			each(func(s record.Served) (float64, bool) { return latency(s.MeanLatency) })),
		metric("ssdprobe_traffic_latency_worst_seconds", gauge, operation,
			"Highest mean latency of others' I/O in a single second of the last 30 s, in seconds. The millisecond by which the kernel's count may be too high is taken off. Absent when ssdprobe_traffic_latency_mean_seconds is absent.",
			each(func(s record.Served) (float64, bool) { return latency(s.WorstSecond) })),
		metric("ssdprobe_traffic_ios", gauge, operation,
			"Number of others' I/Os that completed in the last 30 s. ssdprobe_traffic_latency_mean_seconds is their mean latency. I/Os of ssdprobe, and their time, are left out. Absent without such I/O.",
			each(func(s record.Served) (float64, bool) { return known(float64(s.IOs)) })),
		single("ssdprobe_traffic_known", gauge,
			"1 if the traffic of others in the last 30 s is known. 0 if not: a run of ssdprobe used the device, its probes or a standstill of the machine took most of "+
				"the time, the device's statistics are off, or the device was away. The log says which. Absent for the first 30 s.",
			func(t record.TargetStatus) (float64, bool) {
				if t.Traffic == nil || t.Traffic.Last == nil {
					return 0, false
				}
				return boolean(t.Traffic.Last.Unusable == ""), true
			}),
		single("ssdprobe_traffic_coarse_times", gauge,
			"1 where the kernel counts the times of others' I/O in ticks of its clock, 1 to 10 ms each, as on dm, md and the head of an NVMe multipath device. A mean then "+
				"needs thousands of I/Os, and no verdict depends on it. Absent elsewhere.",
			func(t record.TargetStatus) (float64, bool) {
				return 1, t.Traffic != nil && t.Traffic.Last != nil && t.Traffic.Last.Unusable == "" && t.Traffic.Last.CoarseTimes
			}),
	)
}

// stallFamilies returns the families that count the times when I/O was in flight and none completed.
func stallFamilies() []family[record.TargetStatus] {
	cause := []string{"cause"}
	each := func(value func(record.StallTotal) float64) func(record.TargetStatus, emit) {
		return func(t record.TargetStatus, emit emit) {
			if t.Traffic == nil {
				return
			}
			for _, c := range record.StallCauses() {
				if total, ok := t.Traffic.StallTotals[c]; ok || c == record.StallByDevice {
					emit(value(total), string(c))
				}
			}
		}
	}
	return []family[record.TargetStatus]{
		metric("ssdprobe_device_stalls_total", counter, cause,
			"Number of stalls: I/O was in flight for a second or longer, and none completed. cause is device if nothing else explains the stall; otherwise it is "+
				"discard, reset (of a controller), suspended (a dm device) or run (of ssdprobe), each of which has a series once it has occurred. A stall is counted when "+
				"it ends, or after 10 s.",
			each(func(t record.StallTotal) float64 { return float64(t.Count) })),
		metric("ssdprobe_device_stall_seconds_total", counter, cause,
			"Total time that the stalls in ssdprobe_device_stalls_total were seen to last, in seconds. Each may have lasted up to two seconds longer.",
			each(func(t record.StallTotal) float64 { return t.Length.Seconds() })),
		single("ssdprobe_device_stall_longest_seconds", gauge,
			"Longest stall with cause device in the last hour, in seconds, including a stall that still lasts. 0 without a stall.",
			func(t record.TargetStatus) (float64, bool) {
				if t.Traffic == nil {
					return 0, false
				}
				var longest time.Duration
				for _, s := range t.Traffic.Stalls {
					if s.Cause == record.StallByDevice {
						longest = max(longest, s.Length)
					}
				}
				return longest.Seconds(), true
			}),
	}
}
