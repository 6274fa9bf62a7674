package confidence

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Mean returns the mean of values that are not negative: the repeats of one step. (NIST/SEMATECH e-Handbook of
// Statistical Methods, section 1.3.5.2.)
func Mean(values []float64) record.Interval {
	i := mean(values)
	if i.Lower != nil {
		*i.Lower = max(0, *i.Lower)
	}
	return i
}

// Ratio returns the ratio of the geometric means of two independent samples of positive values: the repeats of two
// steps. The two may vary differently, as a slower step often does. (Welch's interval on logarithms; the same,
// section 1.3.5.3.)
func Ratio(from, to []float64) record.Interval {
	mean0, variance0 := stat.MeanVariance(logs(from), nil)
	mean1, variance1 := stat.MeanVariance(logs(to), nil)
	n0, n1 := float64(len(from)), float64(len(to))
	v0, v1 := variance0/n0, variance1/n1
	return exp(student(mean1-mean0, v0+v1, (v0+v1)*(v0+v1)/(v0*v0/(n0-1)+v1*v1/(n1-1))))
}

// PairedRatio returns the geometric mean of the ratios of paired positive values: the speeds at the same places of a
// drive. How much the places differ from each other does not widen the interval. (The same, section 7.3.1.1, on
// logarithms.)
func PairedRatio(from, to []float64) record.Interval {
	ratios := make([]float64, len(from))
	for i := range from {
		ratios[i] = to[i] / from[i]
	}
	return exp(mean(logs(ratios)))
}

func mean(values []float64) record.Interval {
	m, variance := stat.MeanVariance(values, nil)
	n := float64(len(values))
	return student(m, variance/n, n-1)
}

// student returns an estimate with its interval by Student's t distribution. The variance of the estimate is NaN when
// a sample has only one value; there is no interval then.
func student(estimate, variance, degrees float64) record.Interval {
	i := record.Interval{Value: estimate}
	if math.IsNaN(variance) {
		return i
	}
	half := 0.0
	if variance > 0 {
		half = distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile(1-Alpha/2) * math.Sqrt(variance)
	}
	i.Lower, i.Upper = new(estimate-half), new(estimate+half)
	return i
}

func logs(values []float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = math.Log(v)
	}
	return all
}

// exp returns the interval of a value whose logarithm has the interval i.
func exp(i record.Interval) record.Interval {
	i.Value = math.Exp(i.Value)
	if i.Lower != nil {
		*i.Lower, *i.Upper = math.Exp(*i.Lower), math.Exp(*i.Upper)
	}
	return i
}
