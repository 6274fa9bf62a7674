package units

import (
	"time"
)

// Time writes a moment in the local zone, as RFC 3339 with a space between date
// and time: "2026-05-04 13:02:11 +02:00". The zero time is "never". It is for what somebody started or looks at on this
// machine. What the daemon says of a drive is read anywhere, so it is in UTC.
func Time(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04:05 -07:00")
}

// UTC writes a moment in UTC: "2026-05-04 11:02:11 UTC". The zero time is "never".
func UTC(t time.Time) string { return inUTC(t, "2006-01-02 15:04:05 UTC") }

// Minute writes a moment like UTC, but without seconds: "2026-05-04 11:02 UTC".
func Minute(t time.Time) string { return inUTC(t, "2006-01-02 15:04 UTC") }

func inUTC(t time.Time, layout string) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(layout)
}

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
