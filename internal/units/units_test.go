package units_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

const us, ms = time.Microsecond, time.Millisecond

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1 000", 38120: "38 120", 1143600: "1 143 600", -1000: "-1 000", -999: "-999",
		math.MinInt64: "-9 223 372 036 854 775 808",
	} {
		assert.Equal(t, want, units.Count(n))
	}
	assert.Equal(t, "18 446 744 073 709 551 615", units.Count(uint64(math.MaxUint64)))
}

func TestPlural(t *testing.T) {
	assert.Equal(t, "1 entry, 0 steps, 4 000 entries", units.Plural(1, "entry")+", "+units.Plural(uint64(0), "step")+", "+units.Plural(int64(4000), "entry"))
}

func TestIOPS(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0123: "0.0123", 0.5: "0.500", 5.4321: "5.43", 9.996: "10.0", 54.25: "54.2", 99.96: "100", 999.6: "1 000",
		38119.7: "38 120", 2e6: "2 000 000", math.Inf(1): "-", 1e300: "1e+300", -1e300: "-1e+300",
	} {
		assert.Equal(t, want, units.IOPS(v), "%g", v)
	}
	assert.Equal(t, "-", units.IOPS(math.NaN()))
}

func TestBandwidth(t *testing.T) {
	for v, want := range map[float64]string{
		156139520: "156 MB/s", 14e9: "14 000 MB/s", 204800: "0.205 MB/s", 4.2e6: "4.20 MB/s",
	} {
		assert.Equal(t, want, units.Bandwidth(v), "%g", v)
	}
}

func TestLatency(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 µs", 850: "0.850 µs", 24600: "24.6 µs", 9996: "10.0 µs", 999400: "999 µs", 999500: "1.00 ms", 1234 * us: "1.23 ms",
		18200 * us: "18.2 ms", 295600 * us: "296 ms", 999499 * us: "999 ms", 999500 * us: "1.00 s", 12 * time.Second: "12.0 s",
		25 * time.Minute: "1 500 s",
	} {
		assert.Equal(t, want, units.Latency(d), "%d ns", d)
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 512: "512 B", 500107862016: "500 GB", 3840755982336: "3.84 TB", 999_999_999_999: "1.00 TB", 15360950534144: "15.4 TB",
	} {
		assert.Equal(t, want, units.DriveSize(n))
	}
	for n, want := range map[int64]string{
		0: "0 B", 512: "512 B", 520: "520 B", 4096: "4 KiB", 4160: "4 160 B", 131072: "128 KiB", 1 << 30: "1 GiB", 1536 << 20: "1 536 MiB",
	} {
		assert.Equal(t, want, units.BlockSize(n))
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 512: "512 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 64 << 20: "64 MiB", 1<<30 - 1: "1 GiB", 1<<40 + 1<<39: "1.5 TiB",
	} {
		assert.Equal(t, want, units.Size(n))
	}
}

func TestRatioWithinBounds(t *testing.T) {
	assert.Equal(t, "1.31× (1.27× to 1.35×)", units.RatioWithin(1.31, 1.27, 1.35))
	assert.Equal(t, "2.50×", units.RatioWithin(2.5, 0, 0))
	assert.Equal(t, "2.50×", units.RatioWithin(2.5, 2.4, 0), "half an interval is none")
	assert.Empty(t, units.RatioWithin(0, 0, 0))
}

func TestRatioAndPercent(t *testing.T) {
	for v, want := range map[float64]string{1: "1.00×", 1.234: "1.23×", 0.981: "0.98×", 9.994: "9.99×", 9.996: "10.0×", 1240: "1 240×"} {
		assert.Equal(t, want, units.Ratio(v), "%g", v)
	}
	for v, want := range map[float64]string{0: "0.0 %", 0.0001: "<0.1 %", 0.073: "7.3 %", 0.0996: "10 %", 0.5: "50 %", 1: "100 %", 16: "1 600 %"} {
		assert.Equal(t, want, units.Percent(v), "%g", v)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		850 * ms: "850 ms", 999600 * us: "1 s", 30440 * ms: "30.4 s", 45 * time.Second: "45 s", 59940 * ms: "59.9 s", 59960 * ms: "1 min",
		200 * time.Second: "3 min 20 s", 5 * time.Minute: "5 min", 2*time.Hour + 5*time.Second: "2 h", 52*time.Hour + 9*time.Minute: "2 d 4 h",
	} {
		assert.Equal(t, want, units.Span(d), "%s", d)
	}
}

func TestLargest(t *testing.T) {
	for d, want := range map[time.Duration]string{time.Second: "1 s", 200 * time.Second: "3 min", 5 * time.Hour: "5 h", 50 * time.Hour: "2 d"} {
		assert.Equal(t, want, units.Largest(d), "%s", d)
	}
}

func TestTime(t *testing.T) {
	time.Local = time.FixedZone("", 2*60*60)
	t.Cleanup(func() { time.Local = time.UTC })
	assert.Equal(t, "2026-05-04 13:02:11 +02:00", units.Time(time.Date(2026, 5, 4, 11, 2, 11, 0, time.UTC)))
	assert.Equal(t, "never", units.Time(time.Time{}))
	assert.Equal(t, "2026-05-04 11:02:11 UTC", units.UTC(time.Date(2026, 5, 4, 13, 2, 11, 0, time.Local)))
	assert.Equal(t, "2026-05-04 11:02 UTC", units.Minute(time.Date(2026, 5, 4, 13, 2, 11, 0, time.Local)))
	assert.Equal(t, "never", units.Minute(time.Time{}))
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 5, 4, 11, 2, 11, 0, time.UTC)
	for age, want := range map[time.Duration]string{
		0: "now", 900 * ms: "now", time.Second: "1 s ago", 59900 * ms: "59 s ago", 200 * time.Second: "3 min ago", 5 * time.Hour: "5 h ago",
		50 * time.Hour: "2 d ago", -90 * time.Second: "in 1 min",
	} {
		assert.Equal(t, want, units.Ago(now.Add(-age), now), "%s", age)
	}
	assert.Equal(t, "never", units.Ago(time.Time{}, now))
}
