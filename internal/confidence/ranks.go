package confidence

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// exactValues is the largest number of values on a side for which the interval uses the exact
// distribution of U. For 50 values that would take seconds, and beyond 20 the distribution is
// almost normal.
const exactValues = 20

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// Median returns the median of values.
func Median(values []float64) float64 {
	return benchmath.AssumeNothing.Summary(sample(values), 1-Alpha).Center
}

// Chance returns the probability that two samples of one distribution differ as much as
// these: the two-sided P of the Mann-Whitney U test.
func Chance(before, after []float64) float64 {
	return benchmath.AssumeNothing.Compare(sample(before), sample(after)).P
}

// LeastChance returns the smallest value that Chance can have for samples of these sizes:
// that of two samples that do not overlap.
func LeastChance(before, after int) float64 {
	ways := 1.0 // the binomial coefficient of before+after over before
	for i := range before {
		ways *= float64(after+1+i) / float64(1+i)
	}
	return 2 / ways
}

// TimesSlower estimates how many times slower the values after are: the median of all ratios
// of a value after to one before. Its 95 % interval holds the ratios that the U test would
// not reject; it is unknown when there are too few values for one. (The Hodges-Lehmann
// estimator and its interval, on logarithms: Hollander, Wolfe and Chicken, Nonparametric
// Statistical Methods, third edition, sections 4.2 and 4.3.)
func TimesSlower(s record.Statistic, before, after []float64) record.Interval {
	var ratios []float64
	for _, b := range before {
		for _, a := range after {
			ratios = append(ratios, s.Slower(b, a))
		}
	}
	slices.Sort(ratios)
	n := len(ratios)
	i := record.Interval{Value: math.Sqrt(ratios[(n-1)/2]) * math.Sqrt(ratios[n/2])}
	if k := outside(len(before), len(after)); k > 0 {
		i.Lower, i.Upper = new(ratios[k-1]), new(ratios[n-k])
	}
	return i
}

// outside returns how many of the sorted ratios on each end are at or beyond the bounds of
// the interval; 0 when there is no interval.
func outside(n1, n2 int) int {
	if max(n1, n2) > exactValues {
		product, sum := float64(n1*n2), float64(n1+n2+1)
		return int(max(0, product/2-1.96*math.Sqrt(product*sum/12)))
	}
	u, k := stats.UDist{N1: n1, N2: n2}, 0
	for u.CDF(float64(k)) <= Alpha/2 {
		k++
	}
	return k
}
