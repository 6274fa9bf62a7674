package drifttest

import (
	"math"
	"math/rand/v2"
	"time"
)

// noise is what a drive and its host do all the time.
type noise struct {
	name     string
	rng      *rand.Rand
	interval time.Duration
	step     float64 // of the clock, in seconds

	base, spread, tail, phase float64
	slowly, tails, long       float64 // autoregressive components
	collecting, gap           int     // rounds left
}

func newNoise(name string, rng *rand.Rand, interval time.Duration) *noise {
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	n := &noise{
		name: name, rng: rng, interval: interval,
		base: between(60e-6, 110e-6), spread: between(0.012, 0.03), tail: between(2, 4), phase: rng.Float64(),
	}
	if name == "coarse" {
		n.step = 2e-6
	}
	return n
}

func (n *noise) gauss(sigma float64) float64 { return sigma * n.rng.NormFloat64() }

// load returns the utilisation by others, 0 to 1.
func (n *noise) load(at time.Duration) float64 {
	if n.name != "diurnal" && n.name != "queueing" {
		return 0.03 + 0.02*n.rng.Float64()
	}
	day := at.Hours()/24 + n.phase
	weekly := 1.0
	if int(day)%7 >= 5 {
		weekly = 0.6
	}
	return min(0.9, max(0, (0.30+0.28*math.Sin(2*math.Pi*day))*weekly+n.gauss(0.05)))
}

// next makes the figures of a round.
func (n *noise) next(at time.Duration, moreLoad bool) figures {
	load := n.load(at)
	if moreLoad {
		load = min(0.95, load+0.4)
	}
	n.slowly = 0.7*n.slowly + n.gauss(n.spread*0.714)
	n.tails = 0.3*n.tails + n.gauss(0.17)
	level, tail, middle := n.slowly, n.tails, n.gauss(0.03)
	slow, slowTail := math.Exp(0.45*load), math.Exp(0.75*load)
	switch n.name {
	case "correlated": // neighbours on the host: levels that stay for half an hour
		n.long = 0.97*n.long + n.gauss(0.08*math.Sqrt(1-0.97*0.97))
		level += n.long
		tail += 4 * n.long
	case "wandering": // temperature and unknown causes: a few percent over hours
		part := n.interval.Hours() / 12
		n.long = n.long*math.Exp(-part) + n.gauss(0.018*math.Sqrt(2*part))
		level += n.long + 0.02*math.Sin(2*math.Pi*(at.Hours()/24+n.phase))
	case "heavy": // Student's t with two degrees of freedom
		t := func() float64 { return max(-8, min(8, n.rng.NormFloat64()/math.Sqrt(n.rng.ExpFloat64()))) }
		level, middle, tail = level+0.02*t(), 0.05*t(), 0.15*t()
	case "queueing": // latency bends upwards over load
		slow = 1 / (1 - 0.6*max(0, load-0.2))
		slowTail = slow
	case "collecting": // the drive collects garbage for minutes at a time
		if n.collecting == 0 && n.rng.Float64() < 1.0/90 {
			n.collecting = 3 + n.rng.IntN(11)
		}
		if n.collecting > 0 {
			n.collecting--
			level, tail = level+math.Log(1.5), tail+math.Log(2)
		}
	case "wide":
		tail, middle = n.gauss(0.5), n.gauss(0.12)
	}
	f := figures{load: load}
	f.p50 = n.base * math.Exp(level)
	f.p95 = f.p50 * 1.25 * math.Exp(middle)
	f.p99 = f.p50 * n.tail * math.Exp(tail)
	f.mean = f.p50 * (1.03 + 0.01*n.tail)
	f.p50, f.p95, f.p99, f.mean = f.p50*slow, f.p95*slow*slowTail/math.Exp(0.45*load), f.p99*slow*slowTail, f.mean*slow*math.Exp(0.2*load)
	if n.name == "bursty" && n.rng.Float64() < 0.006 {
		k := 2 + 18*n.rng.Float64()
		f.p95, f.p99, f.mean = f.p95*k, f.p99*k, f.mean*k
		if n.rng.IntN(2) == 0 {
			f.p50 *= k
		}
	}
	return f
}

// missing reports whether the next round is lost.
func (n *noise) missing() bool {
	var often, lost float64
	switch n.name {
	case "gappy":
		often, lost = 0.0005, 0.12
	case "pausing":
		often, lost = 0.003, 0.45
	default:
		return false
	}
	if n.gap > 0 {
		n.gap--
		return true
	}
	if n.rng.Float64() < often {
		n.gap = int(time.Duration(30+210*n.rng.Float64()) * time.Minute / n.interval)
	}
	return n.rng.Float64() < lost
}
