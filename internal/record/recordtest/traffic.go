package recordtest

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// traffic returns the traffic of a database: reads, and small writes that are flushed.
func traffic(ago time.Duration, slower float64) *record.TrafficStatus {
	const interval, rounds = 30 * time.Second, 46 * time.Millisecond
	latency := func(us float64) time.Duration { return time.Duration(us*slower) * time.Microsecond }
	served := func(ios int64, us, worst float64) record.Served {
		return record.Served{IOs: ios, MeanLatency: latency(us), WorstSecond: latency(worst)}
	}
	return &record.TrafficStatus{
		Last: &record.Traffic{
			Time: Now().Add(-ago), Length: interval, Span: interval - rounds, Work: *work(),
			Read: served(12282, 91, 118), Write: served(5406, 34, 52), Flush: served(1216, 22, 40),
			Utilisation: milli(0.041 * slower), InFlight: milli(0.043 * slower),
		},
	}
}

// work returns the I/O that traffic requests per second.
func work() *record.Work {
	return &record.Work{Reads: 410, Writes: 180.5, ReadBytes: 6717440, WrittenBytes: 1478656, Flushes: 40.6}
}

// stalled adds a stall of one second and a reset of the controller to the traffic of a device.
func stalled(t *record.TrafficStatus) *record.TrafficStatus {
	t.Stalls = []record.Stall{
		{Start: Now().Add(-5*time.Minute - 4*time.Second), Length: 3 * time.Second, Cause: record.StallByReset, InFlight: 6},
		{Start: Now().Add(-90 * time.Second), Length: time.Second, Cause: record.StallByDevice, InFlight: 2},
	}
	t.StallTotals = map[record.StallCause]record.StallTotal{
		record.StallByReset: {Count: 1, Length: 3 * time.Second}, record.StallByDevice: {Count: 4, Length: 5 * time.Second},
	}
	return t
}
