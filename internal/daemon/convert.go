package daemon

import (
	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/drift"
)

// Rules are the configuration's rules as package device takes them.
func Rules(rules []config.Rule) []device.Rule {
	list := make([]device.Rule, len(rules))
	for i, r := range rules {
		list[i] = device.Rule(r)
	}
	return list
}

// driftSettings are those of the configuration for one probe on a target. The
// probes that run there share the target's budget of false alarms.
func driftSettings(c config.Config, file bool) drift.Settings {
	probes := 0
	for _, p := range c.Probes {
		if p.RunsOn(file) {
			probes++
		}
	}
	return drift.Settings{
		Window: c.Drift.Window, BaselineRounds: c.Drift.BaselineRounds, Threshold: c.Drift.Threshold,
		SmallestEffect: c.Drift.SmallestEffect, FalseAlarmsPerYear: c.Drift.FalseAlarmsPerDeviceYear / float64(max(1, probes)),
	}
}

// Limits are those of the configuration.
func Limits(a config.Admission) admit.Limits {
	return admit.Limits{MaxUtilisation: a.MaxUtilisation, MaxInFlight: a.MaxInFlight, MaxIOPressure: a.MaxIOPressure}
}
