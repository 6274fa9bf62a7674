package config

import (
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// form is the file: every key, in order, and where its value goes.
func (c *Config) form() section {
	return section{
		{"node", text(&c.Node)},
		{"state_dir", cleanPath(&c.StateDir)},
		{"lock_dir", cleanPath(&c.LockDir)},
		{"host_root", cleanPath(&c.HostRoot)},
		{"listen", list[string]{&c.Listen, zero[string], address}},
		{"discovery_interval", duration(&c.DiscoveryInterval)},
		{"rounds_at_once", count(&c.RoundsAtOnce)},
		{"devices", section{
			{"enabled", flag(&c.Devices.Enabled)},
			{"include", list[Rule]{&c.Devices.Include, zero[Rule], ruleForm}},
			{"exclude", list[Rule]{&c.Devices.Exclude, zero[Rule], ruleForm}},
		}},
		{"files", list[File]{&c.Files, defaultFile, fileForm}},
		{"fallback_file", flag(&c.FallbackFile)},
		{"fill_rate", size(&c.FillBytesPerSecond)},
		{"probes", list[record.Probe]{&c.Probes, defaultProbe, probeForm}},
		{"admission", section{
			{"max_utilisation", ratio(&c.Admission.MaxUtilisation)},
			{"max_in_flight", count(&c.Admission.MaxInFlight)},
			{"max_io_pressure", ratio(&c.Admission.MaxIOPressure)},
			{"max_cpu_wait", ratio(&c.Admission.MaxCPUWait)},
			{"write_budget_per_day", size(&c.Admission.WriteBytesPerDay)},
		}},
		{"runs", list[Run]{&c.Runs, defaultRun, runForm}},
		{"fleet", c.Fleet.form()},
		{"drift", section{
			{"window", duration(&c.Drift.Window)},
			{"baseline_rounds", count(&c.Drift.BaselineRounds)},
			{"threshold", ratio(&c.Drift.Threshold)},
			{"smallest_effect", ratio(&c.Drift.SmallestEffect)},
			{"false_alarms_per_device_year", number(&c.Drift.FalseAlarmsPerDeviceYear)},
			{"data_sheets", list[record.DataSheet]{&c.Drift.DataSheets, zero[record.DataSheet], sheetForm}},
		}},
		{"health", section{
			{"enabled", flag(&c.Health.Enabled)},
			{"interval", duration(&c.Health.Interval)},
		}},
	}
}

func ruleForm(r *Rule) field {
	return section{
		{"name", optional(text(&r.Name))},
		{"id", optional(text(&r.ID))},
		{"model", optional(text(&r.Model))},
		{"by_id", optional(text(&r.ByID))},
		{"transport", optional(text(&r.Transport))},
		{"min_size", optional(bound(&r.MinSizeBytes))},
		{"max_size", optional(bound(&r.MaxSizeBytes))},
	}
}

func fileForm(f *File) field {
	return section{
		{"path", cleanPath(&f.Path)},
		{"size", size(&f.SizeBytes)},
	}
}

func probeForm(p *record.Probe) field {
	return section{
		{"name", text(&p.Name)},
		{"direction", text(&p.Direction)},
		{"pattern", text(&p.Pattern)},
		{"block_size", size(&p.BlockBytes)},
		{"queue_depth", count(&p.QueueDepth)},
		{"ios", count(&p.IOs)},
		{"warmup_ios", count(&p.WarmupIOs)},
		{"datasync", flag(&p.Datasync)},
		{"interval", duration(&p.Interval)},
		{"timeout", duration(&p.Timeout)},
		{"targets", text(&p.Targets)},
	}
}

func address(a *string) field { return text(a) }

func zero[T any]() (v T) { return v }
