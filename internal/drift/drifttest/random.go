package drifttest

import (
	"math"
	"math/rand/v2"
)

// random makes random numbers.
type random struct{ *rand.Rand }

// around is a factor around 1; sigma is that of its logarithm.
func (r random) around(sigma float64) float64 { return math.Exp(sigma * r.NormFloat64()) }

// between is a number from low to high.
func (r random) between(low, high float64) float64 { return low + (high-low)*r.Float64() }

// chance is true with a probability.
func (r random) chance(p float64) bool { return r.Float64() < p }
