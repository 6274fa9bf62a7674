package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// student returns the 97.5 % quantile of Student's t distribution, for a two-sided 95 % interval.
func student(degrees float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile(0.975)
}

// spreadOf returns the mean of values with its 95 % interval, and their extremes.
func spreadOf(values []float64) record.SpreadOf {
	mean, variance := stat.MeanVariance(values, nil)
	s := record.SpreadOf{Mean: record.Interval{Value: mean}, Min: slices.Min(values), Max: slices.Max(values)}
	if n := float64(len(values)); n >= 2 {
		half := student(n-1) * math.Sqrt(variance/n)
		s.Mean.Lower, s.Mean.Upper = new(max(0, mean-half)), new(mean+half) // no value here is negative
	}
	return s
}

// ratioOf returns the ratio of the geometric means of two samples of positive values. Its interval is Welch's on the
// logarithms; there is none with fewer than two values on a side.
func ratioOf(from, to []float64) record.Interval {
	mean0, variance0 := stat.MeanVariance(logs(from), nil)
	mean1, variance1 := stat.MeanVariance(logs(to), nil)
	i := record.Interval{Value: math.Exp(mean1 - mean0)}
	n0, n1 := float64(len(from)), float64(len(to))
	if n0 < 2 || n1 < 2 {
		return i
	}
	v0, v1 := variance0/n0, variance1/n1
	half := 0.0
	if v0+v1 > 0 {
		degrees := (v0 + v1) * (v0 + v1) / (v0*v0/(n0-1) + v1*v1/(n1-1))
		half = student(degrees) * math.Sqrt(v0+v1)
	}
	i.Lower, i.Upper = new(math.Exp(mean1-mean0-half)), new(math.Exp(mean1-mean0+half))
	return i
}

// pairedRatioOf returns the geometric mean of the ratios of paired values, with its interval by Student's t on their
// logarithms. All values must be positive.
func pairedRatioOf(from, to []float64) record.Interval {
	ratios := make([]float64, len(from))
	for i := range from {
		ratios[i] = math.Log(to[i] / from[i])
	}
	mean, variance := stat.MeanVariance(ratios, nil)
	i := record.Interval{Value: math.Exp(mean)}
	if n := float64(len(ratios)); n >= 2 {
		half := student(n-1) * math.Sqrt(variance/n)
		i.Lower, i.Upper = new(math.Exp(mean-half)), new(math.Exp(mean+half))
	}
	return i
}

func logs(values []float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = math.Log(v)
	}
	return all
}

// excludes reports whether an interval is known and does not contain x.
func excludes(i record.Interval, x float64) bool {
	return i.Lower != nil && i.Upper != nil && (*i.Lower > x || *i.Upper < x)
}
