package recorder

import "time"

// Clock returns the time of day, and a steady time that nobody sets and that stands still while the machine is
// suspended. Seconds are found by steady and labelled with wall.
type Clock func() (wall time.Time, steady time.Duration)

// SystemClock returns the clock of this machine.
func SystemClock() Clock {
	began := time.Now()
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now, now.Sub(began)
	}
}
