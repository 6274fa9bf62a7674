package replay

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// addTraffic adds the number and the latency of others' I/Os. The daemon does not export their
// sizes.
func (p *Prometheus) addTraffic(ctx context.Context, at func(unixMilli int64) *Sample, from, to time.Time) error {
	for _, o := range []struct {
		operation string
		latency   func(*Sample) *float64
		rate      func(*Sample) *float64
	}{
		{"read", func(s *Sample) *float64 { return &s.Traffic.ReadLatency }, func(s *Sample) *float64 { return &s.Work.Reads }},
		{"write", func(s *Sample) *float64 { return &s.Traffic.WriteLatency }, func(s *Sample) *float64 { return &s.Work.Writes }},
		{"flush", func(s *Sample) *float64 { return &s.Traffic.FlushLatency }, nil},
	} {
		operation := fmt.Sprintf("operation=%q", o.operation)
		ios, err := p.one(ctx, p.selector("ssdprobe_traffic_ios", operation), from, to)
		if err != nil {
			return err
		}
		latencies, err := p.one(ctx, p.selector("ssdprobe_traffic_latency_mean_seconds", operation), from, to)
		if err != nil {
			return err
		}
		for t, n := range ios {
			if math.IsNaN(n) || n < 0 {
				continue
			}
			s := at(t)
			if o.rate != nil {
				*o.rate(s), s.Work.Known = n/record.TrafficWindow.Seconds(), true
			}
			if v, ok := latencies[t]; ok && n >= judge.FewIOs && v > 0 && v <= drift.MostValue {
				*o.latency(s) = v
			}
		}
	}
	return nil
}
