package recordtest

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ioLatency returns the latency of the applications that cause traffic, on a device without a scheduler.
func ioLatency() *record.IOLatency {
	h := func(o record.Operation, stage record.IOStage, microseconds ...int) record.IOHistogram {
		made := record.IOHistogram{Operation: o, Stage: stage, Since: Now().Add(-time.Hour), Buckets: map[int]uint64{}}
		for i, us := range microseconds {
			n := uint64(1000 >> (3 * i))
			made.Buckets[bucketOf(us)] += n
			made.Sum += time.Duration(n) * time.Duration(us) * time.Microsecond
		}
		return made
	}
	return &record.IOLatency{Histograms: []record.IOHistogram{
		h(record.OperationRead, record.StageQueue, 4, 60),
		h(record.OperationRead, record.StageDevice, 85, 150, 2200),
		h(record.OperationWrite, record.StageQueue, 3, 1100),
		h(record.OperationWrite, record.StageDevice, 31, 52),
		h(record.OperationDiscard, record.StageDevice, 400),
		h(record.OperationFlush, record.StageDevice, 21, 40),
	}}
}

// bucketOf returns the bucket of a latency.
func bucketOf(microseconds int) int {
	for i := range record.IOBuckets {
		if float64(microseconds)*1e-6 <= record.IOBucketSeconds(i) {
			return i
		}
	}
	return record.IOBuckets - 1
}
