package analysis

import (
	"cmp"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Offsets puts the speeds of steps at different places of the target in order; nil
// when there are fewer than two. Repeats at one place count as their mean.
func Offsets(steps []record.Step) *record.OffsetSpeeds {
	rates := map[int64][]float64{}
	for _, s := range complete(steps) {
		if s.Workload != nil && s.Workload.Pattern == record.Sequential {
			rates[s.Workload.OffsetBytes] = append(rates[s.Workload.OffsetBytes], bytesOf(s))
		}
	}
	if len(rates) < 2 {
		return nil
	}
	var o record.OffsetSpeeds
	for offset, r := range rates {
		mean := spreadOf(r).Mean
		o.Points = append(o.Points, record.OffsetSpeed{OffsetBytes: offset, BytesPerSecond: mean.Value, Lower: mean.Lower, Upper: mean.Upper})
	}
	slices.SortFunc(o.Points, func(a, b record.OffsetSpeed) int { return cmp.Compare(a.OffsetBytes, b.OffsetBytes) })
	bySpeed := func(a, b record.OffsetSpeed) int { return cmp.Compare(a.BytesPerSecond, b.BytesPerSecond) }
	o.Slowest, o.Fastest = slices.MinFunc(o.Points, bySpeed), slices.MaxFunc(o.Points, bySpeed)
	o.Evenness = o.Slowest.BytesPerSecond / o.Fastest.BytesPerSecond
	return &o
}
