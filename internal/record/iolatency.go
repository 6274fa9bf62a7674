package record

import (
	"math"
	"time"
)

// IOStage is a part of the way of an I/O through the kernel.
type IOStage string

// The stages. An I/O that is sent to the device at once has no first stage.
const (
	// StageQueue is from when the kernel put the I/O into a queue, a scheduler's or its own, until
	// it sent it to the device.
	StageQueue IOStage = "queue"
	// StageDevice is from then until it completed. For a device without a queue of its own (dm, md,
	// zram, the head of a multipath device) it is all the time.
	StageDevice IOStage = "device"
)

// IOLatency is how long the I/O of applications takes on one target's device.
type IOLatency struct {
	// Unavailable says in a word why it is not known; empty when it is.
	Unavailable IOLatencyReason `json:"unavailable,omitempty"`
	// Histograms are those that have an I/O.
	Histograms []IOHistogram `json:"histograms,omitempty"`
}

// IOMiss says why an I/O of applications is not counted.
type IOMiss string

// The reasons.
const (
	// MissRecursion: the kernel did not run a program, as it would have interrupted the same one.
	MissRecursion IOMiss = "recursion"
	// MissRoom: there was no room for more in flight, so that one was forgotten.
	MissRoom IOMiss = "room"
	// MissReplaced: another one came to its place in the same moment.
	MissReplaced IOMiss = "replaced"
	// MissNotBegun: it ended, and nobody had seen it begin. I/Os that are in flight when a device is first followed are such.
	MissNotBegun IOMiss = "not_begun"
	// MissNotIssued: it ended, and nobody had seen that the device got it.
	MissNotIssued IOMiss = "not_issued"
	// MissNotEnded: the kernel used its request for another one, and nobody had seen it end.
	MissNotEnded IOMiss = "not_ended"
)

// IOMisses returns all reasons.
func IOMisses() []IOMiss {
	return []IOMiss{MissRecursion, MissRoom, MissReplaced, MissNotBegun, MissNotIssued, MissNotEnded}
}

// IOLatencyReason says why the latency of applications' I/O is not known.
type IOLatencyReason string

// The reasons.
const (
	IOLatencyOff    IOLatencyReason = "off"    // the configuration says so
	IOLatencyRights IOLatencyReason = "rights" // this process may not load programs into the kernel
	IOLatencyKernel IOLatencyReason = "kernel" // this kernel cannot run them
	IOLatencyFull   IOLatencyReason = "full"   // more devices are watched than can be followed
)

// IOBuckets is how many buckets an IOHistogram has: eight for each power of two, from 2^-20 s (about
// 1 µs) to 2^9 s. They are those of Prometheus' native histograms with schema 3.
const IOBuckets = 232

const (
	ioFirstExponent = -20
	ioPerOctave     = 8
	// IONativeSchema is the schema of Prometheus' native histograms that has these buckets, and
	// IOFirstNativeBucket the number of the first in it.
	IONativeSchema      = 3
	IOFirstNativeBucket = ioFirstExponent*ioPerOctave + 1
)

// IOBucketSeconds is the upper bound of a bucket, in seconds. The first bucket holds what is below,
// too, and the last what is above.
func IOBucketSeconds(bucket int) float64 {
	return math.Exp2(ioFirstExponent + float64(bucket+1)/ioPerOctave)
}

// IOHistogram counts the I/Os of applications by their latency, since the daemon began to watch the device.
type IOHistogram struct {
	Operation Operation `json:"operation"`
	Stage     IOStage   `json:"stage"`
	// Buckets have the number of I/Os whose latency is at most IOBucketSeconds, and above that of
	// the bucket before. Those without any are left out.
	Buckets map[int]uint64 `json:"buckets"`
	// Sum of all latencies.
	Sum time.Duration `json:"sum_ns"`
	// Since is when counting began.
	Since time.Time `json:"since"`
}

// Count is how many I/Os there were.
func (h IOHistogram) Count() (n uint64) {
	for _, c := range h.Buckets {
		n += c
	}
	return n
}

// IOBucketOf is the bucket of a latency.
func IOBucketOf(latency time.Duration) int {
	bucket := math.Ceil((math.Log2(latency.Seconds())-ioFirstExponent)*ioPerOctave) - 1
	return int(min(max(bucket, 0), IOBuckets-1))
}

// Percentile is the bucket of a percentile (0 to 100), by nearest rank; false without any I/O.
func (h IOHistogram) Percentile(percent float64) (bucket int, ok bool) {
	rank := uint64(math.Ceil(percent / 100 * float64(h.Count())))
	var n uint64
	for bucket := range IOBuckets {
		if n += h.Buckets[bucket]; n >= max(rank, 1) {
			return bucket, true
		}
	}
	return 0, false
}

// Mean is that of all I/Os; 0 without any.
func (h IOHistogram) Mean() time.Duration {
	if n := h.Count(); n > 0 {
		return h.Sum / time.Duration(n)
	}
	return 0
}
