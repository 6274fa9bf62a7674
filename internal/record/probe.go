package record

import (
	"fmt"
	"time"
)

// Probe is a small fixed workload that runs continuously on a target.
type Probe struct {
	Name       string    `json:"name"`
	Direction  Direction `json:"direction"`
	Pattern    Pattern   `json:"pattern"`
	BlockBytes int64     `json:"block_bytes"`
	QueueDepth int       `json:"queue_depth"`
	// IOs is the number of counted I/Os per round.
	IOs int `json:"ios"`
	// WarmupIOs is the number of I/Os issued before the counted ones. They are recorded separately, because the first
	// I/O after a pause includes the time to wake the CPU and the drive.
	WarmupIOs int `json:"warmup_ios"`
	// Datasync makes each write complete only when a following fdatasync has returned.
	Datasync bool          `json:"datasync,omitempty"`
	Interval time.Duration `json:"interval_ns"`
	// Timeout ends a round that takes longer. The device is then hung or far too slow.
	Timeout time.Duration `json:"timeout_ns"`
	Targets TargetKinds   `json:"targets"`
}

// RoundBytes returns the number of bytes that one round transfers, including warm-up.
func (p Probe) RoundBytes() int64 { return int64(p.IOs+p.WarmupIOs) * p.BlockBytes }

// SameIO reports whether the rounds of both probes do the same I/O, so that their figures may be compared.
func (p Probe) SameIO(o Probe) bool {
	o.Name, o.Interval, o.Timeout, o.Targets = p.Name, p.Interval, p.Timeout, p.Targets
	return p == o
}

// Direction is read or write.
type Direction string

// The directions.
const (
	Read  Direction = "read"
	Write Direction = "write"
)

// Pattern is the order of the offsets.
type Pattern string

// The patterns.
const (
	Random     Pattern = "random"
	Sequential Pattern = "sequential"
)

// TargetKinds says which kinds of target a probe runs on.
type TargetKinds string

// The kinds of targets.
const (
	OnAll     TargetKinds = "all"
	OnDevices TargetKinds = "devices"
	OnFiles   TargetKinds = "files"
)

// RunsOn reports whether the probe runs on a file, or on a raw device if file is false. Write probes run only on
// files, whatever the configuration says.
func (p Probe) RunsOn(file bool) bool {
	switch {
	case p.Direction == Write && !file:
		return false
	case p.Targets == OnFiles:
		return file
	case p.Targets == OnDevices:
		return !file
	default:
		return true
	}
}

// DefaultProbes returns the default probes, which are light enough to run continuously. The first one has the defaults of
// all other probes.
func DefaultProbes() []Probe {
	const timeout = 20 * time.Second
	return []Probe{
		{
			Name: "read-4k", Direction: Read, Pattern: Random, BlockBytes: 4 << 10, QueueDepth: 1,
			IOs: 256, WarmupIOs: 8, Interval: 30 * time.Second, Timeout: timeout, Targets: OnAll,
		},
		{
			Name: "read-128k", Direction: Read, Pattern: Sequential, BlockBytes: 128 << 10, QueueDepth: 1,
			IOs: 32, WarmupIOs: 2, Interval: time.Minute, Timeout: timeout, Targets: OnAll,
		},
		{
			Name: "durable-write-4k", Direction: Write, Pattern: Sequential, BlockBytes: 4 << 10, QueueDepth: 1,
			IOs: 32, WarmupIOs: 1, Datasync: true, Interval: time.Minute, Timeout: timeout, Targets: OnFiles,
		},
	}
}

// String returns text such as "4 KiB random read, depth 1".
func (p Probe) String() string {
	size := fmt.Sprintf("%d B", p.BlockBytes)
	switch {
	case p.BlockBytes%(1<<20) == 0:
		size = fmt.Sprintf("%d MiB", p.BlockBytes>>20)
	case p.BlockBytes%(1<<10) == 0:
		size = fmt.Sprintf("%d KiB", p.BlockBytes>>10)
	}
	text := fmt.Sprintf("%s %s %s, depth %d", size, p.Pattern, p.Direction, p.QueueDepth)
	if p.Datasync {
		text += ", fdatasync after each"
	}
	return text
}
