package fio

import (
	"cmp"
	"math/big"
	"slices"
	"time"
)

// Bin counts the I/Os of one latency class.
type Bin struct {
	// Latency is fio's value for the class: below 128 ns the latency itself, above that the
	// middle of a class whose width is at most 1/64 of it (plat_idx_to_val in fio's stat.c).
	Latency time.Duration
	Count   int64
}

// Histogram is the latency distribution that fio gives as "bins" with json+: in
// rising order of latency, no latency twice, no empty bins. The zero value is
// empty. fio puts every latency above about 17 s into its last bin.
type Histogram []Bin

// NewHistogram sorts bins by latency, merges those of the same latency and drops empty
// ones. It does not modify bins.
func NewHistogram(bins []Bin) Histogram {
	sorted := slices.SortedFunc(slices.Values(bins), func(a, b Bin) int { return cmp.Compare(a.Latency, b.Latency) })
	var h Histogram
	for _, b := range sorted {
		switch last := len(h) - 1; {
		case b.Count == 0:
		case last >= 0 && h[last].Latency == b.Latency:
			h[last].Count += b.Count
		default:
			h = append(h, b)
		}
	}
	return h
}

// Count returns the number of I/Os.
func (h Histogram) Count() int64 {
	var n int64
	for _, b := range h {
		n += b.Count
	}
	return n
}

// Merge returns the distribution of the I/Os of h and others taken together. It
// is exact: all of fio's histograms have the same classes.
func (h Histogram) Merge(others ...Histogram) Histogram {
	return NewHistogram(slices.Concat(append([]Histogram{h}, others...)...))
}

// Quantile returns the latency at rank q, 0 to 1. It is [Histogram.Percentile] of 100 q.
func (h Histogram) Quantile(q float64) time.Duration { return h.Percentile(100 * q) }

// Percentile returns the latency at rank p, 0 to 100, exactly as fio itself would
// compute it: the first class at which the I/Os counted so far reach p/100 of all. It
// is 0 when the histogram is empty.
func (h Histogram) Percentile(p float64) time.Duration {
	switch {
	case len(h) == 0:
		return 0
	case !(p > 0): // NaN too
		return h[0].Latency
	case p > 100:
		return h[len(h)-1].Latency
	}
	wanted := rank(p, h.Count())
	var seen int64
	for _, b := range h {
		seen += b.Count
		if wanted.Cmp(new(big.Float).SetInt64(seen)) <= 0 {
			return b.Latency
		}
	}
	return h[len(h)-1].Latency
}

// rank returns p/100 of n I/Os in the arithmetic of fio's calc_clat_percentiles: C's
// long double, which has 64 bits of mantissa on x86-64. The precision matters: 99.9 is
// stored slightly above its value, so of 1000 I/Os fio takes the last one.
func rank(p float64, n int64) *big.Float {
	const longDouble = 64
	r := new(big.Float).SetPrec(longDouble).SetFloat64(p)
	r.Quo(r, big.NewFloat(100))
	return r.Mul(r, new(big.Float).SetInt64(n))
}
