package config

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
)

// Config is the whole configuration of the daemon, with defaults filled in. The form says
// what the keys mean and what their limits are.
type Config struct {
	Node     string // empty for the host name
	StateDir string // empty for the usual place of the user that runs the daemon
	LockDir  string // empty for the usual place
	HostRoot string
	// Listen are the addresses of the HTTP server, "host:port".
	Listen             []string
	ReloadOnChange     bool
	DiscoveryInterval  time.Duration
	RoundsAtOnce       int
	Devices            Devices
	Files              []File // probed besides the devices
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

// IOLatency says whether the I/O of applications is timed. Its words are none that YAML takes for a boolean.
type IOLatency string

// The ways to time I/O.
const (
	IOLatencyAuto   IOLatency = "auto"   // where it can be done
	IOLatencyAlways IOLatency = "always" // else the daemon does not start
	IOLatencyNever  IOLatency = "never"
)

// Devices says which block devices are watched: those that a rule of Include matches and
// none of Exclude. No rule in Include stands for every whole disk with storage of its own.
type Devices struct {
	Enabled          bool
	Include, Exclude []device.Rule
}

// File is a probe file, or a directory in which one is made.
type File struct {
	Path      string // absolute and clean
	SizeBytes int64
}

// Admission is when a device may not be touched, and when a round does not count.
type Admission struct {
	// Limits above which a round is skipped. Those that are nil are left to package admit.
	admit.Limits
	// ForcedInterval is how long those may keep a probe from a device; 0 for ever.
	ForcedInterval time.Duration
	// MaxCPUWait is the share of a round spent waiting for a CPU, above which it is disturbed.
	MaxCPUWait float64
	// WriteBytesPerDay is what the write probes may write to a file; 0 stops them.
	WriteBytesPerDay int64
	// ConfirmationsPerHour bounds the rounds out of turn on a target; 0 stops them.
	ConfirmationsPerHour int
}

// WriteShare is how many bytes each write probe of these may write to a file in a day:
// they have equal shares, so that none uses up what another one waits for.
func (a Admission) WriteShare(probes []record.Probe) int64 {
	writers := int64(0)
	for _, p := range probes {
		if p.Direction == record.Write && p.RunsOn(true) {
			writers++
		}
	}
	return a.WriteBytesPerDay / max(writers, 1)
}

// Drift is how the recent past is compared with the baseline.
type Drift struct {
	// Settings are those of all probes of a target together; see DriftSettings.
	drift.Settings
	// DataSheets are what makers promise of drives. The Model of each is a glob
	// (path.Match) of the model; the first that matches counts.
	DataSheets []record.DataSheet
}

// DriftSettings are those of one probe on a target, a file or a device. The probes that
// run there, and the traffic of others, share the target's budget of false alarms.
func (c Config) DriftSettings(file bool) drift.Settings {
	probes := 0
	for _, p := range c.Probes {
		if p.RunsOn(file) {
			probes++
		}
	}
	return c.Drift.Shared(probes + 1)
}

// Health is how drives are asked for their SMART data and how interrupts are counted.
type Health struct {
	Enabled  bool
	Interval time.Duration
	// Interrupts is for the devices that no rule of Devices matches.
	Interrupts Interrupts
	Devices    []HealthOf
}

// HealthOf says what differs for the devices that a rule matches.
type HealthOf struct {
	device.Rule
	Interrupts Interrupts
}

// Interrupts says how many series the interrupts of a controller have.
type Interrupts string

// The numbers of series.
const (
	InterruptsSummary Interrupts = "summary" // bounded, however many queues there are
	InterruptsAll     Interrupts = "all"     // by queue and by where they were taken
)

// InterruptsOf is what applies to a device: the first rule that matches counts.
func (h Health) InterruptsOf(d record.Device) Interrupts {
	for _, of := range h.Devices {
		if of.Match(d) {
			return of.Interrupts
		}
	}
	return h.Interrupts
}

// Default is the configuration of an empty file. It is valid.
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

// defaultFile is a file of which only the path is given.
func defaultFile() File { return File{SizeBytes: 1 << 30} }

// builtInProbe is the probe of that name that runs by default.
func builtInProbe(name string) (record.Probe, bool) {
	for _, p := range Default().Probes {
		if p.Name == name {
			return p, true
		}
	}
	return record.Probe{}, false
}

// defaultProbe is a probe of which only another name is given.
func defaultProbe() record.Probe {
	return record.Probe{
		Direction: record.Read, Pattern: record.Random, BlockBytes: 4 << 10, QueueDepth: 1,
		IOs: 256, WarmupIOs: 8, Interval: 30 * time.Second, Timeout: 20 * time.Second, Targets: record.OnAll,
	}
}
