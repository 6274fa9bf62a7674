package config

import (
	"strings"
	"time"
	_ "time/tzdata" // the image has no list of time zones, nor have minimal hosts

	"github.com/robfig/cron/v3"
)

// Calendar is a recurring time.
type Calendar struct {
	// Schedule is a time in the five fields of cron, in TimeZone; "" is the time zone of the machine, UTC in a pod.
	Schedule string
	TimeZone string
}

// changes is more than the time by which clocks are put forward or back.
const changes = 3 * time.Hour

// Next returns the first scheduled time after now; zero when there is none. When clocks are put forward, a time that
// they skip is moved by as much. When they are put back, a time that they show twice is the first of both, unless the
// schedule has every hour. Cron alone would leave out the former, and with it, for example, the quiet hours of that night.
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
	if everyHour(schedule) {
		return schedule.Next(now), nil
	}
	// Cron gets clocks that never change. They begin as those before a change that was just made: a time that was moved may
	// still come.
	shown := now.UTC().Add(min(offset(now), offset(now.Add(-changes))))
	for shown = schedule.Next(shown); !shown.IsZero(); shown = schedule.Next(shown) {
		if at := shownAt(shown, zone); at.After(now) {
			return at, nil
		}
	}
	return time.Time{}, nil
}

func everyHour(schedule cron.Schedule) bool {
	const star = 1 << 63 // of cron, for a field that is *
	fields, ok := schedule.(*cron.SpecSchedule)
	return ok && fields.Hour&star != 0
}

// shownAt returns when clocks of a zone first show what shown says as a time in UTC. If they skip it, that is when they would
// have shown it.
func shownAt(shown time.Time, zone *time.Location) time.Time {
	near := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), 0, 0, zone)
	unchanged := shown.Add(-offset(near.Add(-changes))).In(zone)
	shows := func(t time.Time) bool { return t.Add(offset(t)).Equal(shown) }
	if shows(near) && !shows(unchanged) {
		return near
	}
	return unchanged
}

// offset returns by how much clocks are ahead of UTC.
func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// check refuses a day that no month of the schedule has.
func (c Calendar) check(f *findings, field string) {
	f.need(c.comes(), Problem{
		Field: join(field, "schedule"), Value: c.Schedule, Wrong: "is a day that never comes", Want: "one that a month of it has, e.g. 0 3 28 2 *",
	})
}

// comes reports whether there is a scheduled time at all. It looks from a leap year on, as a schedule does not become
// wrong in the course of time.
func (c Calendar) comes() bool {
	schedule, err := cron.ParseStandard(c.Schedule)
	return err == nil && !schedule.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero()
}

func (c Calendar) zone() (*time.Location, error) {
	if c.TimeZone == "" {
		return time.Local, nil
	}
	return time.LoadLocation(c.TimeZone)
}

// form returns the keys that say when.
func (c *Calendar) form() section {
	return section{
		{"schedule", scheduled(&c.Schedule), "minute, hour, day, month, weekday (cron)"},
		{"time_zone", optional(timeZone(&c.TimeZone)), "without it, the machine's own, which is UTC in a pod"},
	}
}

// scheduled is a time in the five fields of cron, or one of its words. It may not contain a time zone, which would
// override ours, nor an interval (@every), which has no time of day.
func scheduled(dst *string) scalar[string] {
	const (
		want    = "five fields: minute, hour, day, month, weekday (0 is Sunday, 6 is Saturday); e.g. 30 3 * * 0 or @daily"
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
