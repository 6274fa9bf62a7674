package record

import (
	"errors"
	"slices"
	"time"
)

// RecordingHead describes a recording of the flight recorder.
type RecordingHead struct {
	// ID consists of the time of the trigger and what triggered it, such as "20261122T101502Z-nvme0n1".
	ID        string `json:"id"`
	Node      string `json:"node"`
	Generator string `json:"generator"` // "ssdprobe 1.2.3"
	// From is the beginning of the first second, and Until the end of the last one.
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// Triggers are the reasons why the recording was kept, in the order in which they occurred.
	Triggers []Trigger `json:"triggers"`
	// MoreTriggers counts the triggers that are not listed.
	MoreTriggers int `json:"more_triggers,omitempty"`
	// Cut says why the recording ends early; empty when it does not.
	Cut string `json:"cut,omitempty"`
	// Bytes is the size of the exported recording; 0 in the export itself, which cannot know its size.
	Bytes int64 `json:"bytes,omitempty"`
}

// Check returns an error for what is not the head of a recording: each was made for a reason.
func (h RecordingHead) Check() error {
	if len(h.Triggers) == 0 {
		return errors.New("a recording without a trigger")
	}
	return nil
}

// Trigger is a reason why a recording was made.
type Trigger struct {
	Time time.Time   `json:"time"`
	Kind TriggerKind `json:"kind"`
	// TargetID, DeviceID and Device are empty when the trigger is about the node.
	TargetID string `json:"target_id,omitempty"`
	DeviceID string `json:"device_id,omitempty"`
	Device   string `json:"device,omitempty"` // the kernel's name
	Text     string `json:"text"`
}

// About reports whether the trigger is about this target or its device. When both ids are empty, it reports whether
// the trigger is about the node.
func (t Trigger) About(targetID, deviceID string) bool {
	return t.TargetID == targetID && targetID != "" || t.DeviceID == deviceID && (deviceID != "" || t.TargetID == targetID)
}

// TriggerKind is the kind of event that triggers a recording.
type TriggerKind string

// The kinds of triggers.
const (
	TriggerStall   TriggerKind = "stall"   // a device completed no I/O for two seconds or longer
	TriggerVerdict TriggerKind = "verdict" // a drive became degraded or severe, or the host slower
	TriggerRequest TriggerKind = "request" // a user requested it
)

// Recording is what the flight recorder knows about the minute before and the minute after a trigger.
type Recording struct {
	RecordingHead
	Host []HostSecond `json:"host"`
	// Devices lists the devices that triggered the recording, and all others on which I/O was in flight or completed.
	Devices []DeviceRecording `json:"devices"`
	// Idle lists the names of the devices without any I/O.
	Idle []string `json:"idle,omitempty"`
}

// HostSecond describes the host in one second. The shares are of the time since the last reading, from 0 to 1. They
// are nil when nothing was read in this second.
type HostSecond struct {
	Time   time.Time     `json:"time"` // the end of the second
	Length time.Duration `json:"length_ns"`
	// StoodStill is true when this process, the machine or a CPU did not run for a while.
	StoodStill bool `json:"stood_still,omitempty"`
	// ClockStep is how far the clock was set during this second, or how long the machine was suspended.
	ClockStep time.Duration `json:"clock_step_ns,omitempty"`
	// IOPressureSome and IOPressureFull are the shares of the time in which some or all tasks waited for I/O
	// (Documentation/accounting/psi.rst).
	IOPressureSome *float64 `json:"io_pressure_some,omitempty"`
	IOPressureFull *float64 `json:"io_pressure_full,omitempty"`
	// CPUBusy, CPUWait and CPUSteal are shares of the time of all CPUs (man 5 proc_stat). CPUBusy is the time at
	// work, CPUWait the idle time while a task waited for I/O, and CPUSteal the time taken away by the hypervisor.
	CPUBusy  *float64 `json:"cpu_busy,omitempty"`
	CPUWait  *float64 `json:"cpu_wait,omitempty"`
	CPUSteal *float64 `json:"cpu_steal,omitempty"`
	// SlowUnreported is how many slow I/Os of all devices are missing from DeviceRecording.Slow; see IOUnreported.
	SlowUnreported int64 `json:"slow_ios_unreported,omitempty"`
}

// DeviceRecording is what was recorded of one device.
type DeviceRecording struct {
	Device Device `json:"device"`
	// Seconds are the seconds in which the device was present.
	Seconds []DeviceSecond `json:"seconds"`
	// Readings are values that are read less often than once a second.
	Readings []DeviceReading `json:"readings,omitempty"`
	// Slow lists the slowest I/Os of each second, as the eBPF programs reported them. Some may be missing where
	// HostSecond.SlowUnreported is not 0.
	Slow []SlowIO `json:"slow_ios,omitempty"`
}

