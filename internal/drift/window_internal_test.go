package drift

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// rounds are given to a window, and also kept here in full for comparison.
type rounds struct {
	window   window
	interval time.Duration
	ios      int
	random   *rand.Rand
	given    []record.Measurement
}

func newRounds(interval time.Duration, ios int) *rounds {
	return &rounds{window: window{span: 5 * time.Minute}, interval: interval, ios: ios, random: rand.New(rand.NewPCG(1, 2))}
}

// run adds rounds whose I/Os hardly ever have the same latency. One I/O in 500 is slow.
func (r *rounds) run(n int) {
	for range n {
		m := record.Measurement{Start: time.Unix(1_800_000_000, 0).Add(time.Duration(len(r.given)) * r.interval), Duration: time.Second}
		for range r.ios {
			latency := time.Duration(60_000 + r.random.IntN(40_000))
			if r.random.IntN(500) == 0 {
				latency *= time.Duration(10 + r.random.IntN(90))
			}
			m.Latency = append(m.Latency, record.Bin{Latency: latency, Count: 1})
		}
		m.Latency = record.NewHistogram(m.Latency)
		r.given = append(r.given, m)
		r.window.add(m)
	}
}

// last returns the distribution of the last n rounds.
func (r *rounds) last(n int) record.Histogram {
	var all []record.Histogram
	for _, m := range r.given[len(r.given)-n:] {
		all = append(all, m.Latency)
	}
	return record.Merge(all...)
}

// The p99.9 of the 160 writes of five minutes is their maximum. A percentile covers as many rounds as are needed to
// have ten I/Os above it, and hardly more.
func TestEachPercentileHasTheWindowThatItNeeds(t *testing.T) {
	testenv.Long(t)
	for _, tt := range []struct {
		name     string
		interval time.Duration
		ios      int
		rounds   [4]int // needed for p50, p95, p99 and p99.9
	}{
		{"durable writes", time.Minute, 32, [4]int{5, 7, 32, 313}},
		{"random reads", 30 * time.Second, 240, [4]int{10, 10, 10, 42}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRounds(tt.interval, tt.ios)
			for range 60 {
				r.run(18)
				if len(r.given) < 360 {
					continue
				}
				for i, percent := range record.Percentiles() {
					p, found := r.window.all.Percentile(percent)
					require.True(t, found)
					require.True(t, p.Supported(), "p%g of %d I/Os", percent, p.IOs)
					covered := int(p.IOs) / tt.ios
					require.GreaterOrEqual(t, covered, tt.rounds[i])
					require.LessOrEqual(t, covered, tt.rounds[i]*10/8, "p%g", percent)
					require.Equal(t, r.last(covered).Quantile(percent/100), p.Latency, "p%g", percent)
					if covered*int(tt.interval) <= int(r.window.span) {
						require.Equal(t, r.window.span, p.Span)
					} else {
						require.Equal(t, time.Duration(covered-1)*tt.interval, p.Span)
					}
				}
			}
		})
	}
}

// A percentile that lacks I/Os has the longest span.
func TestAPercentileWithoutEnoughIOs(t *testing.T) {
	r := newRounds(time.Minute, 32)
	r.run(20)
	p, _ := r.window.all.Percentile(99)
	assert.False(t, p.Supported())
	assert.Equal(t, record.WindowPercentile{Percentile: 99, Latency: r.last(20).Quantile(0.99), Span: 6 * time.Hour, IOs: 640}, p)

	r = newRounds(4*time.Minute, 32) // 2880 I/Os in six hours
	r.run(500)
	p, _ = r.window.all.Percentile(99.9)
	assert.False(t, p.Supported())
	assert.Equal(t, 6*time.Hour, p.Span)
	covered := int(p.IOs) / 32
	assert.LessOrEqual(t, covered, 90)
	assert.Greater(t, covered, 90*7/8)
	assert.Equal(t, r.last(covered).Quantile(0.999), p.Latency)
}

// However long it runs, a window keeps little more than the I/Os that p99.9 needs, in few pieces.
func TestTheWindowIsBounded(t *testing.T) {
	testenv.Long(t)
	for _, r := range []*rounds{newRounds(30*time.Second, 240), newRounds(time.Minute, 32), newRounds(15*time.Second, 8)} {
		r.run(int(8 * time.Hour / r.interval))
		bins := 0
		for _, p := range r.window.pieces {
			bins += len(p.latency)
		}
		recent := int(r.window.span / r.interval)
		assert.LessOrEqual(t, len(r.window.pieces), recent+60)
		assert.LessOrEqual(t, bins, recent*r.ios+10_000*9/8)
		assert.True(t, slices.IsSortedFunc(r.window.pieces, func(a, b piece) int { return a.from.Compare(b.from) }))
	}
}

// However far back the figures shall reach, they do not fill the memory.
func TestALongWindowIsBounded(t *testing.T) {
	r := newRounds(30*time.Second, 1)
	r.window.span = 24 * time.Hour
	r.run(3500)
	assert.LessOrEqual(t, len(r.window.pieces), 2*wholeShare)
	rounds := r.window.all.Rounds
	assert.InEpsilon(t, float64(r.window.span/r.interval), rounds, 2.0/wholeShare)
	assert.Equal(t, r.last(rounds), r.window.all.Latency)
}

func BenchmarkWindow(b *testing.B) {
	r := newRounds(30*time.Second, 240)
	r.run(400)
	m := r.given[len(r.given)-1]
	b.ReportAllocs()
	for b.Loop() {
		m.Start = m.Start.Add(r.interval)
		r.window.add(m)
	}
}
