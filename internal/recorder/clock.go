package recorder

import "time"

// Clock tells the time of the day, and a time that nobody sets and that stands still while the machine is suspended.
// Seconds are found by the second and labelled by the first.
type Clock func() (wall time.Time, steady time.Duration)

// SystemClock is the clock of this machine.
func SystemClock() Clock {
	began := time.Now()
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now, now.Sub(began)
	}
}
