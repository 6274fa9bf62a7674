package probe

import (
	"fmt"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The range of latencies. An I/O that hung counts with its age, up to a day. The lowest latency is 1 ns so that
// three significant digits hold everywhere: with a lowest discernible value of 1 µs, the library would round 24
// µs to a half microsecond.
const (
	lowestLatency  = time.Nanosecond
	highestLatency = 24 * time.Hour
	digits         = 3
)

// histogram sorts latencies into the classes of an HDR histogram. It is reused because one takes 300 KB.
type histogram struct{ hdr *hdrhistogram.Histogram }

func newHistogram() *histogram {
	return &histogram{hdrhistogram.New(int64(lowestLatency), int64(highestLatency), digits)}
}

// of returns the distribution of the latencies.
func (h *histogram) of(latencies []time.Duration) (record.Histogram, error) {
	if len(latencies) == 0 {
		return nil, nil
	}
	h.hdr.Reset()
	for _, l := range latencies {
		l = min(max(l, lowestLatency), highestLatency)
		if err := h.hdr.RecordValue(int64(l)); err != nil {
			return nil, fmt.Errorf("record a latency of %s: %w", l, err)
		}
	}
	// One walk over the counts returns the value at every rank: the latencies in ascending order, rounded to
	// their classes. Distribution() would also list ten thousand empty classes.
	n := len(latencies)
	ranks := make([]float64, n)
	for i := range ranks {
		ranks[i] = 100 * float64(i+1) / float64(n)
	}
	var bins []record.Bin
	for _, v := range h.hdr.ValueAtPercentilesSlice(ranks) {
		if last := len(bins) - 1; last >= 0 && bins[last].Latency == time.Duration(v) {
			bins[last].Count++
			continue
		}
		bins = append(bins, record.Bin{Latency: time.Duration(v), Count: 1})
	}
	return record.Histogram(slices.Clip(bins)), nil
}
