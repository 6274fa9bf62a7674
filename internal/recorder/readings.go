package recorder

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// mostReadings is how many readings of a device are kept: ten minutes of them at the shortest usual interval.
const mostReadings = 40

// Reading is what the daemon has read from a device, as a whole, for other purposes.
type Reading struct {
	// Time is when it was read. A reading that is not newer than the last one is ignored.
	Time    time.Time
	Celsius *int
	// Link is the rate that the PCIe link has trained to; zero when there is no link.
	Link record.LinkRate
	// Interrupts is the number of interrupts of the device's queues since the daemon started, as of Counted; nil when
	// they are not counted.
	Interrupts *uint64
	Counted    time.Time
}

// readings holds the last readings of a device.
type readings struct {
	all  [mostReadings]reading
	next int // index of the next reading
	n    int
}

type reading struct {
	Reading
	at time.Duration // when it was taken, on the steady clock
}

// take keeps a reading unless it is already known, and drops the oldest one when there are too many.
func (r *readings) take(now time.Duration, what Reading) {
	if last := r.all[(r.next+mostReadings-1)%mostReadings]; r.n > 0 && !what.Time.After(last.Time) {
		return
	}
	r.all[r.next] = reading{what, now}
	r.next = (r.next + 1) % mostReadings
	r.n = min(r.n+1, mostReadings)
}

// between returns the readings of a span, preceded by the last one before it.
func (r *readings) between(from, until time.Duration) (all []record.DeviceReading) {
	var before *reading
	for i := range r.n {
		now := &r.all[(r.next-r.n+i+mostReadings)%mostReadings]
		if now.at > until {
			break
		}
		shown := now.since(before)
		if now.at < from {
			all = all[:0]
		}
		all = append(all, shown)
		before = now
	}
	return all
}

// since returns the reading in the form of a recording, with rates since the reading before.
func (r *reading) since(before *reading) record.DeviceReading {
	shown := record.DeviceReading{Time: r.Time.UTC().Truncate(time.Millisecond), Celsius: r.Celsius}
	if r.Link != (record.LinkRate{}) {
		shown.Link = r.Link.String()
	}
	if before != nil && before.Interrupts != nil && r.Interrupts != nil && *r.Interrupts >= *before.Interrupts {
		if span := r.Counted.Sub(before.Counted).Seconds(); span > 0 {
			shown.InterruptsPerSecond = rounded(float64(*r.Interrupts-*before.Interrupts) / span)
		}
	}
	return shown
}
