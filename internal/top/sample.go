package top

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Sample is what all devices did in an interval. Its JSON is what programs read, one a line.
type Sample struct {
	Time   time.Time     `json:"time"` // the end of the interval
	Length time.Duration `json:"length_ns"`
	Node   string        `json:"node"`
	Daemon Answer        `json:"daemon"`
	// Devices that were here at both ends, in the order that was asked for.
	Devices []Row `json:"devices"`
	// Problems say what could not be read.
	Problems []string `json:"problems,omitempty"`
}

// Answer is how the daemon answered.
type Answer struct {
	Address string `json:"address"`
	// Time is when it made the answer that is shown; zero while none is.
	Time time.Time `json:"time,omitzero"`
	// Problem says why there are no verdicts and ratios; empty when there are.
	Problem string `json:"problem,omitempty"`
}

// Row is what one device did.
type Row struct {
	Device string `json:"device"` // the kernel's name, "nvme0n1"
	ID     string `json:"id"`
	Number string `json:"number"` // the kernel's, "259:0"
	// Kind is that of a record.Device, or "partition".
	Kind  record.Kind `json:"kind"`
	Model string      `json:"model,omitempty"`
	// Whole says that it is a disk: neither made of other devices nor part of one, nor memory or a file.
	Whole bool `json:"whole_disk"`

	// Traffic is all I/O in the interval, that of our own probes included.
	Traffic record.Traffic `json:"traffic"`
	// InFlight is how many I/Os were in flight at the end of the interval.
	InFlight uint64 `json:"in_flight"`
	// Stall is the one that goes on; nil when I/Os complete.
	Stall *record.Stall `json:"stall,omitempty"`
	// Stalls are those of the last hour that the device is to blame for, as far as somebody watched.
	Stalls record.StallTotal `json:"stalls"`

	// Verdict is what the daemon says; nil when it says nothing.
	Verdict *record.Judgement `json:"verdict,omitempty"`
	// Ratio is how many times slower than its baseline: that of the verdict, else the highest of
	// the medians of its probes. 0 when nothing is compared.
	Ratio float64 `json:"ratio,omitempty"`
	// P99 is how long 99 % of the I/Os of applications took in the device at most, by operation, in the last half
	// minute; nil when the daemon has no histograms of them, or too few.
	P99 map[record.Operation]time.Duration `json:"p99_ns,omitempty"`
}

// IOPS is how many I/Os of any kind completed in a second.
func (r Row) IOPS() float64 {
	w := r.Traffic.Work
	return w.Reads + w.Writes + w.Discards + w.Flushes
}

// Bytes is how many bytes were read and written in a second.
func (r Row) Bytes() float64 { return r.Traffic.Work.ReadBytes + r.Traffic.Work.WrittenBytes }

// Latency is the mean of all I/Os; 0 when none completed.
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

// verdict is what the daemon says in one word; empty when it says nothing.
func (r Row) verdict() record.DriveVerdict {
	if r.Verdict == nil {
		return ""
	}
	return r.Verdict.Verdict
}

// stalled is for how long nothing has completed; 0 when I/Os complete.
func (r Row) stalled() time.Duration {
	if r.Stall == nil {
		return 0
	}
	return r.Stall.Length
}
