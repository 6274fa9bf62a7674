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

// driftSettings are those of the configuration.
func driftSettings(c config.Drift) drift.Settings {
	return drift.Settings{Window: c.Window, BaselineRounds: c.BaselineRounds, Threshold: c.Threshold}
}

// Limits are those of the configuration.
func Limits(a config.Admission) admit.Limits {
	return admit.Limits{MaxUtilisation: a.MaxUtilisation, MaxInFlight: a.MaxInFlight, MaxIOPressure: a.MaxIOPressure}
}
