package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// Bin counts the I/Os of one latency bin.
type Bin struct {
	Latency time.Duration // the middle of the bin
	Count   int64
}

// Histogram is a latency distribution: bins in rising order of latency, without empty bins or repeated latencies. It
// is sparse, so a round of 256 I/Os takes a few hundred words however wide its range is. The zero value is empty.
//
// In JSON a bin is the pair [latency in nanoseconds, count].
type Histogram []Bin

// Count returns the number of I/Os.
func (h Histogram) Count() int64 {
	var n int64
	for _, b := range h {
		n += b.Count
	}
	return n
}

// Sum returns the sum of all latencies.
func (h Histogram) Sum() time.Duration {
	var sum time.Duration
	for _, b := range h {
		sum += b.Latency * time.Duration(b.Count)
	}
	return sum
}

// Mean returns the arithmetic mean, or 0 when the histogram is empty.
func (h Histogram) Mean() time.Duration {
	n := h.Count()
	if n == 0 {
		return 0
	}
	return h.Sum() / time.Duration(n)
}

// Min returns the lowest latency, or 0 when the histogram is empty.
func (h Histogram) Min() time.Duration {
	if len(h) == 0 {
		return 0
	}
	return h[0].Latency
}

// Max returns the highest latency, or 0 when the histogram is empty.
func (h Histogram) Max() time.Duration {
	if len(h) == 0 {
		return 0
	}
	return h[len(h)-1].Latency
}

// Quantile returns the latency at rank q (0 to 1) by the nearest-rank method: the lowest latency that at least a
// share q of the I/Os does not exceed. It is 0 when the histogram is empty.
func (h Histogram) Quantile(q float64) time.Duration {
	if len(h) == 0 {
		return 0
	}
	rank := Rank(q, h.Count())
	var seen int64
	for _, b := range h {
		seen += b.Count
		if seen >= rank {
			return b.Latency
		}
	}
	return h.Max()
}

// Rank returns the nearest rank of the quantile q (0 to 1) among n values in rising order. Ranks count from 1; the
// rank is 0 when q is 0.
func Rank(q float64, n int64) int64 {
	// In floating point, q*n may be slightly above a whole number (0.999*1000 is 999.0000000000001 on some machines).
	// Subtract a little, so that this does not raise the rank.
	return int64(math.Ceil(q*float64(n) - 1e-9))
}

// MinimumAbove is the number of I/Os that have to lie above a percentile. That number scatters by its square root.
// Below ten, one more or one less pause of the drive visibly moves the percentile.
const MinimumAbove = 10

// Supported reports whether a sample of n I/Os is large enough for the quantile q (0 to 1), which means that at least
// ten of its I/Os lie above it. That takes 20 I/Os for p50, 200 for p95, 1 000 for p99 and 10 000 for p99.9.
func Supported(q float64, n int64) bool { return n-Rank(q, n) >= MinimumAbove }

// Merge returns the combined distribution of hs.
func Merge(hs ...Histogram) Histogram {
	var all Histogram
	for _, h := range hs {
		all = append(all, h...)
	}
	return NewHistogram(all)
}

// NewHistogram sorts the bins, merges bins of the same latency and drops empty ones. It reorders and reuses bins.
func NewHistogram(bins []Bin) Histogram {
	slices.SortFunc(bins, func(a, b Bin) int { return cmp.Compare(a.Latency, b.Latency) })
	h := Histogram(bins[:0])
	for _, b := range bins {
		switch {
		case b.Count == 0:
		case len(h) > 0 && h[len(h)-1].Latency == b.Latency:
			h[len(h)-1].Count += b.Count
		default:
			h = append(h, b)
		}
	}
	return h
}

// MarshalJSON writes the pair [nanoseconds, count].
func (b Bin) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]int64{int64(b.Latency), b.Count})
}

// UnmarshalJSON reads the pair [nanoseconds, count] and rejects negative numbers.
func (b *Bin) UnmarshalJSON(data []byte) error {
	var pair [2]int64
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if pair[0] < 0 || pair[1] < 0 {
		return fmt.Errorf("histogram bin %d ns × %d: negative", pair[0], pair[1])
	}
	*b = Bin{Latency: time.Duration(pair[0]), Count: pair[1]}
	return nil
}
