package config

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Config is the whole configuration of the daemon, with defaults filled in.
type Config struct {
	// Node is the name of this machine in what is shown, and part of what keeps
	// nodes from starting rounds together; empty for the host name.
	Node string
	// StateDir is where baselines, drift state and run reports are kept; empty for
	// the usual place of the user that runs the daemon.
	StateDir string
	// LockDir holds one lock file per device; empty for the usual place.
	LockDir string
	// HostRoot is where the host's /sys, /proc and /dev are seen: "/" or, in a
	// container, where they are mounted.
	HostRoot string
	// Listen are the addresses of the HTTP server, "host:port".
	Listen []string
	// ReloadOnChange makes the daemon take a new content of the configuration file by itself, as
	// on SIGHUP. Without it, it only says that the file has changed.
	ReloadOnChange bool
	// DiscoveryInterval is the time between looks for devices that came or left;
	// 1 s or more.
	DiscoveryInterval time.Duration
	// RoundsAtOnce is the most rounds that run on the node at a time, 1 to 64.
	RoundsAtOnce int
	Devices      Devices
	// Files are probed besides the devices.
	Files []File
	// FallbackFile makes the daemon probe a file in its state directory when no
	// device may be opened and Files is empty.
	FallbackFile bool
	// FillBytesPerSecond is the rate at which a probe file is filled; 1 MiB/s or more.
	FillBytesPerSecond int64
	Probes             []record.Probe
	Admission          Admission
	Drift              Drift
	Health             Health
	// Runs are full runs of suites by the calendar; none by default.
	Runs  []Run
	Fleet Fleet
}

// Devices says which block devices are watched.
type Devices struct {
	// Enabled is false when no block device is to be opened at all.
	Enabled bool
	// Include are the rules of which one must match; when empty, every whole disk
	// that is not loop, RAM, optical, a hard disk or stacked is watched.
	Include []Rule
	// Exclude are the rules of which none may match.
	Exclude []Rule
}

// Rule matches a device when everything that is set in it matches. A rule with
// nothing set is not valid.
type Rule struct {
	Name  string // glob (path.Match) of the kernel's name, "nvme*"
	ID    string // glob of the stable identity
	Model string // glob of the model
	ByID  string // glob of a name in /dev/disk/by-id
	// Transport is one of record.Transports.
	Transport string
	// MinSizeBytes and MaxSizeBytes bound the size, themselves included; 0 is no bound.
	MinSizeBytes int64
	MaxSizeBytes int64
}

// File is a probe file.
type File struct {
	// Path is absolute and clean: a file, or a directory in which one is made.
	Path string
	// SizeBytes is 16 MiB or more.
	SizeBytes int64
}

// Admission is when a device may not be touched, and when a round does not count.
type Admission struct {
	// MaxUtilisation is the share (0 to 1) of time with I/O of others in flight
	// above which a round is skipped.
	MaxUtilisation float64
	// MaxInFlight is the number of I/Os of others in flight above which a round is
	// skipped; 0 or more.
	MaxInFlight int64
	// MaxIOPressure is the share (0 to 1) of time in which some task of the host
	// waits for I/O, above which a round is skipped.
	MaxIOPressure float64
	// MaxCPUWait is the share (0 to 1) of a round spent waiting for a CPU, above
	// which it is disturbed.
	MaxCPUWait float64
	// WriteBytesPerDay is what the write probes may write to a file in a day, in equal
	// shares; 0 stops them.
	WriteBytesPerDay int64
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
	// Window is the recent past; 30 s or more.
	Window time.Duration
	// BaselineRounds is the number of good rounds that make a baseline, 10 to 100000.
	BaselineRounds int
	// Threshold is the smallest shift that is judged before the baseline is final,
	// which takes a day: 0.2 is 20 % slower. 0.01 to 10.
	Threshold float64
	// SmallestEffect is the smallest shift that is judged from then on, 0.01 to 1.
	SmallestEffect float64
	// FalseAlarmsPerDeviceYear is how many alarms without a cause all probes of a
	// target may bring in a year, 0.001 to 100.
	FalseAlarmsPerDeviceYear float64
	// DataSheets are what makers promise of drives. The Model of each is a glob
	// (path.Match) of the model; the first that matches counts.
	DataSheets []record.DataSheet
}

// Health is how drives are asked for their SMART data and how interrupts are counted.
type Health struct {
	// Enabled is false when no drive is to be asked.
	Enabled bool
	// Interval is the time between two readings of a drive; 1 s or more.
	Interval time.Duration
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
		Admission: Admission{
			MaxUtilisation:   0.8,
			MaxInFlight:      32,
			MaxIOPressure:    0.6,
			MaxCPUWait:       0.05,
			WriteBytesPerDay: 1 << 30,
		},
		Drift: Drift{
			Window: 5 * time.Minute, BaselineRounds: 120, Threshold: 0.2,
			SmallestEffect: 0.08, FalseAlarmsPerDeviceYear: 0.5,
		},
		Fleet:  Fleet{MaxRuns: 1, Lease: "ssdprobe-run", LeaseDuration: 2 * time.Minute},
		Health: Health{Enabled: true, Interval: time.Minute},
	}
}

// defaultFile is a file of which only the path is given.
func defaultFile() File { return File{SizeBytes: 1 << 30} }

// defaultProbe is a probe of which only the name is given.
func defaultProbe() record.Probe {
	return record.Probe{
		Direction: record.Read, Pattern: record.Random, BlockBytes: 4 << 10, QueueDepth: 1,
		IOs: 256, WarmupIOs: 8, Interval: 30 * time.Second, Timeout: 20 * time.Second, Targets: record.OnAll,
	}
}
