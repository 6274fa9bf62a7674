package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func TestStatistic(t *testing.T) {
	assert.Equal(t, "24.6 µs", report.Statistic(record.LatencyP50, 24.6e-6))
	assert.Equal(t, "38 120 IOPS", report.Statistic(record.IOPS, 38120))
	var names []string
	for _, s := range record.Statistics() {
		names = append(names, report.StatisticName(s))
	}
	assert.Equal(t, []string{"p50", "p95", "p99", "IOPS"}, names)
}

func TestTime(t *testing.T) {
	assert.Equal(t, "2026-05-04 13:02:11 +02:00", report.Time(started()))
	assert.Equal(t, "never", report.Time(time.Time{}))
}

func TestAgo(t *testing.T) {
	now := started()
	for age, want := range map[time.Duration]string{
		0: "now", 900 * ms: "now", time.Second: "1 s ago", 59900 * ms: "59 s ago", 200 * time.Second: "3 min ago", 5 * time.Hour: "5 h ago",
		50 * time.Hour: "2 d ago", -90 * time.Second: "in 1 min",
	} {
		assert.Equal(t, want, report.Ago(now.Add(-age), now), "%s", age)
	}
	assert.Equal(t, "never", report.Ago(time.Time{}, now))
}
