package analysis

import (
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Spreads returns how far the repeats of each series lie apart. A series with fewer than
// two complete repeats is left out.
func Spreads(steps []record.Step) []record.Spread {
	type key struct {
		series    string
		direction record.Direction
	}
	type samples struct{ iops, bytes, mean []float64 }
	var all groups[key, samples]
	for _, s := range complete(steps) {
		if s.Series == "" {
			continue
		}
		for _, r := range results(s) {
			got := all.at(key{s.Series, r.direction})
			got.iops = append(got.iops, r.IOPS)
			got.bytes = append(got.bytes, r.BytesPerSecond)
			got.mean = append(got.mean, r.Mean.Seconds())
		}
	}
	var spreads []record.Spread
	for _, k := range all.keys {
		if got := all.at(k); len(got.iops) >= 2 {
			spreads = append(spreads, record.Spread{
				Load: k.series, Direction: k.direction, Repeats: len(got.iops),
				IOPS: spreadOf(got.iops), BytesPerSecond: spreadOf(got.bytes), MeanSeconds: spreadOf(got.mean),
			})
		}
	}
	return spreads
}

func spreadOf(values []float64) record.SpreadOf {
	return record.SpreadOf{Mean: confidence.Mean(values), Min: slices.Min(values), Max: slices.Max(values)}
}
