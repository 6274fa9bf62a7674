package record

import "time"

// TrafficWindow is the length of the intervals over which the I/O of others is judged and exported.
const TrafficWindow = 30 * time.Second

// Work is the I/O that others request from a device, per second. It does not include our own I/O.
type Work struct {
	Reads        float64 `json:"reads_per_second"`
	Writes       float64 `json:"writes_per_second"`
	ReadBytes    float64 `json:"read_bytes_per_second"`
	WrittenBytes float64 `json:"written_bytes_per_second"`
	Discards     float64 `json:"discards_per_second"`
	Flushes      float64 `json:"flushes_per_second"` // 0 before Linux 5.5, which does not count flushes
}

// Operation is a kind of I/O that the kernel counts separately.
type Operation string

// The operations. Bio-based devices (dm, md) count a flush as a write.
const (
	OperationRead    Operation = "read"
	OperationWrite   Operation = "write"
	OperationDiscard Operation = "discard"
	OperationFlush   Operation = "flush"
)

// Operations lists all operations.
func Operations() []Operation {
	return []Operation{OperationRead, OperationWrite, OperationDiscard, OperationFlush}
}

// Served is the I/O of one operation that a device completed for others.
type Served struct {
	// IOs is the number of completed I/Os. The kernel counts merged I/Os as one.
	IOs int64 `json:"ios"`
	// MeanLatency is the mean time from when the kernel has a request for the I/O until the I/O completes, including
	// the wait in the queue. It is 0 when no I/O completed or the times are not known. The kernel counts whole
	// milliseconds, so it is off by up to a millisecond divided by IOs.
	MeanLatency time.Duration `json:"mean_latency_ns,omitempty"`
	// WorstSecond is the highest mean latency of any single second, without the millisecond by which the kernel's
	// count may be too high. It is at least MeanLatency.
	WorstSecond time.Duration `json:"worst_second_ns,omitempty"`
}

// Traffic is the I/O of others on a device during one interval of about 30 s.
type Traffic struct {
	// Time is the end of the interval, and Length its duration.
	Time   time.Time     `json:"time"`
	Length time.Duration `json:"length_ns"`
	// Unusable says why the interval has no information about others: a run of ours used the device, or the device
	// does not count I/Os or was absent. All fields below are then zero. It is empty for a usable interval.
	Unusable string `json:"unusable,omitempty"`
	// Span is the part of the interval that the fields below cover. Rounds of our probes are excluded.
	Span time.Duration `json:"span_ns"`

	Work    Work   `json:"work"`
	Read    Served `json:"read"`
	Write   Served `json:"write"`
	Discard Served `json:"discard"`
	Flush   Served `json:"flush"`
	// Utilisation is the share (0 to 1) of Span during which I/O was in flight.
	Utilisation float64 `json:"utilisation"`
	// InFlight is the mean number of I/Os in flight, whether in a queue or in the device.
	InFlight float64 `json:"in_flight"`
	// CoarseTimes is true when the kernel counts latencies in ticks of its clock, 1 to 10 ms, so that a mean needs
	// thousands of I/Os. This is so with dm, md and kernels before 5.5.
	CoarseTimes bool `json:"coarse_times,omitempty"`
}

// Of returns what was served of one operation.
func (t Traffic) Of(o Operation) Served {
	switch o {
	case OperationRead:
		return t.Read
	case OperationWrite:
		return t.Write
	case OperationDiscard:
		return t.Discard
	case OperationFlush:
		return t.Flush
	}
	return Served{}
}

// StallCause says what caused a stall.
type StallCause string

// The causes of stalls. Only StallByDevice counts against the device.
const (
	StallByDevice    StallCause = "device"    // no other known cause
	StallByDiscard   StallCause = "discard"   // the device was processing discards
	StallByReset     StallCause = "reset"     // the controller was being reset or reconnected
	StallBySuspended StallCause = "suspended" // the device, or a dm device below it, was suspended
	StallByRun       StallCause = "run"       // a run of ours used the device
)

// StallCauses lists all causes.
func StallCauses() []StallCause {
	return []StallCause{StallByDevice, StallByDiscard, StallByReset, StallBySuspended, StallByRun}
}

// Stall is a period in which I/O was in flight and none completed. Length counts only the whole seconds that were
// seen, so the stall lasted up to two seconds longer.
type Stall struct {
	Start  time.Time     `json:"start"`
	Length time.Duration `json:"length_ns"`
	Cause  StallCause    `json:"cause"`
	// InFlight is the largest number of I/Os that were waiting.
	InFlight int64 `json:"in_flight"`
	// Ongoing is true while nothing has completed yet.
	Ongoing bool `json:"ongoing,omitempty"`
}

// End returns when the stall ended, or the last moment at which it was observed.
func (s Stall) End() time.Time { return s.Start.Add(s.Length) }

// Seconds returns for how many whole seconds the stall was observed.
func (s Stall) Seconds() int { return int(s.Length.Round(time.Second) / time.Second) }

// Telling reports whether the stall is worth reporting: nothing else explains it, and it was observed for at least
// two seconds. A stall of one second may be a single slow I/O.
func (s Stall) Telling() bool { return s.Cause == StallByDevice && s.Seconds() >= 2 }

const (
	// longStall is the length from which on a stall cannot be an accident.
	longStall = 10 * time.Second
	// manyStalls is the number of stalls in an hour from which on they cannot be accidents.
	manyStalls = 3
)

// BeyondDoubt reports whether the stalls of an hour show that the device is faulty. Only stalls for which Telling is
// true count.
func BeyondDoubt(stalls []Stall) bool {
	telling := 0
	for _, s := range stalls {
		if !s.Telling() {
			continue
		}
		telling++
		if telling >= manyStalls || s.Length.Round(time.Second) >= longStall {
			return true
		}
	}
	return false
}

// StallTotal counts the stalls of one cause.
type StallTotal struct {
	Count  uint64        `json:"count"`
	Length time.Duration `json:"length_ns"`
}

// TrafficStatus is what is known about the traffic on the device of one target.
type TrafficStatus struct {
	// Last is the most recent interval; nil before the first one has ended.
	Last *Traffic `json:"last,omitempty"`
	// Stalls lists the stalls of the last hour, oldest first. An ongoing stall is the last one.
	Stalls []Stall `json:"stalls,omitempty"`
	// StallTotals counts the stalls since the daemon began to watch the device, by cause.
	StallTotals map[StallCause]StallTotal `json:"stall_totals,omitempty"`
	// HeldBack is set while a round of ours waits although the device is idle; nil otherwise.
	HeldBack *HeldBack `json:"held_back,omitempty"`
}

// HeldBack describes our own I/O that this machine does not pass on to the device.
type HeldBack struct {
	Since time.Time `json:"since"`
	// Suspended is true when the device, or one that it is built on, is a suspended device-mapper device. Otherwise
	// the queue of the device is frozen, as during the format of an NVMe drive, or a cgroup limit holds back the I/O.
	Suspended bool `json:"suspended,omitempty"`
}

// HeldBack returns why the probe's round in progress waits although the device is idle; nil when it does not.
func (t *TargetStatus) HeldBack(p *ProbeStatus) *HeldBack {
	if p.InflightSince.IsZero() || t.Traffic == nil {
		return nil
	}
	return t.Traffic.HeldBack
}
