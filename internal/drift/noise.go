package drift

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// noise is what a statistic does while nothing happens: how far the baseline's blocks lie from the load curve. No
// distribution is assumed: all that counts is how a new block ranks among them.
type noise struct {
	// Residuals are the blocks' distances from the curve in rising order.
	Residuals []Shift `json:"residuals"`
	// Autocorrelation is the factor by which more evidence is needed because blocks resemble the ones before them; 1
	// when they do not.
	Autocorrelation float64 `json:"autocorrelation_factor"`
}

// knowsNoise reports whether it is known how the statistic varies, and not only how fast it was in the first hour.
func (n noise) knowsNoise() bool { return len(n.Residuals) > 0 }

// maxLag is the largest lag, in slots, at which blocks may resemble each other: two hours.
const maxLag = 24

// learnNoise learns the noise from blocks, in order of time, and their residuals.
func learnNoise(blocks []block, residuals []Shift) noise {
	n := noise{Residuals: slices.Sorted(slices.Values(residuals)), Autocorrelation: 1}
	scores := make([]float64, len(residuals))
	for i, r := range residuals {
		scores[i] = n.score(r)
	}
	n.Autocorrelation = autocorrelation(blocks, scores)
	return n
}

// autocorrelation returns the factor by which correlation inflates the variance of a mean: the sum of the
// autocorrelations at lags up to maxLag. Correlations at far lags are hardly more than chance, so the sum ends with
// the first pair of lags that is not positive (Geyer's initial positive sequence). Lags are taken by the clock, so
// that blocks on either side of a gap are not neighbours.
func autocorrelation(blocks []block, scores []float64) float64 {
	lags := min(maxLag, len(blocks)/4)
	products, pairs := make([]float64, lags+1), make([]int, lags+1)
	for i := range blocks {
		for j := i; j >= 0; j-- {
			lag := blocks[i].Slot - blocks[j].Slot
			if lag < 0 || lag > int64(lags) {
				break
			}
			products[lag] += scores[i] * scores[j]
			pairs[lag]++
		}
	}
	if products[0] == 0 {
		return 1
	}
	correlation := func(lag int) float64 {
		if pairs[lag] == 0 {
			return 0
		}
		return products[lag] / float64(pairs[lag]) * float64(pairs[0]) / products[0]
	}
	sum, used := 1.0, 0
	for lag := 1; lag+1 <= lags; lag += 2 {
		both := correlation(lag) + correlation(lag+1)
		if both <= 0 {
			break
		}
		sum += 2 * both
		used = lag + 1
	}
	// From n blocks, the sum over m lags is known to within sqrt(2(2m+1)/n) of itself (Bartlett). To err on the side
	// of fewer alarms costs little.
	return sum * (1 + autocorrelationDoubt*math.Sqrt(2*float64(2*used+1)/float64(len(blocks))))
}

// autocorrelationDoubt is how many standard errors are added to the factor.
const autocorrelationDoubt = 1.5

// wanderWith raises the autocorrelation to what a component as large and as slow as the noise of the median latency
// causes. All rounds of a drive wander with their median, but the noise of a tail hides that in the blocks of one
// day.
func (n *noise) wanderWith(median noise) {
	if spread := n.spread(); spread > 0 {
		part := min(1, median.spread()/spread)
		n.Autocorrelation = max(n.Autocorrelation, 1+(median.Autocorrelation-1)*part*part)
	}
}

// spread returns half the width of the middle two thirds of the blocks: the standard deviation of normal noise.
func (n noise) spread() float64 {
	return float64(quantile(n.Residuals, 0.84)-quantile(n.Residuals, 0.16)) / 2
}

// maxScore bounds what one block can say, however far out it is.
const maxScore = 3

// error returns how far a level that was learned from so many of the blocks may lie from the true one: the standard
// error of a median of correlated blocks.
func (n noise) error(blocks int) Shift {
	return Shift(1.25 * n.spread() * math.Sqrt(n.Autocorrelation/float64(blocks)))
}

// score returns the normal quantile of the rank of s among the residuals: 0 in their middle, about 2.9 beyond the
// largest of 288.
func (n noise) score(s Shift) float64 {
	below, _ := slices.BinarySearch(n.Residuals, s)
	notAbove := below
	if below < len(n.Residuals) && n.Residuals[below] == s {
		notAbove, _ = slices.BinarySearch(n.Residuals, s+1)
	}
	return rankScore(below+notAbove, len(n.Residuals))
}

// rankScore takes twice the rank, so that equal values get the middle of their ranks.
func rankScore(twiceRank, n int) float64 {
	p := (float64(twiceRank)/2 + 0.5) / float64(n+1)
	return max(-maxScore, min(maxScore, distuv.UnitNormal.Quantile(p)))
}

// middle is the value below which no block is evidence for slower, and above which none is for faster.
func (n noise) middle() Shift { return quantile(n.Residuals, 0.5) }

// slower scores a block that should be no slower than reference, and faster one
// that should be no faster: positive speaks for a change.
func (n noise) slower(s, reference Shift) float64 { return n.score(s - reference) }
func (n noise) faster(s, reference Shift) float64 { return -n.score(s + reference) }

// threshold returns the value that a CUSUM of scores reaches without a change no more
// often than rarity, a share of blocks. It follows Lundberg: a CUSUM of scores z reaches
// h with a probability of about exp(-θh), where θ > 0 solves E[exp(θz)] = 1. The z are
// the scores of the baseline's own blocks, and of one more that is the worst possible,
// because the next block may be worse than any before. Autocorrelation makes excursions
// longer and so raises the threshold, as far as the noise reaches the reference at all.
func (n noise) threshold(score func(s, reference Shift) float64, reference Shift, rarity float64) float64 {
	scores := append(make([]float64, 0, len(n.Residuals)+1), rankScore(2*len(n.Residuals), len(n.Residuals)))
	for _, r := range n.Residuals {
		scores = append(scores, score(r, reference))
	}
	reach := min(1, float64(max(quantile(n.Residuals, 0.975), -quantile(n.Residuals, 0.025)))/float64(reference))
	return (1 + (n.Autocorrelation-1)*reach) * -math.Log(rarity) / lundberg(scores)
}

// lundberg returns the θ > 0 that solves mean(exp(θz)) = 1, at least minTheta for
// scores that hardly fall without a change, and at most maxTheta. The logarithm of the
// mean is convex, so Newton's method comes down from maxTheta without passing the solution.
func lundberg(scores []float64) float64 {
	const minTheta, maxTheta, enough = 0.02, 8, 1e-12
	theta := float64(maxTheta)
	for theta > minTheta {
		var sum, slope float64
		for _, z := range scores {
			e := math.Exp(theta * z)
			sum += e
			slope += e * z
		}
		if slope <= 0 {
			return minTheta // no score is positive
		}
		step := math.Log(sum/float64(len(scores))) * sum / slope
		if step <= enough {
			break
		}
		theta -= step
	}
	return max(theta, minTheta)
}
