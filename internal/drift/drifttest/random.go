package drifttest

import (
	"math"
	"math/rand/v2"
)

// random is a source of random numbers.
type random struct{ *rand.Rand }

// around returns a factor around 1. sigma is the standard deviation of its logarithm.
func (r random) around(sigma float64) float64 { return math.Exp(sigma * r.NormFloat64()) }

// between returns a number from low to high.
func (r random) between(low, high float64) float64 { return low + (high-low)*r.Float64() }

// chance returns true with probability p.
func (r random) chance(p float64) bool { return r.Float64() < p }
