package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Time writes a moment in the local zone, as RFC 3339 with a space between date
// and time: "2026-05-04 13:02:11 +02:00". The zero time is "never".
func Time(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04:05 -07:00")
}

// Ago says how long before now t was, in its largest unit: "3 min ago". A
// moment to come is "in 3 min", the zero time "never".
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	age := now.Sub(t)
	switch {
	case age >= time.Second:
		return largest(age) + " ago"
	case age <= -time.Second:
		return "in " + largest(-age)
	default:
		return "now"
	}
}

// largest writes d, at least a second, in the largest unit that fits, rounded down.
func largest(d time.Duration) string {
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
			break // "1 d 5 s" would be precise about the wrong thing
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
