package probe

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHistogramKeepsEveryIOAndThreeDigits(t *testing.T) {
	h := newHistogram()
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 255, 256, 257, 1000, 9999} {
		latencies := make([]time.Duration, n)
		for i := range latencies {
			latencies[i] = time.Duration(random.ExpFloat64() * float64(80*time.Microsecond))
		}
		got, err := h.of(latencies)
		require.NoError(t, err)
		slices.Sort(latencies)
		require.EqualValues(t, n, got.Count())
		i := 0
		for _, bin := range got {
			for range bin.Count {
				want := max(latencies[i], lowestLatency)
				require.InDelta(t, float64(want), float64(bin.Latency), float64(want)/1000+1, "rank %d of %d", i, n)
				i++
			}
		}
	}
}

func TestHistogramClampsToItsRange(t *testing.T) {
	got, err := newHistogram().of([]time.Duration{-5, 0, 3 * time.Minute, 48 * time.Hour})
	require.NoError(t, err)
	require.Len(t, got, 3)
	assert.Equal(t, time.Nanosecond, got.Min())
	assert.InEpsilon(t, float64(3*time.Minute), float64(got[1].Latency), 0.001, "the age of an I/O that hung")
	assert.InEpsilon(t, float64(24*time.Hour), float64(got.Max()), 0.001)
}

func TestHistogramOfNothingIsEmpty(t *testing.T) {
	got, err := newHistogram().of(nil)
	require.NoError(t, err)
	assert.Empty(t, got)
}
