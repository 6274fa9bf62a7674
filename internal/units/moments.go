package units

import (
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

// Minute writes a moment like Time, but without seconds and zone: "2026-05-04 13:02". It is for tables, and for pages
// that name the zone or are read on the machine itself.
func Minute(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}

// Clock writes a time of day like Minute: "13:02".
func Clock(t time.Time) string { return t.Local().Format("15:04") }

// Ago writes how long before now t was, in its largest unit: "3 min ago". A moment in the future is "in 3 min", and
// the zero time is "never".
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	age := now.Sub(t)
	switch {
	case age >= time.Second:
		return Largest(age) + " ago"
	case age <= -time.Second:
		return "in " + Largest(-age)
	default:
		return "now"
	}
}
