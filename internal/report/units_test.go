package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func TestStatistic(t *testing.T) {
	assert.Equal(t, "24.6 µs", report.Statistic(record.LatencyP50, 24.6e-6))
	assert.Equal(t, "38 120 IOPS", report.Statistic(record.IOPS, 38120))
	var names []string
	for _, s := range record.Statistics() {
		names = append(names, s.Short())
	}
	assert.Equal(t, []string{"p50", "p95", "p99", "IOPS"}, names)
}
