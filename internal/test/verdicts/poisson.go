package verdicts

import "gonum.org/v1/gonum/mathext"

// UpperBound returns the exact 95 % upper bound of the mean of a Poisson distribution, of which n events were counted
// (Garwood, 1936): 3.0 for none.
func UpperBound(n int) float64 {
	return mathext.GammaIncRegInv(float64(n)+1, 0.95)
}