// SlowIO is one of the slowest application I/Os of its second.
type SlowIO struct {
	Time      time.Time `json:"time"` // when it completed
	Operation Operation `json:"operation"`
	Bytes     int64     `json:"bytes,omitempty"`
	// Sector is the first sector, in units of 512 bytes from the start of the whole device.
	Sector int64 `json:"sector"`
	// Device and Queue are the times spent in each stage; see IOStage.
	Device time.Duration `json:"device_ns"`
	Queue  time.Duration `json:"queue_ns,omitempty"`
	// Process, PID and CGroup identify who submitted the I/O. They are empty unless recorder.names is on.
	Process string `json:"process,omitempty"`
	PID     int    `json:"pid,omitempty"`
	CGroup  string `json:"cgroup,omitempty"`
}

// Latency returns the total time of the I/O.
func (s SlowIO) Latency() time.Duration { return s.Device + s.Queue }

// WithoutNames returns a copy of the recording without the names of processes and control groups.
func (r Recording) WithoutNames() Recording {
	r.Devices = slices.Clone(r.Devices)
	for i, d := range r.Devices {
		r.Devices[i].Slow = slices.Clone(d.Slow)
		for j := range d.Slow {
			s := &r.Devices[i].Slow[j]
			s.Process, s.PID, s.CGroup = "", 0, ""
		}
	}
	return r
}

// DeviceSecond is what the kernel counted for a device in one second, including our own I/O.
type DeviceSecond struct {
	Time time.Time `json:"time"` // the end of the second
	// Unknown is true when the second cannot be compared with the one before, because the device has just appeared,
	// its counters restarted, or its statistics are off. All fields except InFlight are then zero.
	Unknown bool      `json:"unknown,omitempty"`
	Read    ServedNow `json:"read,omitzero"`
	Write   ServedNow `json:"write,omitzero"`
	Discard ServedNow `json:"discard,omitzero"`
	Flush   ServedNow `json:"flush,omitzero"` // without bytes
	// Busy is the time during which I/O was in flight.
	Busy time.Duration `json:"busy_ns,omitempty"`
	// InFlight is the number of I/Os in a queue or in the device at the end of the second.
	InFlight int64 `json:"in_flight"`
	// Stall is the cause of the stall that is in progress at the end of the second; empty when there is none.
	Stall StallCause `json:"stall,omitempty"`
	// Ours is true when a round or run of ours used the device during this second.
	Ours bool `json:"ours,omitempty"`
	// CoarseTimes is true when latencies are counted in ticks of the kernel's clock; see Traffic.
	CoarseTimes bool `json:"coarse_times,omitempty"`
}

// Of returns what was served of one operation.
func (s DeviceSecond) Of(o Operation) ServedNow {
	switch o {
	case OperationRead:
		return s.Read
	case OperationWrite:
		return s.Write
	case OperationDiscard:
		return s.Discard
	case OperationFlush:
		return s.Flush
	}
	return ServedNow{}
}

// IOs returns the number of completed I/Os.
func (s DeviceSecond) IOs() int64 { return s.Read.IOs + s.Write.IOs + s.Discard.IOs + s.Flush.IOs }

// ServedNow is the I/O of one operation that completed in one second.
type ServedNow struct {
	IOs   int64 `json:"ios"`
	Bytes int64 `json:"bytes,omitempty"`
	// MeanLatency has the same meaning as in Served.
	MeanLatency time.Duration `json:"mean_latency_ns,omitempty"`
}

// DeviceReading holds values that are read occasionally for other purposes.
type DeviceReading struct {
	Time time.Time `json:"time"`
	// Celsius is the composite temperature; nil when it is not known.
	Celsius *int `json:"celsius,omitempty"`
	// Link is the rate that the PCIe link trained to, such as "16 GT/s x4"; empty when there is no link.
	Link string `json:"link,omitempty"`
	// InterruptsPerSecond is the rate of interrupts from the queues of the device's controllers since the previous
	// reading; nil when not known.
	InterruptsPerSecond *float64 `json:"interrupts_per_second,omitempty"`
}

// RecorderStatus is the status of the flight recorder.
type RecorderStatus struct {
	// Recordings lists the kept recordings, oldest first.
	Recordings []RecordingHead `json:"recordings"`
	// Unfinished lists those that are being made. Until is when each will be complete, unless more happens.
	Unfinished []RecordingHead `json:"unfinished,omitempty"`
	// Written counts the recordings that were written since the daemon started, and Failed how often one could not be
	// written.
	Written uint64 `json:"written"`
	Failed  uint64 `json:"failed"`
}

// Bytes returns the total size of all recordings.
func (s RecorderStatus) Bytes() int64 {
	sum := int64(0)
	for _, h := range s.Recordings {
		sum += h.Bytes
	}
	return sum
}

// Newest returns the newest recording with a trigger for which meant returns true, or false when there is none. A nil
// status has no recordings.
func (s *RecorderStatus) Newest(meant func(Trigger) bool) (RecordingHead, bool) {
	if s == nil {
		return RecordingHead{}, false
	}
	for _, h := range slices.Backward(s.Recordings) {
		if slices.ContainsFunc(h.Triggers, meant) {
			return h, true
		}
	}
	return RecordingHead{}, false
}
