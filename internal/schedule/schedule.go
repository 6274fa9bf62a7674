package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// startSpread is within how long after the start every probe has its first round.
const startSpread = 5 * time.Second

// Phase returns the place of a probe within its interval: at least 0, less than interval.
func Phase(node, device, probe string, interval time.Duration) time.Duration {
	// A cryptographic hash spreads names that differ in one digit; its cost does
	// not matter here. The separator keeps ("a","bc") and ("ab","c") apart.
	sum := sha256.Sum256([]byte(node + "\x00" + device + "\x00" + probe))
	return time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(interval))
}

// Next returns the first moment after now that lies phase after a whole number
// of intervals since the Unix epoch.
func Next(now time.Time, interval, phase time.Duration) time.Time {
	since := time.Duration(now.UnixNano()) - phase
	done := since % interval
	if done < 0 {
		done += interval
	}
	return now.Add(interval - done)
}

// First returns when a probe that was just started runs for the first time:
// soon, so that a new daemon has something to show, and spread by its phase.
func First(now time.Time, interval, phase time.Duration) time.Time {
	spread := min(startSpread, interval)
	return now.Add(time.Duration(float64(spread) * float64(phase) / float64(interval)))
}
