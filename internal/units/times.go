package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Latency writes the duration of an I/O in µs, ms or s: "24.6 µs", "1.23 ms".
func Latency(d time.Duration) string {
	unit := LatencyUnitFor(d)
	return unit.Format(d) + " " + unit.Name
}

// LatencyUnit is a unit for a whole column of latencies.
type LatencyUnit struct {
	Name string
	Size time.Duration
}

// LatencyUnitFor returns the unit that suits d.
func LatencyUnitFor(d time.Duration) LatencyUnit {
	switch {
	case d < 999500*time.Nanosecond: // 999.5 µs would round to 1000 µs and is written 1.00 ms
		return LatencyUnit{"µs", time.Microsecond}
	case d < 999500*time.Microsecond:
		return LatencyUnit{"ms", time.Millisecond}
	default:
		return LatencyUnit{"s", time.Second}
	}
}

// In returns d in the unit.
func (u LatencyUnit) In(d time.Duration) float64 { return float64(d) / float64(u.Size) }

// Format writes d in the unit, without its name.
func (u LatencyUnit) Format(d time.Duration) string {
	return Number(u.In(d))
}

// Largest writes d, which is at least a second, in the largest unit that fits, rounded
// down: "3 min".
func Largest(d time.Duration) string {
	for _, unit := range spanUnits() {
		if d >= unit.size {
			return fmt.Sprintf("%d %s", d/unit.size, unit.name)
		}
	}
	return "0 s"
}

// Span writes how long something took or lasts: "850 ms", "30.4 s",
// "3 min 20 s", "2 d 4 h".
func Span(d time.Duration) string {
	if d < 999500*time.Microsecond {
		return Latency(d)
	}
	if tenths := math.Round(d.Seconds() * 10); tenths < 600 {
		return strconv.FormatFloat(tenths/10, 'f', -1, 64) + " s"
	}
	d = d.Round(time.Second)
	var parts []string
	for _, unit := range spanUnits() {
		if n := d / unit.size; n > 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%d %s", n, unit.name))
		} else if len(parts) > 0 {
			break // "1 d 5 s" would be falsely precise
		}
		d %= unit.size
	}
	return strings.Join(parts, " ")
}

type spanUnit struct {
	name string
	size time.Duration
}

func spanUnits() []spanUnit {
	return []spanUnit{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}}
}
