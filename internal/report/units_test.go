package report_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1 000", 38120: "38 120", 1143600: "1 143 600", -1000: "-1 000", -999: "-999",
		math.MinInt64: "-9 223 372 036 854 775 808",
	} {
		assert.Equal(t, want, report.Count(n))
	}
}

func TestIOPS(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0123: "0.0123", 0.5: "0.500", 5.4321: "5.43", 9.996: "10.0", 54.25: "54.2", 99.96: "100", 999.6: "1 000",
		38119.7: "38 120", 2e6: "2 000 000", math.Inf(1): "-",
	} {
		assert.Equal(t, want, report.IOPS(v), "%g", v)
	}
	assert.Equal(t, "-", report.IOPS(math.NaN()))
}

func TestBandwidth(t *testing.T) {
	for v, want := range map[float64]string{
		156139520: "156 MB/s", 14e9: "14 000 MB/s", 204800: "0.205 MB/s", 4.2e6: "4.20 MB/s",
	} {
		assert.Equal(t, want, report.Bandwidth(v), "%g", v)
	}
}

func TestLatency(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 µs", 850: "0.850 µs", 24600: "24.6 µs", 9996: "10.0 µs", 999400: "999 µs", 999500: "1.00 ms", 1234 * us: "1.23 ms",
		18200 * us: "18.2 ms", 295600 * us: "296 ms", 999499 * us: "999 ms", 999500 * us: "1.00 s", 12 * time.Second: "12.0 s",
		25 * time.Minute: "1 500 s",
	} {
		assert.Equal(t, want, report.Latency(d), "%d ns", d)
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 512: "512 B", 500107862016: "500 GB", 3840755982336: "3.84 TB", 999_999_999_999: "1.00 TB", 15360950534144: "15.4 TB",
	} {
		assert.Equal(t, want, report.DriveSize(n))
	}
	for n, want := range map[int64]string{
		0: "0 B", 512: "512 B", 520: "520 B", 4096: "4 KiB", 4160: "4 160 B", 131072: "128 KiB", 1 << 30: "1 GiB", 1536 << 20: "1 536 MiB",
	} {
		assert.Equal(t, want, report.BlockSize(n))
	}
}

func TestRatioAndPercent(t *testing.T) {
	for v, want := range map[float64]string{1: "1.00×", 1.234: "1.23×", 0.981: "0.98×", 9.994: "9.99×", 9.996: "10.0×", 1240: "1 240×"} {
		assert.Equal(t, want, report.Ratio(v), "%g", v)
	}
	for v, want := range map[float64]string{0: "0.0 %", 0.0001: "<0.1 %", 0.073: "7.3 %", 0.0996: "10 %", 0.5: "50 %", 1: "100 %", 16: "1 600 %"} {
		assert.Equal(t, want, report.Percent(v), "%g", v)
	}
}

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

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		850 * ms: "850 ms", 999600 * us: "1 s", 30440 * ms: "30.4 s", 45 * time.Second: "45 s", 59940 * ms: "59.9 s", 59960 * ms: "1 min",
		200 * time.Second: "3 min 20 s", 5 * time.Minute: "5 min", 2*time.Hour + 5*time.Second: "2 h", 52*time.Hour + 9*time.Minute: "2 d 4 h",
	} {
		assert.Equal(t, want, report.Span(d), "%s", d)
	}
}
