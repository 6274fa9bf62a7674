package report

import (
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// none is the text for a missing value.
const none = "-"

// Statistic formats the value of a statistic, given in seconds or I/Os per second: "24.6
// µs", "38 120 IOPS".
func Statistic(s record.Statistic, value float64) string {
	if s == record.IOPS {
		return units.IOPS(value) + " IOPS"
	}
	return units.Latency(seconds(value))
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
