package record

import (
	"math"
	"time"
)

// Sum adds up what was measured at the same time; nil when there is nothing.
func Sum(parts []*Result) *Result {
	var sum *Result
	var latency float64 // nanoseconds over all I/Os
	var histograms []Histogram
	for _, p := range parts {
		if p == nil {
			continue
		}
		if sum == nil {
			sum = &Result{}
		}
		if p.IOs > 0 && (sum.IOs == 0 || p.Min < sum.Min) { // of no I/O there is no lowest latency
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
	if sum.IOs > 0 {
		sum.Mean = time.Duration(math.Round(latency / float64(sum.IOs)))
	}
	return sum
}
