package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// startSpread is within how long after the start every probe has its first round.
const startSpread = 5 * time.Second

// Rhythm is when a probe of a device is due: once in each interval. Its phase, the place
// within the interval, is its own, and each start is moved from it by up to a quarter of
// the interval, as if at random. So what recurs at the interval itself is neither always
// met nor never.
//
// Two starts are at least half an interval apart. The mean is the interval.
type Rhythm struct {
	interval, phase time.Duration
	seed            uint64
}

// NewRhythm returns the rhythm of a probe. It follows from the names alone.
func NewRhythm(node, device, probe string, interval time.Duration) Rhythm {
	// A cryptographic hash spreads names that differ in one digit; its cost does
	// not matter here. The separator keeps ("a","bc") and ("ab","c") apart.
	sum := sha256.Sum256([]byte(node + "\x00" + device + "\x00" + probe))
	return Rhythm{
		interval: interval,
		phase:    time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(interval)),
		seed:     binary.BigEndian.Uint64(sum[8:16]),
	}
}

// Next returns the first start after now.
func (r Rhythm) Next(now time.Time) time.Time {
	since := time.Duration(now.UnixNano())
	n := int64((since - r.phase) / r.interval)
	if since < r.phase {
		n--
	}
	for ; r.start(n) <= since; n++ {
	}
	return now.Add(r.start(n) - since)
}

// start is the start in the interval of number n, as the time since the Unix epoch.
func (r Rhythm) start(n int64) time.Duration {
	width := r.interval / 2
	moved := time.Duration(rand.NewPCG(r.seed, uint64(n)).Uint64()%uint64(width)) - width/2
	return time.Duration(n)*r.interval + r.phase + moved
}

// First returns when a probe that was just started runs for the first time:
// soon, so that a new daemon has something to show, and spread by its phase.
func (r Rhythm) First(now time.Time) time.Time {
	spread := min(startSpread, r.interval)
	return now.Add(time.Duration(float64(spread) * float64(r.phase) / float64(r.interval)))
}

// Apart returns the later of next and half an interval after a start: a round that
// began late is not followed closely by another.
func (r Rhythm) Apart(started, next time.Time) time.Time {
	if soonest := started.Add(r.interval / 2); next.Before(soonest) {
		return soonest
	}
	return next
}
