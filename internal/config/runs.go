package config

import (
	"path"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Run is a suite that runs by the calendar.
type Run struct {
	Suite string
	// Set are parameters of the suite, "name=value".
	Set []string
	// Schedule is a time in cron's five fields, in TimeZone ("" is the machine's).
	Schedule string
	TimeZone string
	// Window is how long after the scheduled time a run may begin or go on.
	Window time.Duration
	// Targets are globs (path.Match) of ids, device names or paths; all targets
	// when empty.
	Targets []string
	// MaxCPUPressure is the share (0 to 1) of time in which tasks of the host wait
	// for a CPU, above which a run ends early.
	MaxCPUPressure float64
	// MaxOthers is the share (0.01 to 1) of the bytes moved by the device that may be
	// others' for some seconds, above which a run ends early. 1 lets them.
	MaxOthers float64
	// Keep is how many reports are kept per suite and target, 1 to 1000.
	Keep int
}

// Next returns the first scheduled time after now.
func (r Run) Next(now time.Time) (time.Time, error) {
	zone, err := r.zone()
	if err != nil {
		return time.Time{}, err
	}
	schedule, err := cron.ParseStandard(r.Schedule)
	if err != nil {
		return time.Time{}, err
	}
	return schedule.Next(now.In(zone)), nil
}

func (r Run) zone() (*time.Location, error) {
	if r.TimeZone == "" {
		return time.Local, nil
	}
	return time.LoadLocation(r.TimeZone)
}

// Matches reports whether the run is meant for a target of which these are the
// id, the device name and the path.
func (r Run) Matches(names ...string) bool {
	if len(r.Targets) == 0 {
		return true
	}
	for _, pattern := range r.Targets {
		for _, name := range names {
			if ok, err := path.Match(pattern, name); ok && err == nil || pattern == name {
				return true
			}
		}
	}
	return false
}

func defaultRun() Run {
	return Run{Window: 4 * time.Hour, MaxCPUPressure: 0.6, MaxOthers: 0.5, Keep: 20}
}

func runForm(r *Run) field {
	return section{
		{"suite", text(&r.Suite)},
		{"set", list[string]{&r.Set, zero[string], address}},
		{"schedule", text(&r.Schedule)},
		{"time_zone", optional(text(&r.TimeZone))},
		{"window", duration(&r.Window)},
		{"targets", list[string]{&r.Targets, zero[string], address}},
		{"max_cpu_pressure", ratio(&r.MaxCPUPressure)},
		{"max_others", ratio(&r.MaxOthers)},
		{"keep", count(&r.Keep)},
	}
}

func (c Config) checkRuns(f *findings) {
	for i, r := range c.Runs {
		at := func(key string) string { return join(item("runs", i), key) }
		f.need(r.Suite != "", Problem{Field: at("suite"), Wrong: "is missing", Want: "a suite, e.g. quick; see ssdprobe run --help"})
		const wantSchedule = "five fields: minute, hour, day, month, weekday; e.g. 30 3 * * 0 or @daily"
		_, err := cron.ParseStandard(r.Schedule)
		// Its own time zone would go before ours, and intervals have no time of day.
		odd := strings.Contains(r.Schedule, "TZ=") || strings.HasPrefix(r.Schedule, "@every")
		f.need(err == nil && !odd, notAt(at("schedule"), "a time", r.Schedule, wantSchedule))
		_, err = r.zone()
		f.need(err == nil, notAt(at("time_zone"), "a time zone", r.TimeZone, "a name such as Europe/Berlin or UTC, or the key left out for the machine's own"))
		within(f, at("window"), r.Window, time.Minute, 7*24*time.Hour, FormatDuration)
		within(f, at("max_cpu_pressure"), r.MaxCPUPressure, 0, 1, FormatRatio)
		within(f, at("max_others"), r.MaxOthers, 0.01, 1, FormatRatio)
		within(f, at("keep"), r.Keep, 1, 1000, formatCount)
		for j, s := range r.Set {
			name, _, ok := strings.Cut(s, "=")
			f.need(ok && name != "", notAt(item(at("set"), j), "a parameter", s, "name=value, e.g. time=5s"))
		}
		for j, pattern := range r.Targets {
			_, err := path.Match(pattern, "")
			f.need(err == nil, notAt(item(at("targets"), j), "a glob", pattern, "a pattern of *, ? and [a-z], e.g. nvme*n1"))
		}
	}
}
