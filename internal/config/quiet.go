package config

import (
	"slices"
	"time"
)

// QuietHours are times in which the daemon does no I/O by itself.
type QuietHours []Quiet

// Quiet begins by the calendar.
type Quiet struct {
	Calendar
	// Duration is how long it lasts.
	Duration time.Duration
}

// Until returns when the quiet hours that include now end; zero when none do. Others may
// begin before that.
func (q QuietHours) Until(now time.Time) time.Time {
	var until time.Time
	for _, one := range q {
		began, err := one.Next(now.Add(-one.Duration))
		if err != nil || began.IsZero() || began.After(now) { // the configuration was checked: there is no such day
			continue
		}
		if end := began.Add(one.Duration); end.After(until) {
			until = end
		}
	}
	return until
}

// Begin returns when the next quiet hours begin after now; zero when none do.
func (q QuietHours) Begin(now time.Time) time.Time {
	var first time.Time
	for _, one := range q {
		if next, err := one.Next(now); err == nil && !next.IsZero() && (first.IsZero() || next.Before(first)) {
			first = next
		}
	}
	return first
}

// endless reports whether each time begins before the one before it is over.
func (q Quiet) endless() bool {
	const enough = 24 * 60 * 8 // of one a minute: a week and a day
	at, err := q.Next(time.Now())
	for range enough {
		if err != nil || at.IsZero() {
			return false
		}
		before := at
		if at, err = q.Next(at); at.Sub(before) > q.Duration {
			return false
		}
	}
	return true
}

func defaultQuiet() Quiet { return Quiet{Duration: time.Hour} }

func quietForm(q *Quiet) field {
	return slices.Concat(q.form(), section{
		{"duration", within(duration(&q.Duration), time.Minute, 7*day), "how long they last"},
	})
}

// exampleQuiet is what the commented file shows.
func exampleQuiet() []Quiet {
	return []Quiet{{Calendar{"0 8 * * 1-5", "Europe/Berlin"}, 10 * time.Hour}}
}
