package traffic

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
)

func start() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC) }

// at returns the time that many seconds after start.
func at(seconds float64) time.Time {
	return start().Add(time.Duration(seconds * float64(time.Second)))
}

// drive is a simulated device with exact times.
type drive struct{ disk counters.Disk }

func newDrive() *drive {
	return &drive{counters.Disk{Number: "259:0", Discards: &counters.Discards{}, Flushes: &counters.Flushes{}}}
}

// reads completes n reads of 4 KiB.
func (d *drive) reads(n uint64, latency time.Duration) {
	d.disk.ReadIOs += n
	d.disk.ReadSectors += counters.Sectors512(8 * n)
	d.disk.ReadTime += time.Duration(n) * latency
	d.spent(n, latency)
}

// writes completes n writes of 8 KiB.
func (d *drive) writes(n uint64, latency time.Duration) {
	d.disk.WriteIOs += n
	d.disk.WriteSectors += counters.Sectors512(16 * n)
	d.disk.WriteTime += time.Duration(n) * latency
	d.spent(n, latency)
}

func (d *drive) flushes(n uint64, latency time.Duration) {
	d.disk.Flushes = &counters.Flushes{IOs: d.disk.Flushes.IOs + n, Time: d.disk.Flushes.Time + time.Duration(n)*latency}
	d.spent(n, latency)
}

func (d *drive) discards(n uint64, latency time.Duration) {
	d.disk.Discards = &counters.Discards{IOs: d.disk.Discards.IOs + n, Time: d.disk.Discards.Time + time.Duration(n)*latency}
	d.spent(n, latency)
}

func (d *drive) spent(n uint64, latency time.Duration) {
	d.disk.BusyTime += time.Duration(n) * latency
	d.disk.WeightedTime += time.Duration(n) * latency
}

// at returns the device's reading that many seconds after start.
func (d *drive) at(seconds float64) reading {
	return newReading(at(seconds), d.disk, counters.ExactTimes)
}
