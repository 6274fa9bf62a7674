package analysis

import "github.com/ssdprobe/ssdprobe/internal/record"

// SweepName is what a load is called whatever its depth and jobs: the name under
// which Knees has it.
func SweepName(w record.Workload, d record.Direction) string { return sweepName(w, d) }

// Ratio is the ratio of the means of two samples, with its interval when both have
// two values or more. It returns false when a value is not positive.
func Ratio(from, to []float64) (record.Interval, bool) {
	if len(from) == 0 || len(to) == 0 {
		return record.Interval{}, false
	}
	for _, samples := range [][]float64{from, to} {
		for _, v := range samples {
			if !(v > 0) {
				return record.Interval{}, false
			}
		}
	}
	return ratioOf(from, to), true
}

// Certain reports whether the interval of a ratio is known and excludes 1.
func Certain(i record.Interval) bool { return excludes(i, 1) }
