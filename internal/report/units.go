package report

import (
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// none stands where there is no value.
const none = "-"

// Count is that of package units.
func Count(n int64) string { return units.Count(n) }

// IOPS is that of package units.
func IOPS(perSecond float64) string { return units.IOPS(perSecond) }

// Bandwidth is that of package units.
func Bandwidth(bytesPerSecond float64) string { return units.Bandwidth(bytesPerSecond) }

// Ratio is that of package units.
func Ratio(r float64) string { return units.Ratio(r) }

// Percent is that of package units.
func Percent(share float64) string { return units.Percent(share) }

// DriveSize is that of package units.
func DriveSize(bytes int64) string { return units.DriveSize(bytes) }

// BlockSize is that of package units.
func BlockSize(bytes int64) string { return units.BlockSize(bytes) }

// Latency is that of package units.
func Latency(d time.Duration) string { return units.Latency(d) }

// Span is that of package units.
func Span(d time.Duration) string { return units.Span(d) }

// Statistic writes the value of a statistic, given in the statistic's own unit:
// "24.6 µs", "38 120 IOPS".
func Statistic(s record.Statistic, value float64) string {
	if s == record.IOPS {
		return IOPS(value) + " IOPS"
	}
	return Latency(seconds(value))
}

// StatisticName is the short name of a statistic: "p50", "IOPS".
func StatisticName(s record.Statistic) string { return s.Short() }

func number(v float64) string { return units.Number(v) }

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
