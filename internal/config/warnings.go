package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Warnings returns a sentence for each part of the configuration that is valid but probably not intended. The
// configuration must be valid.
func (c Config) Warnings() []string {
	var all []string
	if !c.Devices.Enabled && len(c.Files) == 0 && !c.FallbackFile {
		all = append(all, "nothing is probed: devices.enabled and fallback_file are false and files is empty")
	}
	if len(c.Probes) == 0 {
		all = append(all, "nothing is probed: probes is empty")
	}
	if c.Fleet.Enabled && len(c.Runs) == 0 {
		all = append(all, "fleet.enabled has no effect: runs is empty")
	}
	if !c.Kubernetes.Enabled && c.Kubernetes.Taint != TaintNone {
		all = append(all, "kubernetes.taint has no effect: kubernetes.enabled is false")
	}
	if c.QuietHours.endless() {
		all = append(all, "nothing is ever measured: quiet_hours cover all of the time")
	} else {
		all = append(all, c.quietRunWarnings()...)
	}
	all = append(all, c.budgetWarnings()...)
	all = append(all, c.limitWarnings()...)
	for _, p := range c.Probes {
		if p.Interval > drift.LongestInterval {
			all = append(all, fmt.Sprintf("probe %s is seldom or never compared with its baseline: its interval of %s is above %s, and that far apart rounds tell nothing together",
				p.Name, FormatDuration(p.Interval), FormatDuration(drift.LongestInterval)))
		} else if c.Drift.Window < 2*p.Interval {
			all = append(all, fmt.Sprintf("the figures of probe %s are those of single rounds: drift.window %s is shorter than two of its intervals of %s; verdicts do not depend on it",
				p.Name, FormatDuration(c.Drift.Window), FormatDuration(p.Interval)))
		}
	}
	if len(c.Files) == 0 {
		return all
	}
	smallest := slices.MinFunc(c.Files, func(a, b File) int { return cmp.Compare(a.SizeBytes, b.SizeBytes) })
	for _, p := range c.Probes {
		if p.RunsOn(true) && p.RoundBytes() > smallest.SizeBytes {
			all = append(all, fmt.Sprintf("a round of probe %s moves %s, more than %s holds (%s): blocks are reused, and the drive's cache may answer",
				p.Name, FormatSize(p.RoundBytes()), smallest.Path, FormatSize(smallest.SizeBytes)))
		}
	}
	return all
}

// quietRunWarnings reports runs that are refused each time, as the quiet hours leave nothing of their windows.
func (c Config) quietRunWarnings() []string {
	if len(c.QuietHours) == 0 {
		return nil
	}
	var all []string
	for i, r := range c.Runs {
		if r.neverBegins(c.QuietHours, time.Now()) {
			all = append(all, fmt.Sprintf("runs[%d].schedule: %q is always within quiet_hours, and so is the whole window of %s: the run never begins; "+
				"want another time, or a longer window", i, r.Schedule, FormatDuration(r.Window)))
		}
	}
	return all
}

// limitWarnings reports limits that are set to the defaults of the first builds. Files written at that time contain
// them, and they now keep busy drives from being measured.
func (c Config) limitWarnings() []string {
	var all []string
	limits := c.Admission.Limits
	for _, l := range []struct {
		key, value string
		former     bool
	}{
		{"max_utilisation", "0.8", limits.MaxUtilisation != nil && *limits.MaxUtilisation == 0.8},
		{"max_in_flight", "32", limits.MaxInFlight != nil && *limits.MaxInFlight == 32},
		{"max_io_pressure", "0.6", limits.MaxIOPressure != nil && *limits.MaxIOPressure == 0.6},
	} {
		if l.former {
			all = append(all, fmt.Sprintf("admission.%s is set to %s, its default in earlier builds: as a limit that you set, it keeps busy drives from being "+
				"measured; leave the key out, or set it to auto, if you do not need it", l.key, l.value))
		}
	}
	return all
}

// budgetWarnings compares how much write probes would write to a file per day with their shares of the budget.
func (c Config) budgetWarnings() []string {
	if c.Admission.WriteBytesPerDay == 0 { // without a budget there are no write probes
		return nil
	}
	var all []string
	share := c.Admission.WriteShare(c.Probes)
	for _, p := range c.Probes {
		if p.Direction != record.Write {
			continue
		}
		perDay := float64(p.RoundBytes()) * float64(day) / float64(p.Interval)
		switch {
		case p.RoundBytes() > share:
			all = append(all, fmt.Sprintf("a round of probe %s writes %s, more than its share of admission.write_budget_per_day, %s: it never runs",
				p.Name, units.Size(p.RoundBytes()), units.Size(share)))
		case perDay > float64(share):
			all = append(all, fmt.Sprintf("probe %s writes %s a day to each file, more than its share of admission.write_budget_per_day, %s: "+
				"%.0f %% of its rounds are skipped", p.Name, units.Size(int64(perDay)), units.Size(share), 100*(1-float64(share)/perDay)))
		}
	}
	return all
}
