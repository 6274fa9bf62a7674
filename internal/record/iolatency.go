package record

import (
	"math"
	"time"
)

// IOStage is a part of an I/O's way through the kernel.
type IOStage string

// The stages. An I/O that is sent to the device at once skips the first one.
const (
	// StageQueue lasts from when the kernel puts the I/O into a queue, either a scheduler's or its own, until it
	// sends it to the device.
	StageQueue IOStage = "queue"
	// StageDevice lasts from then until the I/O completes. For a device without a queue of its own (dm, md, zram, the
	// head of a multipath device) it is the whole time.
	StageDevice IOStage = "device"
)

// IOLatency is the latency of applications' I/O on the device of one target.
type IOLatency struct {
	// Unavailable says why the latency is not known; empty when it is known.
	Unavailable IOLatencyReason `json:"unavailable,omitempty"`
	// Histograms lists the histograms that have at least one I/O.
	Histograms []IOHistogram `json:"histograms,omitempty"`
}

// IOMiss says why an application's I/O is not counted.
type IOMiss string

// The reasons for an uncounted I/O.
const (
	// MissRecursion: the kernel did not run a program, because it would have interrupted the same program.
	MissRecursion IOMiss = "recursion"
	// MissRoom: it was dropped while in flight, to make room for another I/O.
	MissRoom IOMiss = "room"
	// MissReplaced: another I/O took its place at the same moment.
	MissReplaced IOMiss = "replaced"
	// MissNotBegun: its completion was seen, but not its beginning. This includes I/Os in flight when tracing of a
	// device starts.
	MissNotBegun IOMiss = "not_begun"
	// MissNotIssued: its completion was seen, but not that it was issued to the device.
	MissNotIssued IOMiss = "not_issued"
	// MissNotEnded: the kernel reused its request or bio for another I/O, and its completion was not seen.
	MissNotEnded IOMiss = "not_ended"
)

// IOMisses lists all reasons for uncounted I/Os.
func IOMisses() []IOMiss {
	return []IOMiss{MissRecursion, MissRoom, MissReplaced, MissNotBegun, MissNotIssued, MissNotEnded}
}

// IOUnreported says why a slow I/O is in no recording, although it was timed.
type IOUnreported string

// The reasons for an unreported slow I/O.
const (
	// UnreportedRoom: the buffer between the programs and this process was full.
	UnreportedRoom IOUnreported = "room"
	// UnreportedLimit: enough slow I/Os of the device had already been reported in this second.
	UnreportedLimit IOUnreported = "limit"
)

// IOUnreporteds lists all reasons for unreported slow I/Os.
func IOUnreporteds() []IOUnreported { return []IOUnreported{UnreportedRoom, UnreportedLimit} }

// IOLatencyReason says why the latency of applications' I/O is not known.
type IOLatencyReason string

// The reasons for an unknown latency.
const (
	IOLatencyOff    IOLatencyReason = "off"    // the configuration turns it off
	IOLatencyRights IOLatencyReason = "rights" // this process may not load programs into the kernel
	IOLatencyKernel IOLatencyReason = "kernel" // this kernel cannot run them
	IOLatencyFull   IOLatencyReason = "full"   // more devices are watched than can be traced
)

// IOBuckets is the number of buckets of an IOHistogram: eight for each power of two, from 2^-20 s (about 1 µs) to 2^9
// s. They are the buckets of Prometheus' native histograms with schema 3.
const IOBuckets = 232

const (
	ioFirstExponent = -20
	ioPerOctave     = 8
	// IONativeSchema is the schema of the Prometheus native histograms that have these buckets. IOFirstNativeBucket
	// is the index of the first bucket in that schema.
	IONativeSchema      = 3
	IOFirstNativeBucket = ioFirstExponent*ioPerOctave + 1
)

// IOBucketSeconds returns the upper bound of a bucket, in seconds. The first bucket also holds everything below it,
// and the last one everything above it.
func IOBucketSeconds(bucket int) float64 {
	return math.Exp2(ioFirstExponent + float64(bucket+1)/ioPerOctave)
}

// IOHistogram counts applications' I/Os by their latency, since the daemon began to watch the device.
type IOHistogram struct {
	Operation Operation `json:"operation"`
	Stage     IOStage   `json:"stage"`
	// Buckets maps a bucket to the number of I/Os with a latency of at most its IOBucketSeconds, and above that of
	// the bucket before. Empty buckets are left out.
	Buckets map[int]uint64 `json:"buckets"`
	// Sum is the sum of all latencies.
	Sum time.Duration `json:"sum_ns"`
	// Since is when counting began.
	Since time.Time `json:"since"`
}

// Count returns the number of I/Os.
func (h IOHistogram) Count() (n uint64) {
	for _, c := range h.Buckets {
		n += c
	}
	return n
}

// IOBucketOf returns the bucket of a latency.
func IOBucketOf(latency time.Duration) int {
	bucket := math.Ceil((math.Log2(latency.Seconds())-ioFirstExponent)*ioPerOctave) - 1
	return int(min(max(bucket, 0), IOBuckets-1))
}

// Percentile returns the bucket of a percentile (0 to 100) by nearest rank, or false without any I/O.
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

// Mean returns the mean latency of all I/Os, or 0 without any.
func (h IOHistogram) Mean() time.Duration {
	if n := h.Count(); n > 0 {
		return h.Sum / time.Duration(n)
	}
	return 0
}
