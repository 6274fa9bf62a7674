package record

import "time"

// TrafficWindow is the time that what is known of others' I/O is of, while that is judged and exported.
const TrafficWindow = 30 * time.Second

// Work is what others ask of a device, per second. Our own I/O is not in it.
type Work struct {
	Reads        float64 `json:"reads_per_second"`
	Writes       float64 `json:"writes_per_second"`
	ReadBytes    float64 `json:"read_bytes_per_second"`
	WrittenBytes float64 `json:"written_bytes_per_second"`
	Discards     float64 `json:"discards_per_second"`
	Flushes      float64 `json:"flushes_per_second"` // 0 before Linux 5.5, which does not count them
}

// Operation is a kind of I/O that the kernel counts by itself.
type Operation string

// The operations. Bio-based devices (dm, md) count a flush as a write.
const (
	OperationRead    Operation = "read"
	OperationWrite   Operation = "write"
	OperationDiscard Operation = "discard"
	OperationFlush   Operation = "flush"
)

// Operations lists all of them.
func Operations() []Operation {
	return []Operation{OperationRead, OperationWrite, OperationDiscard, OperationFlush}
}

// Served is what a device did of one operation for others.
type Served struct {
	// IOs is how many completed. The kernel counts those that it merged as one.
	IOs int64 `json:"ios"`
	// MeanLatency is from when the kernel had a request for it until it completed, with the
	// wait in its queue; 0 when no I/O completed, or the times are not known.
	MeanLatency time.Duration `json:"mean_latency_ns,omitempty"`
	// WorstSecond is the highest mean of a single second.
	WorstSecond time.Duration `json:"worst_second_ns,omitempty"`
}

// Traffic is what others did to a device in one interval of about 30 s.
type Traffic struct {
	// Time is the end of the interval, which began Length before.
	Time   time.Time     `json:"time"`
	Length time.Duration `json:"length_ns"`
	// Unusable says why the interval says nothing of others: a run of ours used the device, it
	// does not count, it was away. All below is then zero. Empty when it says something.
	Unusable string `json:"unusable,omitempty"`
	// Span is how much of the interval all below is about: the rounds of our probes are left out.
	Span time.Duration `json:"span_ns"`

	Work    Work   `json:"work"`
	Read    Served `json:"read"`
	Write   Served `json:"write"`
	Discard Served `json:"discard"`
	Flush   Served `json:"flush"`
	// Utilisation is the share (0 to 1) of the span with I/O in flight.
	Utilisation float64 `json:"utilisation"`
	// InFlight is the mean number of I/Os in flight, in a queue or in the device.
	InFlight float64 `json:"in_flight"`
	// CoarseTimes says that the kernel counts the latencies in ticks of its clock, 1 to 10 ms: a
	// mean needs thousands of I/Os. So it is with dm, md and kernels before 5.5.
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

// StallCause says what explains a stall.
type StallCause string

// The causes of stalls. Only the first is held against the device.
const (
	StallByDevice    StallCause = "device"    // nothing known explains it
	StallByDiscard   StallCause = "discard"   // discards took the time
	StallByReset     StallCause = "reset"     // the controller was being reset, or connected again
	StallBySuspended StallCause = "suspended" // somebody had suspended it, or a dm device below it
	StallByRun       StallCause = "run"       // a run of ours used the device
)

// StallCauses lists all of them.
func StallCauses() []StallCause {
	return []StallCause{StallByDevice, StallByDiscard, StallByReset, StallBySuspended, StallByRun}
}

// Stall is a time in which I/O was in flight and nothing completed. Its length is that of the
// whole seconds seen, so it lasted up to two seconds longer.
type Stall struct {
	Start  time.Time     `json:"start"`
	Length time.Duration `json:"length_ns"`
	Cause  StallCause    `json:"cause"`
	// InFlight is how many I/Os waited, at most.
	InFlight int64 `json:"in_flight"`
	// Ongoing says that nothing has completed yet.
	Ongoing bool `json:"ongoing,omitempty"`
}

// End is when it ended, or the last moment at which it was seen.
func (s Stall) End() time.Time { return s.Start.Add(s.Length) }

// Seconds is how many whole seconds it was seen to last.
func (s Stall) Seconds() int { return int(s.Length.Round(time.Second) / time.Second) }

// Telling reports a stall that nothing explains and that a person should know of: it was seen for
// two seconds. A single second may be one slow I/O.
func (s Stall) Telling() bool { return s.Cause == StallByDevice && s.Seconds() >= 2 }

const (
	// longStall is how long a stall lasts that no accident explains.
	longStall = 10 * time.Second
	// manyStalls in an hour are no accident either.
	manyStalls = 3
)

// BeyondDoubt reports whether the stalls of an hour say that the device is sick. Only those that are Telling count.
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

// StallTotal counts stalls of one cause.
type StallTotal struct {
	Count  uint64        `json:"count"`
	Length time.Duration `json:"length_ns"`
}

// TrafficStatus is what is known of the traffic of one target's device.
type TrafficStatus struct {
	// Last is the last interval; nil before the first has ended.
	Last *Traffic `json:"last,omitempty"`
	// Stalls are those of the last hour, oldest first, the one that goes on last.
	Stalls []Stall `json:"stalls,omitempty"`
	// StallTotals are since the daemon began to watch the device.
	StallTotals map[StallCause]StallTotal `json:"stall_totals,omitempty"`
	// HeldBack says that a round of ours waits while the device has nothing to do; nil when none does.
	HeldBack *HeldBack `json:"held_back,omitempty"`
}

// HeldBack is I/O of ours that this machine does not give to the device.
type HeldBack struct {
	Since time.Time `json:"since"`
	// Suspended says that the device, or one that it is made of, is a suspended one of device-mapper. Otherwise the queue
	// of the device is frozen, as while an NVMe drive is formatted, or a limit of the cgroup holds the I/O back.
	Suspended bool `json:"suspended,omitempty"`
}

// HeldBack returns why the round in progress of the probe waits though the device has nothing to do; nil when it does not.
func (t *TargetStatus) HeldBack(p *ProbeStatus) *HeldBack {
	if p.InflightSince.IsZero() || t.Traffic == nil {
		return nil
	}
	return t.Traffic.HeldBack
}
