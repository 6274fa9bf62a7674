package units

import (
	"math"
	"strconv"
	"strings"
)

// none is written in place of a missing value.
const none = "-"

// Number writes v with three significant digits, or with all digits before the decimal
// point if there are more: "0.246", "24.6", "38 120". NaN and infinity are "-".
func Number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	// The rounded value determines the decimals: 99.96 is "100", not "100.0".
	for decimals := 6; decimals > 0; decimals-- {
		scale := math.Pow10(decimals)
		if math.Round(math.Abs(v)*scale)/scale < math.Pow10(3-decimals) {
			if v == 0 {
				return "0"
			}
			return strconv.FormatFloat(v, 'f', decimals, 64)
		}
	}
	return whole(v)
}

// whole rounds v. What no count can be is written with an exponent.
func whole(v float64) string {
	if math.Abs(v) >= math.MaxInt64 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return Count(int64(math.Round(v)))
}

// IOPS writes I/Os per second: "38 120", "54.2".
func IOPS(perSecond float64) string { return Number(perSecond) }

// Bandwidth writes a rate in decimal megabytes per second, whatever its size:
// "156 MB/s", "14 000 MB/s".
func Bandwidth(bytesPerSecond float64) string { return Number(bytesPerSecond/1e6) + " MB/s" }

// Ratio writes a factor: "1.23×".
func Ratio(r float64) string {
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return none
	}
	if math.Abs(r) < 9.995 {
		return strconv.FormatFloat(r, 'f', 2, 64) + "×"
	}
	return Number(r) + "×"
}

// RatioWithin writes a factor with the bounds of its interval: "1.31× (1.27× to 1.35×)". It is without them when there
// are none, and empty when the factor is 0. In a sentence, record.Ratio says it in words.
func RatioWithin(r, lower, upper float64) string {
	switch bounds := Bounds(lower, upper); {
	case r == 0:
		return ""
	case bounds == "":
		return Ratio(r)
	default:
		return Ratio(r) + " (" + bounds + ")"
	}
}

// Bounds writes the bounds of the interval of a factor: "1.27× to 1.35×"; empty when one of them is 0, which is not known.
func Bounds(lower, upper float64) string {
	if lower == 0 || upper == 0 {
		return ""
	}
	return Ratio(lower) + " to " + Ratio(upper)
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
		return whole(percent) + " %"
	}
}

// DriveSize writes bytes in decimal units, as drives are sold: "3.84 TB".
func DriveSize[N Whole](bytes N) string {
	v, unit := scaled(float64(bytes), 1000, "B", "kB", "MB", "GB", "TB", "PB")
	if unit == "B" {
		return Count(bytes) + " B"
	}
	return Number(v) + " " + unit
}

// Size writes bytes in binary units, as memory and free space are counted: "1.5 GiB",
// "64 MiB".
func Size[N Whole](bytes N) string {
	v, unit := scaled(float64(bytes), 1024, "B", "KiB", "MiB", "GiB", "TiB", "PiB")
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") + " " + unit
}

// scaled returns v in the largest unit in which its rounded value is at least one.
func scaled(v, base float64, units ...string) (float64, string) {
	unit := 0
	for unit < len(units)-1 && math.Abs(v) >= base-0.5 {
		v /= base
		unit++
	}
	return v, units[unit]
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
