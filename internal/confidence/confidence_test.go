package confidence_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/aclements/go-moremath/stats"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchmath"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// some returns n different values around a level.
func some(random *rand.Rand, n int, level float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = level * math.Exp(0.1*random.NormFloat64())
	}
	return all
}

// divided returns the values, or their logarithms, after a division.
func divided(values []float64, by float64, of func(float64) float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = of(v / by)
	}
	return all
}

func same(v float64) float64 { return v }

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(values, &benchmath.DefaultThresholds)
}

// The bounds of an interval are where the test that belongs to it has a probability of Alpha. The tests are those of
// benchmath and moremath.
func TestStudentsIntervalsAreThoseOfTheTests(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range [][2]int{{2, 2}, {2, 7}, {3, 3}, {5, 3}, {30, 40}} {
		from, to := some(random, n[0], 100), some(random, n[1], 150)
		mean := confidence.Mean(to)
		want := benchmath.AssumeNormal.Summary(sample(divided(to, 1, same)), 1-confidence.Alpha)
		assert.InEpsilonSlice(t, []float64{want.Center, want.Hi}, []float64{mean.Value, *mean.Upper}, 1e-6)
		assert.InDelta(t, max(0, want.Lo), *mean.Lower, 1e-3)

		ratio := confidence.Ratio(from, to)
		for _, bound := range []float64{*ratio.Lower, *ratio.Upper} {
			test := benchmath.AssumeNormal.Compare(sample(divided(from, 1, math.Log)), sample(divided(to, bound, math.Log)))
			assert.InEpsilon(t, confidence.Alpha, test.P, 1e-6)
		}
		assert.InEpsilon(t, ratio.Value, math.Sqrt(*ratio.Lower**ratio.Upper), 1e-9)

		pairs := min(n[0], n[1])
		paired := confidence.PairedRatio(from[:pairs], to[:pairs])
		for _, bound := range []float64{*paired.Lower, *paired.Upper} {
			test, err := stats.PairedTTest(divided(from[:pairs], 1, math.Log), divided(to[:pairs], bound, math.Log), 0, stats.LocationDiffers)
			require.NoError(t, err)
			assert.InEpsilon(t, confidence.Alpha, test.P, 1e-6)
		}
	}
	// Places of a drive differ, and pairs are about nothing else.
	assert.Less(t, *confidence.PairedRatio([]float64{100, 50, 25}, []float64{90, 46, 23}).Upper, 1.0)
	assert.Greater(t, *confidence.Ratio([]float64{100, 50, 25}, []float64{90, 46, 23}).Upper, 1.0)
}

func TestTheIntervalOfRanksHoldsWhatTheUTestAccepts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range [][2]int{{4, 4}, {3, 5}, {5, 5}, {8, 6}, {20, 20}} {
		before, after := some(random, n[0], 100), some(random, n[1], 150)
		i := confidence.TimesSlower(record.LatencyP50, before, after)
		for within, bound := range map[float64]float64{1 + 1e-9: *i.Lower, 1 - 1e-9: *i.Upper} {
			assert.Greater(t, confidence.Chance(before, divided(after, bound*within, same)), confidence.Alpha)
			assert.LessOrEqual(t, confidence.Chance(before, divided(after, bound/within, same)), confidence.Alpha)
		}
		iops := confidence.TimesSlower(record.IOPS, after, before)
		assert.InDeltaSlice(t, []float64{i.Value, *i.Lower, *i.Upper}, []float64{iops.Value, *iops.Lower, *iops.Upper}, 1e-9, "fewer are slower")
		assert.InEpsilon(t, confidence.LeastChance(n[0], n[1]), confidence.Chance(before, divided(after, 1e-3, same)), 1e-9)
	}
	assert.InDelta(t, 2.5, confidence.Median([]float64{9, 2, 1, 3}), 0)
}

func TestTooFewForAnInterval(t *testing.T) {
	one, three := []float64{100}, []float64{90, 100, 110}
	for name, i := range map[string]record.Interval{
		"mean": confidence.Mean(one), "ratio from one": confidence.Ratio(one, three), "ratio to one": confidence.Ratio(three, one),
		"one pair": confidence.PairedRatio(one, one), "ranks of one": confidence.TimesSlower(record.IOPS, one, three),
		"ranks of three": confidence.TimesSlower(record.IOPS, three, three),
	} {
		assert.Nil(t, i.Lower, name)
		assert.Nil(t, i.Upper, name)
		assert.Positive(t, i.Value, name)
	}
	assert.InDelta(t, 2, *confidence.Ratio([]float64{5, 5}, []float64{10, 10}).Upper, 1e-12, "equal repeats are certain")
	assert.Zero(t, *confidence.Mean([]float64{1, 9}).Lower, "no rate is negative")
}
