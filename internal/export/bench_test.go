package export_test

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// BenchmarkScrape measures the cost of gathering in one scrape.
func BenchmarkScrape(b *testing.B) {
	for _, n := range []int{24, 256} {
		s := recordtest.Snapshot()
		drive := s.Targets[0]
		s.Targets = nil
		latencies := export.NewLatencies()
		for i := range n {
			drive.ID, drive.Device.Name = fmt.Sprintf("eui.%032x", i), fmt.Sprintf("nvme%dn1", i)
			s.Targets = append(s.Targets, drive)
			for _, p := range drive.Probes {
				m := *p.Last
				m.Device = drive.ID
				latencies.Observe(drive.Device.Name, m)
			}
		}
		b.Run(fmt.Sprintf("targets=%d", n), func(b *testing.B) {
			r := prometheus.NewRegistry()
			require.NoError(b, r.Register(collector(s, latencies)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := r.Gather()
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkObserve measures the cost of adding a round of 256 I/Os to the histograms.
func BenchmarkObserve(b *testing.B) {
	m := *recordtest.Snapshot().Targets[0].Probes[0].Last
	l := export.NewLatencies()
	b.ReportAllocs()
	for b.Loop() {
		l.Observe("nvme0n1", m)
	}
}
