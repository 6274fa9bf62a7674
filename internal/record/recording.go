package record

import (
	"slices"
	"time"
)

// RecordingHead says what a recording of the flight recorder is about.
type RecordingHead struct {
	// ID names it: when it was triggered and by what, "20261122T101502Z-nvme0n1".
	ID        string `json:"id"`
	Node      string `json:"node"`
	Generator string `json:"generator"` // "ssdprobe 1.2.3"
	// From and Until are the beginning of its first second and the end of its last one.
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// Triggers are why it was kept, in the order in which they came.
	Triggers []Trigger `json:"triggers"`
	// MoreTriggers counts those that are not listed.
	MoreTriggers int `json:"more_triggers,omitempty"`
	// Cut says why it ends early; empty when it does not.
	Cut string `json:"cut,omitempty"`
	// Bytes is its size as it is exported; 0 in an export, which cannot know.
	Bytes int64 `json:"bytes,omitempty"`
}

// Trigger is why something was recorded.
type Trigger struct {
	Time time.Time   `json:"time"`
	Kind TriggerKind `json:"kind"`
	// TargetID, DeviceID and Device are empty when the node is meant.
	TargetID string `json:"target_id,omitempty"`
	DeviceID string `json:"device_id,omitempty"`
	Device   string `json:"device,omitempty"` // by the kernel's name
	Text     string `json:"text"`
}

// About reports whether a target or its device triggered it; the node when both are empty.
func (t Trigger) About(targetID, deviceID string) bool {
	return t.TargetID == targetID && targetID != "" || t.DeviceID == deviceID && (deviceID != "" || t.TargetID == targetID)
}

// TriggerKind is what triggers a recording.
type TriggerKind string

// The kinds of triggers.
const (
	TriggerStall   TriggerKind = "stall"   // a device completed no I/O for two seconds or longer
	TriggerVerdict TriggerKind = "verdict" // a drive became degraded or severe, or the host slower
	TriggerRequest TriggerKind = "request" // somebody asked for it
)

// Recording is what the flight recorder knows of the minute before and the minute after a trigger.
type Recording struct {
	RecordingHead
	Host []HostSecond `json:"host"`
	// Devices are those that triggered it, and all others on which anything was in flight or completed.
	Devices []DeviceRecording `json:"devices"`
	// Idle are the names of the devices that did nothing.
	Idle []string `json:"idle,omitempty"`
}

// HostSecond is what a host did in a second. Shares are of the time since the last reading, from 0 to 1;
// nil when nothing was read in this second.
type HostSecond struct {
	Time   time.Time     `json:"time"` // its end
	Length time.Duration `json:"length_ns"`
	// StoodStill says that this process, the machine or a CPU stood still for a while.
	StoodStill bool `json:"stood_still,omitempty"`
	// ClockStep is how far the clock was set in this second, or how long the machine was suspended.
	ClockStep time.Duration `json:"clock_step_ns,omitempty"`
	// IOPressureSome and IOPressureFull are the shares in which some tasks or all waited for I/O
	// (Documentation/accounting/psi.rst).
	IOPressureSome *float64 `json:"io_pressure_some,omitempty"`
	IOPressureFull *float64 `json:"io_pressure_full,omitempty"`
	// CPUBusy, CPUWait and CPUSteal are the shares of all CPUs together (man 5 proc_stat): at work; idle while
	// a task waited for I/O; taken away by the hypervisor.
	CPUBusy  *float64 `json:"cpu_busy,omitempty"`
	CPUWait  *float64 `json:"cpu_wait,omitempty"`
	CPUSteal *float64 `json:"cpu_steal,omitempty"`
}

// DeviceRecording is what one device did.
type DeviceRecording struct {
	Device Device `json:"device"`
	// Seconds are those in which it was there.
	Seconds []DeviceSecond `json:"seconds"`
	// Readings are what is read less often.
	Readings []DeviceReading `json:"readings,omitempty"`
	// Slow are the slowest I/Os of its seconds, those that eBPF programs told of.
	Slow []SlowIO `json:"slow_ios,omitempty"`
}

