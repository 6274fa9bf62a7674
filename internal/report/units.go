package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// none stands where there is no value.
const none = "-"

// Count writes a whole number with its thousands grouped: "1 143 600". The
// group mark is an ordinary space: a thin or a no-break one looks the same but
// makes a pasted number unfit for searching and for most programs.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// number writes v with three significant digits, or with all digits before the
// point when there are more: "0.246", "24.6", "38 120". What is not a number is "-".
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	// The decimals are chosen by the rounded value: 99.96 is "100", not "100.0".
	for decimals := 6; decimals > 0; decimals-- {
		scale := math.Pow10(decimals)
		if math.Round(math.Abs(v)*scale)/scale < math.Pow10(3-decimals) {
			if v == 0 {
				return "0"
			}
			return strconv.FormatFloat(v, 'f', decimals, 64)
		}
	}
	return Count(int64(math.Round(v)))
}

// IOPS writes I/Os per second: "38 120", "54.2".
func IOPS(perSecond float64) string { return number(perSecond) }

// Bandwidth writes a rate in decimal megabytes per second, whatever its size:
// "156 MB/s", "14 000 MB/s".
func Bandwidth(bytesPerSecond float64) string { return number(bytesPerSecond/1e6) + " MB/s" }

// Ratio writes a factor: "1.23×".
func Ratio(r float64) string {
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return none
	}
	if math.Abs(r) < 9.995 {
		return strconv.FormatFloat(r, 'f', 2, 64) + "×"
	}
	return number(r) + "×"
}

// Percent writes a share (0 to 1) as a percentage: "7.3 %".
func Percent(share float64) string {
	switch percent := share * 100; {
	case math.IsNaN(percent) || math.IsInf(percent, 0):
		return none
	case percent > 0 && percent < 0.05:
		return "<0.1 %"
	case math.Abs(percent) < 9.95:
		return strconv.FormatFloat(percent, 'f', 1, 64) + " %"
	default:
		return Count(int64(math.Round(percent))) + " %"
	}
}

// DriveSize writes bytes in decimal units, as drives are sold: "3.84 TB".
func DriveSize(bytes int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	v, unit := float64(bytes), 0
	for unit < len(units)-1 && math.Abs(v) >= 999.5 {
		v /= 1000
		unit++
	}
	return number(v) + " " + units[unit]
}

// BlockSize writes bytes in the largest binary unit that divides them, as
// blocks and files are counted: "4 KiB", "1 GiB", "520 B".
func BlockSize(bytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	unit := 0
	for unit < len(units)-1 && bytes != 0 && bytes%1024 == 0 {
		bytes /= 1024
		unit++
	}
	return Count(bytes) + " " + units[unit]
}

// Latency writes the duration of an I/O in µs, ms or s: "24.6 µs", "1.23 ms".
func Latency(d time.Duration) string {
	unit := unitFor(d)
	return unit.format(d) + " " + unit.name
}

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

// latencyUnit is a unit that a whole column of latencies is written in.
type latencyUnit struct {
	name string
	size time.Duration
}

// unitFor returns the unit that suits d.
func unitFor(d time.Duration) latencyUnit {
	switch {
	case d < 999500*time.Nanosecond: // what rounds to 1000 µs is 1.00 ms
		return latencyUnit{"µs", time.Microsecond}
	case d < 999500*time.Microsecond:
		return latencyUnit{"ms", time.Millisecond}
	default:
		return latencyUnit{"s", time.Second}
	}
}

func (u latencyUnit) format(d time.Duration) string {
	return number(float64(d) / float64(u.size))
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
