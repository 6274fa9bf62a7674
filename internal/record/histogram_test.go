package record_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const us = time.Microsecond

func TestHistogramFigures(t *testing.T) {
	h := record.Histogram{{Latency: 10 * us, Count: 90}, {Latency: 20 * us, Count: 9}, {Latency: 1000 * us, Count: 1}}
	assert.EqualValues(t, 100, h.Count())
	assert.Equal(t, 2080*us, h.Sum())
	assert.Equal(t, 20800*time.Nanosecond, h.Mean())
	assert.Equal(t, 10*us, h.Min())
	assert.Equal(t, 1000*us, h.Max())
	for q, want := range map[float64]time.Duration{
		0: 10 * us, 0.5: 10 * us, 0.9: 10 * us, 0.901: 20 * us, 0.99: 20 * us, 0.991: 1000 * us, 0.999: 1000 * us, 1: 1000 * us, 2: 1000 * us,
	} {
		assert.Equal(t, want, h.Quantile(q), "%v", q)
	}
}

func TestEmptyHistogram(t *testing.T) {
	var h record.Histogram
	assert.Zero(t, h.Count())
	assert.Zero(t, h.Sum())
	assert.Zero(t, h.Mean())
	assert.Zero(t, h.Min())
	assert.Zero(t, h.Max())
	assert.Zero(t, h.Quantile(0.5))
	assert.Empty(t, record.Merge(h, nil))
}

// The nearest rank must agree with its definition on sorted values.
func TestQuantileIsTheNearestRank(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var bins []record.Bin
		var all []time.Duration
		for range 1 + random.IntN(300) {
			l := time.Duration(1 + random.IntN(50))
			bins, all = append(bins, record.Bin{Latency: l, Count: 1}), append(all, l)
		}
		h := record.NewHistogram(bins)
		slices.Sort(all)
		for thousandths := 1; thousandths <= 1000; thousandths++ {
			rank := (thousandths*len(all) + 999) / 1000 // rounded up, in whole numbers
			require.Equal(t, all[rank-1], h.Quantile(float64(thousandths)/1000), "%d/1000 of %d", thousandths, len(all))
		}
	}
}

func TestMergeAddsUp(t *testing.T) {
	a := record.Histogram{{Latency: 1, Count: 2}, {Latency: 5, Count: 1}}
	b := record.Histogram{{Latency: 1, Count: 3}, {Latency: 2, Count: 4}}
	assert.Equal(t, record.Histogram{{Latency: 1, Count: 5}, {Latency: 2, Count: 4}, {Latency: 5, Count: 1}}, record.Merge(a, b))
	assert.Equal(t, record.Histogram{{Latency: 1, Count: 2}, {Latency: 5, Count: 1}}, a, "what is merged stays as it was")
	assert.Equal(t, record.Histogram{{Latency: 3, Count: 1}}, record.NewHistogram([]record.Bin{{Latency: 4}, {Latency: 3, Count: 1}}))
}

func TestHistogramJSON(t *testing.T) {
	h := record.Histogram{{Latency: 24 * us, Count: 255}, {Latency: time.Minute, Count: 1}}
	text, err := json.Marshal(h)
	require.NoError(t, err)
	assert.Equal(t, `[[24000,255],[60000000000,1]]`, string(text))
	var back record.Histogram
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, h, back)
	for text, want := range map[string]string{
		`[[-1,1]]`: "histogram bin -1 ns × 1: negative", `[[1,-1]]`: "histogram bin 1 ns × -1: negative", `[["a",1]]`: "cannot unmarshal", `[[1.5,1]]`: "cannot unmarshal",
	} {
		require.ErrorContains(t, json.Unmarshal([]byte(text), &back), want, text)
	}
}

func TestSupported(t *testing.T) {
	for _, c := range []struct {
		q     float64
		least int64
	}{{0.5, 20}, {0.95, 200}, {0.99, 1000}, {0.999, 10_000}} {
		assert.True(t, record.Supported(c.q, c.least), "%g of %d", c.q, c.least)
		assert.False(t, record.Supported(c.q, c.least-1), "%g of %d", c.q, c.least-1)
	}
}
