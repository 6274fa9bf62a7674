package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// startSpread is the time after the start within which every probe has its first round.
const startSpread = 5 * time.Second

// Rhythm determines when a probe of a device is due: once in each interval. Every probe
// has its own phase, the position within the interval. Each start deviates from the
// phase pseudo-randomly by up to a quarter of the interval. An event that recurs with
// the same interval therefore coincides with some rounds, but neither with all nor with
// none.
//
// Two starts are at least half an interval apart. Their mean distance is the interval.
type Rhythm struct {
	interval, phase time.Duration
	seed            uint64
}

// NewRhythm returns the rhythm of a probe. It depends only on the arguments.
func NewRhythm(node, device, probe string, interval time.Duration) Rhythm {
	// A cryptographic hash spreads names that differ in one digit; its cost does not
	// matter here. The separator distinguishes ("a","bc") from ("ab","c").
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

// start returns the start in interval number n, as the time since the Unix epoch.
func (r Rhythm) start(n int64) time.Duration {
	width := r.interval / 2
	moved := time.Duration(rand.NewPCG(r.seed, uint64(n)).Uint64()%uint64(width)) - width/2
	return time.Duration(n)*r.interval + r.phase + moved
}

// First returns when a probe that was just started runs for the first time: soon, so
// that a new daemon has something to show, and spread by its phase.
func (r Rhythm) First(now time.Time) time.Time {
	spread := min(startSpread, r.interval)
	return now.Add(time.Duration(float64(spread) * float64(r.phase) / float64(r.interval)))
}

// Apart returns next, or half an interval after started if that is later, so that a
// round which began late is not closely followed by another.
func (r Rhythm) Apart(started, next time.Time) time.Time {
	if soonest := started.Add(r.interval / 2); next.Before(soonest) {
		return soonest
	}
	return next
}
