package fio_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

func TestNewHistogram(t *testing.T) {
	bins := []fio.Bin{{Latency: 30, Count: 1}, {Latency: 10, Count: 2}, {Latency: 20}, {Latency: 30, Count: 4}}
	h := fio.NewHistogram(bins)
	assert.Equal(t, fio.Histogram{{Latency: 10, Count: 2}, {Latency: 30, Count: 5}}, h)
	assert.Equal(t, int64(7), h.Count())
	assert.Equal(t, time.Duration(30), bins[0].Latency, "the bins given are left as they are")
	assert.Nil(t, fio.NewHistogram(nil))
}

func TestPercentileHasNoRankWithoutSamples(t *testing.T) {
	var empty fio.Histogram
	assert.Zero(t, empty.Percentile(50))
	assert.Zero(t, empty.Count())
}

func TestPercentileAtItsEdges(t *testing.T) {
	h := fio.Histogram{{Latency: 10, Count: 1}, {Latency: 20, Count: 998}, {Latency: 30, Count: 1}}
	for p, want := range map[float64]time.Duration{
		math.Inf(-1): 10, -1: 10, 0: 10, 0.05: 10, 0.2: 20, 50: 20, 99: 20, 100: 30, 101: 30, math.Inf(1): 30,
		// 99.9 is stored slightly above its value, so it takes the last of 1000, as in fio.
		99.9: 30,
	} {
		assert.Equal(t, want, h.Percentile(p), "p%v", p)
	}
	assert.Equal(t, time.Duration(10), h.Percentile(math.NaN()))
	assert.Equal(t, time.Duration(20), h.Quantile(0.5))
}

// The merged histograms of two jobs have the percentiles of one job with all I/Os.
func TestMergeIsExact(t *testing.T) {
	a := fio.Histogram{{Latency: 100, Count: 3}, {Latency: 200, Count: 1}}
	b := fio.Histogram{{Latency: 50, Count: 2}, {Latency: 200, Count: 2}}
	want := fio.Histogram{{Latency: 50, Count: 2}, {Latency: 100, Count: 3}, {Latency: 200, Count: 3}}
	assert.Equal(t, want, a.Merge(b))
	assert.Equal(t, want, b.Merge(a))
	assert.Equal(t, a, a.Merge())
	assert.Equal(t, a, fio.Histogram(nil).Merge(a, nil))
}
