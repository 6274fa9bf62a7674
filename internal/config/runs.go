package config

import (
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/glob"
)

// Run is a suite that runs on a schedule.
type Run struct {
	Suite string
	Set   []string // parameters of the suite, "name=value"
	Calendar
	// Window is how long after the scheduled time a run may begin or continue.
	Window time.Duration
	// Targets lists globs (glob.Match) of ids, device names or paths; empty for all targets.
	Targets []string
	// MaxCPUPressure and MaxOthers are the shares above which a run ends early.
	MaxCPUPressure, MaxOthers float64
	Keep                      int // reports to keep per suite and target
}

// Matches reports whether the run is meant for a target. names are the id, the device name and the path of the
// target.
func (r Run) Matches(names ...string) bool {
	if len(r.Targets) == 0 {
		return true
	}
	for _, pattern := range r.Targets {
		for _, name := range names {
			if glob.Match(pattern, name) || pattern == name {
				return true
			}
		}
	}
	return false
}

// neverBegins reports whether it is quiet in all of the window, each time that the run is due in a year.
func (r Run) neverBegins(quiet QuietHours, now time.Time) bool {
	last := now.AddDate(1, 0, 0)
	for range mostTimes {
		at, err := r.Next(now)
		if err != nil || at.IsZero() || !quiet.cover(at, r.Window) { // a valid configuration has neither errors nor days that never come
			return false
		}
		if at.After(last) {
			break
		}
		now = at
	}
	return true
}

// RunsOn reports whether a run may be meant for block devices and for files, as far as the configuration tells.
func (c Config) RunsOn(r Run) (devices, files bool) {
	devices, files = len(r.Targets) == 0, len(r.Targets) == 0
	for _, pattern := range r.Targets {
		node, path := strings.HasPrefix(pattern, "/dev/"), strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "file:")
		devices = devices || node || !path
		files = files || !node // the name of a device stands for the files on it, too
	}
	return devices && c.Devices.Enabled, files && (len(c.Files) > 0 || c.FallbackFile)
}

func defaultRun() Run {
	return Run{Window: 4 * time.Hour, MaxCPUPressure: 0.6, MaxOthers: 0.5, Keep: 20}
}

func runForm(r *Run) field {
	return slices.Concat(section{
		{"suite", required(text(&r.Suite), "a suite, e.g. quick; see ssdprobe run --help"), "the suite; ssdprobe suites lists them"},
		{"set", list[string]{dst: &r.Set, fresh: zero[string], form: parameter}, "its parameters"},
	}, r.form(), section{
		{"window", within(duration(&r.Window), time.Minute, 7*day), "a run begins within this time or not at all, and is ended when that time is over"},
		{"targets", list[string]{dst: &r.Targets, fresh: zero[string], form: func(v *string) field { return pattern(v) }}, "ids, device names or paths; without it, all"},
		{"max_cpu_pressure", within(ratio(&r.MaxCPUPressure).as("ratio of time"), 0, 1), "a run ends early if tasks of this host wait for a CPU for more than this share of the time"},
		{"max_others", within(ratio(&r.MaxOthers).as("ratio of bytes"), 0.01, 1), "a run ends early if others move more than this share of the device's bytes for 5 s; 1 allows any"},
		{"keep", within(count(&r.Keep).as("number of reports"), 1, 1000), "how many reports of the suite to keep per target"},
	})
}

// exampleRuns returns the example of the commented file.
func exampleRuns() []Run {
	r := defaultRun()
	r.Suite, r.Schedule, r.TimeZone = "quick", "30 3 * * 0", "Europe/Berlin"
	r.Targets, r.Set = []string{"nvme*"}, []string{"time=30s"}
	return []Run{r}
}

// parameter is a parameter of a suite.
func parameter(dst *string) field {
	return valid(text(dst), "a parameter", "name=value, e.g. time=5s", "^[^=]+=", func(v string) bool { return strings.Index(v, "=") > 0 })
}
