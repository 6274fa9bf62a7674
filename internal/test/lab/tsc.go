package lab

import "time"

// tscKHz returns the rate of this processor's time stamp counter in kHz. The guest uses the same
// counter. Its kernel would measure the rate with emulated timers at boot. On a busy host that is
// wrong by a factor, so that all clocks in the guest run too fast.
func tscKHz() int64 {
	firstTicks, first := tscNow()
	<-time.After(50 * time.Millisecond) // a rate needs two readings
	ticks, last := tscNow()
	return int64(float64(ticks-firstTicks) / last.Sub(first).Seconds() / 1000)
}

// tscNow reads counter and clock at the same moment. Of several tries it uses the one that was interrupted least.
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
