package record

import "time"

// Outcome says how a round ended.
type Outcome string

// The outcomes of a round.
const (
	OutcomeOK        Outcome = "ok"        // measured the device
	OutcomeBusy      Outcome = "busy"      // not admitted, so nothing was read or written
	OutcomeDisturbed Outcome = "disturbed" // the measuring thread did not run for part of the round, so it measured the CPU
	OutcomeUnmapped  Outcome = "unmapped"  // read mostly blocks that were never written, so it measured a mapping table
	OutcomeError     Outcome = "error"     // at least one I/O failed
	OutcomeTimeout   Outcome = "timeout"   // did not end in time, so the device hangs or is far too slow
)

// Outcomes lists all outcomes.
func Outcomes() []Outcome {
	return []Outcome{OutcomeOK, OutcomeBusy, OutcomeDisturbed, OutcomeUnmapped, OutcomeError, OutcomeTimeout}
}

// Measurement is the result of one round of a probe.
type Measurement struct {
	Device  string    `json:"device"` // the target's id
	Probe   string    `json:"probe"`
	Start   time.Time `json:"start"`
	Outcome Outcome   `json:"outcome"`
	Reason  string    `json:"reason,omitempty"` // why the outcome is not ok
	// Loaded marks a small round that ran although the device was busy, because none had run for long. It is
	// compared with nothing: so few I/Os, in a queue with those of others, say too little about the drive.
	Loaded bool `json:"loaded,omitempty"`

	// Duration is the wall time of the counted I/Os.
	Duration time.Duration `json:"duration_ns"`
	// Latency holds every counted I/O that succeeded.
	Latency Histogram `json:"latency,omitempty"`
	// Warmup holds the warm-up I/Os before them.
	Warmup Histogram `json:"warmup,omitempty"`

	// ReadBytes and WrittenBytes are everything that the round transferred, including warm-up and the search for
	// written blocks.
	ReadBytes    int64 `json:"read_bytes"`
	WrittenBytes int64 `json:"written_bytes"`
	// Errors counts the failed I/Os by the name of their errno.
	Errors map[string]int64 `json:"errors,omitempty"`
	// CheckedBlocks counts the 4 KiB blocks that were read. UnwrittenBlocks counts those in which all bytes are
	// equal, as in blocks that were never written.
	CheckedBlocks   int64 `json:"checked_blocks,omitempty"`
	UnwrittenBlocks int64 `json:"unwritten_blocks,omitempty"`

	Disturbance Disturbance `json:"disturbance"`
	Load        Load        `json:"load"`
	Conditions  Conditions  `json:"conditions"`
	Warnings    []Warning   `json:"warnings,omitempty"`
}

// OutcomeText returns the outcome, and whether the device was busy: "ok, loaded".
func (m Measurement) OutcomeText() string {
	if m.Loaded {
		return string(m.Outcome) + ", loaded"
	}
	return string(m.Outcome)
}

// IOPS returns the rate of counted I/Os over the round, or 0 when nothing was measured.
func (m Measurement) IOPS() float64 {
	if m.Duration <= 0 {
		return 0
	}
	return float64(m.Latency.Count()) / m.Duration.Seconds()
}

// Disturbance describes what kept the measuring threads from running.
type Disturbance struct {
	// CPUWait is the time for which the threads were runnable and waited for a CPU (second field of
	// /proc/thread-self/schedstat), averaged over the threads.
	CPUWait time.Duration `json:"cpu_wait_ns"`
	// CPUWaitRatio is CPUWait as a share (0 to 1) of the round.
	CPUWaitRatio float64 `json:"cpu_wait_ratio"`
	// Throttled is the time for which the CPU quota of the cgroup stopped the process.
	Throttled time.Duration `json:"throttled_ns,omitempty"`
	// InvoluntarySwitches counts how often a thread was preempted.
	InvoluntarySwitches int64 `json:"involuntary_switches,omitempty"`
}

// Load is the load from others on the device, as admission saw it for a round.
type Load struct {
	// Utilisation is the share (0 to 1) of the time since our last I/O during which I/O of others was in flight;
	// negative when not known.
	Utilisation float64 `json:"utilisation"`
	// InFlight is the number of I/Os of others in flight when the round began.
	InFlight int64 `json:"in_flight"`
	// MeanInFlight is the mean number of I/Os of others in flight since our last I/O; negative when not known.
	MeanInFlight float64 `json:"mean_in_flight"`
	// IOPressure is the share (0 to 1) of the last 10 s during which some task of the host waited for I/O
	// (/proc/pressure/io); negative when not known.
	IOPressure float64 `json:"io_pressure"`
	// OthersIOs counts the I/Os of others that completed during the round; negative when not known.
	OthersIOs int64 `json:"others_ios"`
	// Others is the work that others asked of the device in the 30 s before the round; nil when not known.
	Others *Work `json:"others,omitempty"`
}

// UnknownLoad returns the load of a device about which nothing is known.
func UnknownLoad() Load {
	return Load{Utilisation: -1, MeanInFlight: -1, IOPressure: -1, OthersIOs: -1}
}
