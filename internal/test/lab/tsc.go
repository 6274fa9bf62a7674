package lab

import "time"

// tscKHz is the rate of this processor's time stamp counter. The guest's counter is the same one. Its kernel would measure
// the rate by emulated timers at boot, and be wrong by a factor on a busy host: all its clocks would run too fast.
func tscKHz() int64 {
	firstTicks, first := tscNow()
	<-time.After(50 * time.Millisecond) // a rate needs two moments
	ticks, last := tscNow()
	return int64(float64(ticks-firstTicks) / last.Sub(first).Seconds() / 1000)
}

// tscNow reads counter and clock at the same moment: of several tries the one that was interrupted least counts.
func tscNow() (ticks uint64, now time.Time) {
	shortest := ^uint64(0)
	for range 10 {
		before := rdtsc()
		t := time.Now()
		if took := rdtsc() - before; took < shortest {
			shortest, ticks, now = took, before+took/2, t
		}
	}
	return ticks, now
}
