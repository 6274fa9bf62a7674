package top

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Sample is what all devices did in an interval. Its JSON form, one sample a line, is for programs.
type Sample struct {
	Time   time.Time     `json:"time"` // the end of the interval
	Length time.Duration `json:"length_ns"`
	Node   string        `json:"node"`
	Daemon Answer        `json:"daemon"`
	// Devices lists those that were present at both ends of the interval, in the order that was asked for.
	Devices []Row `json:"devices"`
	// Problems say what could not be read.
	Problems []string `json:"problems,omitempty"`
}

// Answer is the state of the daemon's last answer.
type Answer struct {
	Address string `json:"address"`
	// Time is when the daemon made the answer that is shown; zero when none is shown.
	Time time.Time `json:"time,omitzero"`
	// Problem says why verdicts and ratios are missing; empty when they are not.
	Problem string `json:"problem,omitempty"`
}

// Row is what one device did.
type Row struct {
	Device string `json:"device"` // the kernel's name, "nvme0n1"
	ID     string `json:"id"`
	Number string `json:"number"` // the kernel's device number, "259:0"
	// Kind is that of a record.Device, or "partition".
	Kind  record.Kind `json:"kind"`
	Model string      `json:"model,omitempty"`
	// Whole says that the device is a whole disk: not made of other devices, not part of one, not memory and
	// not a file.
	Whole bool `json:"whole_disk"`

	// Traffic is all I/O in the interval, including that of our own probes.
	Traffic record.Traffic `json:"traffic"`
	// InFlight is how many I/Os were in flight at the end of the interval.
	InFlight uint64 `json:"in_flight"`
	// Stall is the stall in progress; nil when there is none.
	Stall *record.Stall `json:"stall,omitempty"`
	// Stalls counts the stalls of the last hour that the device is to blame for, as far as it was watched.
	Stalls record.StallTotal `json:"stalls"`

	// State is the drive's state in a word or two, and Verdict the daemon's verdict on it; empty and nil when the daemon does not
	// say.
	State   finding.State     `json:"state,omitempty"`
	Verdict *record.Judgement `json:"verdict,omitempty"`
	// Ratio is how many times slower the drive is now, by its verdict. It is 0 when nothing shows that it is.
	Ratio float64 `json:"ratio,omitempty"`
	// P99 is the 99th percentile of the device latency of applications' I/Os in the last 30 s, by operation. It
	// is nil when the daemon has no histograms of them, or too few I/Os.
	P99 map[record.Operation]time.Duration `json:"p99_ns,omitempty"`

	partly string // as in finding.Health
}

// IOPS returns the number of completed I/Os of all kinds per second.
func (r Row) IOPS() float64 {
	w := r.Traffic.Work
	return w.Reads + w.Writes + w.Discards + w.Flushes
}

// Bytes returns the number of bytes read and written per second.
func (r Row) Bytes() float64 { return r.Traffic.Work.ReadBytes + r.Traffic.Work.WrittenBytes }

// Latency returns the mean latency of all I/Os; 0 when none completed.
func (r Row) Latency() time.Duration {
	var ios int64
	var sum time.Duration
	for _, o := range record.Operations() {
		s := r.Traffic.Of(o)
		ios += s.IOs
		sum += time.Duration(s.IOs) * s.MeanLatency
	}
	if ios == 0 {
		return 0
	}
	return sum / time.Duration(ios)
}

// stalled returns how long nothing has completed; 0 when there is no stall.
func (r Row) stalled() time.Duration {
	if r.Stall == nil {
		return 0
	}
	return r.Stall.Length
}