// SlowIO is an I/O of an application, one of the slowest of its second.
type SlowIO struct {
	Time      time.Time `json:"time"` // it completed
	Operation Operation `json:"operation"`
	Bytes     int64     `json:"bytes,omitempty"`
	// Sector is the first one, of 512 bytes, on the whole device.
	Sector int64 `json:"sector"`
	// Device and Queue are how long it was in each, as in IOHistogram.
	Device time.Duration `json:"device_ns"`
	Queue  time.Duration `json:"queue_ns,omitempty"`
	// Process, PID and CGroup are who submitted it. They are empty unless recorder.names is on.
	Process string `json:"process,omitempty"`
	PID     int    `json:"pid,omitempty"`
	CGroup  string `json:"cgroup,omitempty"`
}

// Latency is all its time.
func (s SlowIO) Latency() time.Duration { return s.Device + s.Queue }

// WithoutNames returns the recording without processes and control groups.
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

// DeviceSecond is what the kernel counted of a device in a second, our own I/O included.
type DeviceSecond struct {
	Time time.Time `json:"time"` // its end
	// Unknown says that the second cannot be compared with the one before: the device came, or began to
	// count anew. All but InFlight is then zero.
	Unknown bool      `json:"unknown,omitempty"`
	Read    ServedNow `json:"read,omitzero"`
	Write   ServedNow `json:"write,omitzero"`
	Discard ServedNow `json:"discard,omitzero"`
	Flush   ServedNow `json:"flush,omitzero"` // without bytes
	// Busy is the time with I/O in flight.
	Busy time.Duration `json:"busy_ns,omitempty"`
	// InFlight is how many I/Os were in a queue or in the device at the end of the second.
	InFlight int64 `json:"in_flight"`
	// Stall is the cause of the stall that goes on at the end of the second; empty when none does.
	Stall StallCause `json:"stall,omitempty"`
	// Ours says that a round or a run of ours used the device in this second.
	Ours bool `json:"ours,omitempty"`
	// CoarseTimes says that latencies are counted in ticks of the kernel's clock; see Traffic.
	CoarseTimes bool `json:"coarse_times,omitempty"`
}

// Of is what was done of one operation.
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

// IOs is how many I/Os completed.
func (s DeviceSecond) IOs() int64 { return s.Read.IOs + s.Write.IOs + s.Discard.IOs + s.Flush.IOs }

// ServedNow is what completed of one operation in a second.
type ServedNow struct {
	IOs   int64 `json:"ios"`
	Bytes int64 `json:"bytes,omitempty"`
	// MeanLatency is as that of Served.
	MeanLatency time.Duration `json:"mean_latency_ns,omitempty"`
}

// DeviceReading is what is read of a device now and then, for other purposes.
type DeviceReading struct {
	Time time.Time `json:"time"`
	// Celsius is the composite temperature; nil when it is not known.
	Celsius *int `json:"celsius,omitempty"`
	// Link is what the PCIe link has trained to, "16 GT/s x4"; empty when there is none.
	Link string `json:"link,omitempty"`
	// InterruptsPerSecond are those of the queues of its controllers since the reading before; nil when not known.
	InterruptsPerSecond *float64 `json:"interrupts_per_second,omitempty"`
}

// RecorderStatus is what is known of the flight recorder.
type RecorderStatus struct {
	// Recordings are those that are kept, the oldest first.
	Recordings []RecordingHead `json:"recordings"`
	// Written and Failed count recordings since the daemon started.
	Written uint64 `json:"written"`
	Failed  uint64 `json:"failed"`
}

// Bytes is how much all recordings take.
func (s RecorderStatus) Bytes() int64 {
	sum := int64(0)
	for _, h := range s.Recordings {
		sum += h.Bytes
	}
	return sum
}

// Newest returns the newest recording with a trigger that is meant; false when none is kept. A nil status has none.
func (s *RecorderStatus) Newest(meant func(Trigger) bool) (RecordingHead, bool) {
	if s == nil {
		return RecordingHead{}, false
	}
	for i := len(s.Recordings) - 1; i >= 0; i-- {
		if h := s.Recordings[i]; slices.ContainsFunc(h.Triggers, meant) {
			return h, true
		}
	}
	return RecordingHead{}, false
}
