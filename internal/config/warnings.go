package config

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Warnings says what is valid and yet unlikely to be meant, a sentence each. The
// configuration has to be valid.
func (c Config) Warnings() []string {
	var all []string
	if !c.Devices.Enabled && len(c.Files) == 0 && !c.FallbackFile {
		all = append(all, "nothing is probed: devices.enabled and fallback_file are false and files is empty")
	}
	if len(c.Probes) == 0 {
		all = append(all, "nothing is probed: probes is empty")
	}
	if c.Fleet.Enabled && len(c.Runs) == 0 {
		all = append(all, "fleet.enabled is of no effect: runs is empty")
	}
	all = append(all, c.budgetWarnings()...)
	for _, p := range c.Probes {
		if c.Drift.Window < 2*p.Interval {
			all = append(all, fmt.Sprintf("drift of probe %s is judged by single rounds: drift.window %s holds less than two of its intervals of %s",
				p.Name, FormatDuration(c.Drift.Window), FormatDuration(p.Interval)))
		}
	}
	if len(c.Files) == 0 {
		return all
	}
	smallest := slices.MinFunc(c.Files, func(a, b File) int { return cmp.Compare(a.SizeBytes, b.SizeBytes) })
	for _, p := range c.Probes {
		if p.RunsOn(true) && p.RoundBytes() > smallest.SizeBytes {
			all = append(all, fmt.Sprintf("a round of probe %s moves %s, more than %s holds (%s): blocks are used again, and the drive's cache may answer",
				p.Name, FormatSize(p.RoundBytes()), smallest.Path, FormatSize(smallest.SizeBytes)))
		}
	}
	return all
}

// budgetWarnings compares what write probes write in a day with the budget.
func (c Config) budgetWarnings() []string {
	perFile := 0.0
	for _, p := range c.Probes {
		if p.Direction == record.Write {
			perFile += float64(p.RoundBytes()) * float64(day) / float64(p.Interval)
		}
	}
	budget := float64(c.Admission.WriteBytesPerDay)
	files := float64(max(len(c.Files), 1))
	switch {
	case perFile > budget:
		return []string{fmt.Sprintf("write probes write %s a day to each file, more than admission.write_budget_per_day (%s): "+
			"%s", humanize.IBytes(uint64(perFile)),
			FormatSize(c.Admission.WriteBytesPerDay), skipped(budget, perFile))}
	case perFile*files > budget:
		return []string{fmt.Sprintf("write probes write %s a day to the %d files together; if they are on one device, that is more than "+
			"admission.write_budget_per_day (%s): %s", humanize.IBytes(uint64(perFile*files)),
			len(c.Files), FormatSize(c.Admission.WriteBytesPerDay), skipped(budget, perFile*files))}
	}
	return nil
}

func skipped(budget, perDay float64) string {
	return fmt.Sprintf("%.0f %% of their rounds are skipped", 100*(1-budget/perDay))
}
