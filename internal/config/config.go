package config

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
)

// Config is the complete configuration of the daemon, with defaults filled in. The form documents the keys and their
// limits.
type Config struct {
	Node     string // empty for the host name
	StateDir string // empty for the usual place, which depends on the user that runs the daemon
	LockDir  string // empty for the usual place
	HostRoot string
	// Listen lists the addresses of the HTTP server, "host:port".
	Listen             []string
	ReloadOnChange     bool
	DiscoveryInterval  time.Duration
	RoundsAtOnce       int
	Devices            Devices
	Files              []File // probed in addition to the devices
	FallbackFile       bool
	FillBytesPerSecond int64
	Probes             []record.Probe
	Admission          Admission
	Drift              Drift
	Health             Health
	Recorder           recorder.Settings
	QuietHours         QuietHours
	Runs               []Run
	Fleet              Fleet
	Kubernetes         Kubernetes
	IOLatency          IOLatency
}

// IOLatency says whether the I/O of applications is timed. None of its words is a boolean in YAML.
type IOLatency string

// The values of IOLatency.
const (
	IOLatencyAuto   IOLatency = "auto"   // where possible
	IOLatencyAlways IOLatency = "always" // otherwise the daemon does not start
	IOLatencyNever  IOLatency = "never"
)

// Devices says which block devices are watched: those that match a rule of Include and no rule of Exclude. An empty
// Include stands for every whole disk with storage of its own.
type Devices struct {
	Enabled          bool
	Include, Exclude []device.Rule
}

// File is a probe file, or a directory in which one is created.
type File struct {
	Path      string // absolute and clean
	SizeBytes int64
}

// Admission says when a device may not be touched, and when a round does not count.
type Admission struct {
	// Limits are limits above which a round is skipped. Package admit decides about those that are nil.
	admit.Limits
	// ForcedInterval is how long these limits may keep a probe from a device; 0 for ever.
	ForcedInterval time.Duration
	// MaxCPUWait is the share (0 to 1) of a round spent waiting for a CPU above which the round is disturbed.
	MaxCPUWait float64
	// WriteBytesPerDay is how much all write probes together may write to a file per day; 0 stops them.
	WriteBytesPerDay int64
	// ConfirmationsPerHour limits the confirmation rounds on a target; 0 stops them.
	ConfirmationsPerHour int
}

// WriteShare returns how many bytes each write probe may write to a file per day. Write probes have equal shares, so
// that none uses up the budget of another.
func (a Admission) WriteShare(probes []record.Probe) int64 {
	writers := int64(0)
	for _, p := range probes {
		if p.Direction == record.Write && p.RunsOn(true) {
			writers++
		}
	}
	return a.WriteBytesPerDay / max(writers, 1)
}

// Drift says how the recent past is compared with the baseline.
type Drift struct {
	// Settings apply to all probes of a target together; see DriftSettings.
	drift.Settings
	// DataSheets lists the promises of drive makers. Model is a glob (glob.Match); the first sheet that matches a
	// drive's model counts.
	DataSheets []record.DataSheet
}

// DriftSettings returns the settings of one probe on a file or a device. The probes on a target and the traffic of
// others share the target's budget of false alarms.
func (c Config) DriftSettings(file bool) drift.Settings {
	probes := 0
	for _, p := range c.Probes {
		if p.RunsOn(file) {
			probes++
		}
	}
	return c.Drift.Shared(probes + 1)
}

// Health says how SMART data is read and how interrupts are counted.
type Health struct {
	Enabled  bool
	Interval time.Duration
	// Interrupts applies to devices that match no rule of Devices.
	Interrupts Interrupts
	Devices    []HealthOf
}

// HealthOf overrides settings for the devices that match a rule.
type HealthOf struct {
	device.Rule
	Interrupts Interrupts
}

// Interrupts says how many series there are for the interrupts of a controller.
type Interrupts string

// The values of Interrupts.
const (
	InterruptsSummary Interrupts = "summary" // a fixed number, however many queues there are
	InterruptsAll     Interrupts = "all"     // by queue and by where they were handled
)

// InterruptsOf returns the value for a device. The first rule that matches counts.
func (h Health) InterruptsOf(d record.Device) Interrupts {
	for _, of := range h.Devices {
		if of.Match(d) {
			return of.Interrupts
		}
	}
	return h.Interrupts
}

// Default returns the configuration of an empty file. It is valid.
func Default() Config {
	return Config{
		HostRoot:           "/",
		Listen:             []string{":10040"},
		DiscoveryInterval:  10 * time.Second,
		RoundsAtOnce:       1,
		Devices:            Devices{Enabled: true},
		FallbackFile:       true,
		FillBytesPerSecond: 128 << 20,
		Probes:             record.DefaultProbes(),
		Admission:          Admission{ForcedInterval: 15 * time.Minute, MaxCPUWait: 0.05, WriteBytesPerDay: 1 << 30, ConfirmationsPerHour: 12},
		Drift:              Drift{Settings: drift.Default()},
		Fleet:              Fleet{MaxRuns: 1, Lease: "ssdprobe-run", LeaseDuration: 2 * time.Minute},
		Kubernetes:         Kubernetes{Taint: TaintNone, MaxTaints: 1},
		Health:             Health{Enabled: true, Interval: time.Minute, Interrupts: InterruptsSummary},
		IOLatency:          IOLatencyAuto,
		Recorder:           recorder.Default(),
	}
}

// defaultFile returns a file for which only the path has to be given.
func defaultFile() File { return File{SizeBytes: 1 << 30} }

// builtInProbe returns the default probe with this name.
func builtInProbe(name string) (record.Probe, bool) {
	for _, p := range Default().Probes {
		if p.Name == name {
			return p, true
		}
	}
	return record.Probe{}, false
}

// defaultProbe returns a probe for which only the name has to be given: read-4k under another name.
func defaultProbe() record.Probe {
	p := record.DefaultProbes()[0]
	p.Name = ""
	return p
}
