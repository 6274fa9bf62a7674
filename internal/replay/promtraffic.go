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
// sizes, nor the number while there are none.
func (p *Prometheus) addTraffic(ctx context.Context, at func(unixMilli int64) *Sample, from, to time.Time) error {
	known, err := p.one(ctx, p.traffic("ssdprobe_traffic_known"), driveOf, from, to)
	if err != nil {
		return err
	}
	for t, v := range known {
		at(t).Work.Known = v == 1
	}
	coarse, err := p.one(ctx, p.traffic("ssdprobe_traffic_coarse_times"), driveOf, from, to) // the daemon does not judge those
	if err != nil {
		return err
	}
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
		ios, err := p.one(ctx, p.traffic("ssdprobe_traffic_ios", operation), driveOf, from, to)
		if err != nil {
			return err
		}
		latencies, err := p.one(ctx, p.traffic("ssdprobe_traffic_latency_mean_seconds", operation), driveOf, from, to)
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
			if v, ok := latencies[t]; ok && n >= judge.FewIOs && v > 0 && v <= drift.MostValue && coarse[t] == 0 {
				*o.latency(s) = v
			}
		}
	}
	return nil
}

// traffic returns a selector for the traffic of the device. If the device has several targets, the series have the id of one
// of them, so those of the others are found by the device. Without an instance, that would read the series of all nodes.
func (p *Prometheus) traffic(metric string, matchers ...string) string {
	own := p.selector(metric, matchers...)
	if p.query.Instance == "" {
		return own
	}
	return fmt.Sprintf("%s or on () (%s and on (instance, device) %s)", own, p.of(metric, matchers...), p.of("ssdprobe_device_info", fmt.Sprintf("id=%q", p.query.Device)))
}
