package record

import (
	"math"
	"time"
)

// Percentile is the latency that a share Rank (above 0, up to 1) of the I/Os does not exceed.
type Percentile struct {
	Rank    float64       `json:"rank"`
	Latency time.Duration `json:"latency_ns"`
}

// Quantile returns the latency at rank q (0 to 1). It comes from the distribution, or from Percentiles when only they
// are known. It is 0 when neither has it.
func (r Result) Quantile(q float64) time.Duration {
	if len(r.Latency) > 0 {
		return r.Latency.Quantile(q)
	}
	for _, p := range r.Percentiles {
		if math.Abs(p.Rank-q) < 1e-9 {
			return p.Latency
		}
	}
	return 0
}

// Unsure reports whether the quantile is known, but too few I/Os support it; see Supported.
func (r Result) Unsure(q float64) bool { return r.Quantile(q) > 0 && !Supported(q, r.Samples()) }

// Samples returns the number of I/Os behind the latencies.
func (r Result) Samples() int64 {
	if len(r.Latency) > 0 {
		return r.Latency.Count()
	}
	return r.IOs
}

// Sum adds up results that were measured at the same time. It returns nil when all parts are nil.
func Sum(parts []*Result) *Result {
	var sum *Result
	var latency float64 // nanoseconds over all I/Os
	var histograms []Histogram
	var percentiles []Percentile
	n := 0
	for _, p := range parts {
		if p == nil {
			continue
		}
		n, percentiles = n+1, p.Percentiles
		if sum == nil {
			sum = &Result{}
		}
		if p.IOs > 0 && (sum.IOs == 0 || p.Min < sum.Min) { // without I/O there is no lowest latency
			sum.Min = p.Min
		}
		sum.IOs += p.IOs
		sum.Bytes += p.Bytes
		sum.IOPS += p.IOPS
		sum.BytesPerSecond += p.BytesPerSecond
		histograms = append(histograms, p.Latency)
		sum.Max = max(sum.Max, p.Max)
		latency += float64(p.Mean) * float64(p.IOs)
	}
	if sum == nil {
		return nil
	}
	sum.Latency = Merge(histograms...)
	if n == 1 { // percentiles of several results do not add up
		sum.Percentiles = percentiles
	}
	if sum.IOs > 0 {
		sum.Mean = time.Duration(math.Round(latency / float64(sum.IOs)))
	}
	return sum
}
