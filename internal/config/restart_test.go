package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

func TestRestartNeeded(t *testing.T) {
	for name, change := range map[string]func(*config.Config){
		"node":                   func(c *config.Config) { c.Node = "b" },
		"state_dir":              func(c *config.Config) { c.StateDir = "/b" },
		"lock_dir":               func(c *config.Config) { c.LockDir = "/b" },
		"host_root":              func(c *config.Config) { c.HostRoot = "/b" },
		"listen":                 func(c *config.Config) { c.Listen = append(c.Listen, ":1") },
		"rounds_at_once":         func(c *config.Config) { c.RoundsAtOnce++ },
		"fleet":                  func(c *config.Config) { c.Fleet.MaxRuns++ },
		"kubernetes":             func(c *config.Config) { c.Kubernetes.MaxTaints++ },
		"io_latency":             func(c *config.Config) { c.IOLatency = config.IOLatencyNever },
		"admission.max_cpu_wait": func(c *config.Config) { c.Admission.MaxCPUWait = 0.5 },
	} {
		assert.Equal(t, []string{name}, config.RestartNeeded(config.Default(), with(change)))
	}
	assert.Empty(t, config.RestartNeeded(config.Default(), config.Default()))
	assert.Empty(t, config.RestartNeeded(config.Default(), with(func(c *config.Config) {
		c.Probes, c.Drift.Threshold, c.Health.Enabled, c.FillBytesPerSecond = nil, 0.5, false, 1<<20
	})), "a reload takes these")
	assert.Equal(t, []string{"node", "fleet"}, config.RestartNeeded(config.Default(), with(func(c *config.Config) {
		c.Node, c.Fleet.Enabled = "b", true
	})))
}
