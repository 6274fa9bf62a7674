package config

import (
	"slices"
	"time"
)

// QuietHours lists times in which the daemon starts no I/O of its own.
type QuietHours []Quiet

// Quiet is a quiet time that begins on a schedule.
type Quiet struct {
	Calendar
	// Duration is the length of the quiet time.
	Duration time.Duration
}

// Until returns when the quiet hours that include now end, or zero when there are none. Others may begin before that
// time.
func (q QuietHours) Until(now time.Time) time.Time {
	var until time.Time
	for _, one := range q {
		began, err := one.Next(now.Add(-one.Duration))
		if err != nil || began.IsZero() || began.After(now) { // a valid configuration has neither errors nor days that never come
			continue
		}
		if end := began.Add(one.Duration); end.After(until) {
			until = end
		}
	}
	return until
}

// Begin returns when the next quiet hours begin after now, or zero when there are none.
func (q QuietHours) Begin(now time.Time) time.Time {
	var first time.Time
	for _, one := range q {
		if next, err := one.Next(now); err == nil && !next.IsZero() && (first.IsZero() || next.Before(first)) {
			first = next
		}
	}
	return first
}

// mostTimes bounds how many scheduled times are looked at: enough for a week and a day of one time a minute.
const mostTimes = 24 * 60 * 8

// endless reports whether the quiet hours leave no time, apart from an hour for which clocks are put back.
func (q QuietHours) endless() bool {
	begin := time.Now()
	at, last, open := begin, begin.AddDate(1, 0, 0), time.Duration(0)
	for step := 0; step < mostTimes && at.Before(last); step++ {
		if end := q.Until(at); !end.IsZero() {
			at = end
			continue
		}
		next := q.Begin(at)
		if next.IsZero() || next.Sub(at) > changes {
			return false
		}
		open, at = open+next.Sub(at), next
	}
	return open*1000 < at.Sub(begin)
}

// cover reports whether it is quiet for all of a span of time.
func (q QuietHours) cover(from time.Time, span time.Duration) bool {
	for end := from.Add(span); from.Before(end); {
		until := q.Until(from)
		if until.IsZero() || !until.After(from) {
			return false
		}
		from = until
	}
	return true
}

func defaultQuiet() Quiet { return Quiet{Duration: time.Hour} }

func quietForm(q *Quiet) field {
	return slices.Concat(q.form(), section{
		{"duration", within(duration(&q.Duration), time.Minute, 7*day), "how long they last"},
	})
}

// exampleQuiet returns the example of the commented file.
func exampleQuiet() []Quiet {
	return []Quiet{{Calendar{"0 8 * * 1-5", "Europe/Berlin"}, 10 * time.Hour}}
}
