package config

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Calendar is a time that comes again and again.
type Calendar struct {
	// Schedule is a time in cron's five fields, in TimeZone ("" is the machine's).
	Schedule string
	TimeZone string
}

// Next returns the first scheduled time after now; zero when there is none. A time that clocks skip as they are put
// forward comes as much later: cron alone would leave it out, and a night without quiet hours with it.
func (c Calendar) Next(now time.Time) (time.Time, error) {
	zone, err := c.zone()
	if err != nil {
		return time.Time{}, err
	}
	schedule, err := cron.ParseStandard(c.Schedule)
	if err != nil {
		return time.Time{}, err
	}
	now = now.In(zone)
	next := schedule.Next(now)
	_, offset := now.Zone()
	if unmoved := schedule.Next(now.In(time.FixedZone("", offset))); unmoved.Before(next) && skipped(unmoved, zone) {
		return unmoved.In(zone), nil
	}
	return next, nil
}

// skipped reports whether the clocks of a zone never show what t shows.
func skipped(t time.Time, zone *time.Location) bool {
	shown := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, zone)
	return shown.Hour() != t.Hour() || shown.Minute() != t.Minute()
}

func (c Calendar) zone() (*time.Location, error) {
	if c.TimeZone == "" {
		return time.Local, nil
	}
	return time.LoadLocation(c.TimeZone)
}

// form has the keys that say when.
func (c *Calendar) form() section {
	return section{
		{"schedule", scheduled(&c.Schedule), "minute, hour, day, month, weekday (cron)"},
		{"time_zone", optional(timeZone(&c.TimeZone)), "without it, the machine's own"},
	}
}

// scheduled is a time in cron's five fields, or one of its words. Its own time zone
// would go before ours, and intervals (@every) have no time of day.
func scheduled(dst *string) scalar[string] {
	const (
		want    = "five fields: minute, hour, day, month, weekday; e.g. 30 3 * * 0 or @daily"
		pattern = `^ *(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[0-9A-Za-z*?/,-]+( +[0-9A-Za-z*?/,-]+){4}) *$`
	)
	s := valid(text(dst), "a time", want, pattern, func(v string) bool {
		_, err := cron.ParseStandard(v)
		return err == nil && !strings.Contains(v, "TZ=") && !strings.HasPrefix(v, "@every")
	})
	s.needed = true
	return s
}

func timeZone(dst *string) scalar[string] {
	const want = "a name such as Europe/Berlin or UTC, or the key left out for the machine's own"
	return valid(text(dst), "a time zone", want, "", func(v string) bool {
		_, err := time.LoadLocation(v)
		return err == nil
	})
}
