package record_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestBucketsOfIOLatencyAreThoseOfNativeHistograms(t *testing.T) {
	assert.Equal(t, math.Exp2(-20+1.0/8), record.IOBucketSeconds(0))
	assert.Equal(t, 512.0, record.IOBucketSeconds(record.IOBuckets-1))
	for bucket := range record.IOBuckets {
		native := math.Pow(math.Pow(2, math.Exp2(-record.IONativeSchema)), float64(record.IOFirstNativeBucket+bucket))
		assert.InEpsilon(t, native, record.IOBucketSeconds(bucket), 1e-9)
		inside := time.Duration(0.97 * record.IOBucketSeconds(bucket) * float64(time.Second))
		assert.Equal(t, bucket, record.IOBucketOf(inside))
	}
	assert.Equal(t, 0, record.IOBucketOf(1))
	assert.Equal(t, record.IOBuckets-1, record.IOBucketOf(time.Hour))
}

func TestPercentilesOfIOLatency(t *testing.T) {
	h := record.IOHistogram{Buckets: map[int]uint64{10: 98, 90: 1, 231: 1}, Sum: time.Second}
	for percent, want := range map[float64]int{0: 10, 50: 10, 98: 10, 98.5: 90, 99: 90, 99.5: 231, 100: 231} {
		got, ok := h.Percentile(percent)
		assert.True(t, ok)
		assert.Equal(t, want, got, percent)
	}
	assert.Equal(t, 10*time.Millisecond, h.Mean())
	_, ok := record.IOHistogram{}.Percentile(50)
	assert.False(t, ok)
	assert.Zero(t, record.IOHistogram{}.Mean())
}
