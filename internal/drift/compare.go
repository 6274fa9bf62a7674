package drift

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// minWindowRounds is how many rounds a window needs before it is judged: below
// six, no two of them bound the median with 95 % certainty.
const minWindowRounds = 6

// comparison is the window held against the baseline for one statistic.
type comparison struct {
	ratio, lower, upper float64 // times slower; bounds of the 95 % interval
}

// compare returns how many times slower the median of the rounds in now is than
// the baseline's value. It returns false when there are too few rounds, or
// values that cannot be compared.
func compare(s record.Statistic, baseline float64, now []float64) (comparison, bool) {
	if len(now) < minWindowRounds || baseline <= 0 {
		return comparison{}, false
	}
	slower := make([]float64, len(now))
	for i, v := range now {
		slower[i] = s.Slower(baseline, v)
	}
	slices.Sort(slower)
	low, high := medianBounds(len(slower))
	c := comparison{ratio: median(slower), lower: slower[low], upper: slower[high]}
	return c, c.lower > 0
}

// median of sorted values; there is at least one.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// medianBounds returns the indices of the two order statistics of n values that
// hold the true median between them with at least 95 % certainty, whatever the
// values' distribution (each value is above the median with probability 1/2, so
// how many are is binomial). n is at least minWindowRounds.
func medianBounds(n int) (low, high int) {
	half := distuv.Binomial{N: float64(n), P: 0.5}
	for low = 0; low+1 < n/2 && half.CDF(float64(low+1)) <= 0.025; low++ {
	}
	return low, n - 1 - low
}

// medians returns the median over rounds of each statistic.
func medians(rounds []values) map[record.Statistic]float64 {
	out := map[record.Statistic]float64{}
	for i, s := range record.Statistics() {
		column := make([]float64, len(rounds))
		for j, r := range rounds {
			column[j] = r[i]
		}
		slices.Sort(column)
		out[s] = median(column)
	}
	return out
}

// values are the statistics of one round, in the order of record.Statistics.
type values []float64

func valuesOf(m record.Measurement) values {
	all := record.Statistics()
	v := make(values, len(all))
	for i, s := range all {
		v[i] = s.Of(m)
	}
	return v
}

func (v values) valid() bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) || x <= 0 {
			return false
		}
	}
	return len(v) == len(record.Statistics())
}
