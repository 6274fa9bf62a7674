package drifttest

import (
	"math/rand/v2"
	"time"
)

// Site makes the history of a node whose drives are at work in a closed loop, with known traffic.
type Site struct {
	Noise  string // one of SharedNoises
	Seed   uint64
	Drives int
	Days   float64
	// Interval is the time between rounds; a minute when zero.
	Interval time.Duration
	// Load is the utilisation by others, 0 to 1.
	Load float64
	// Role gives the first drive larger requests. Its traffic has three times the latency of its equals' traffic,
	// while its probes have the same latency as theirs.
	Role bool
	// Unprobed drives have no rounds: only their traffic is known.
	Unprobed bool
	// Slower is how many times slower the last drive becomes; it stays as it is at 1 or less. That is from its first
	// round on if Born, else from the middle of the history.
	Slower float64
	Born   bool
}

// Scenario returns the node's history.
func (n Site) Scenario() Scenario {
	if n.Interval == 0 {
		n.Interval = time.Minute
	}
	b := &builder{
		rng:    random{rand.New(rand.NewPCG(n.Seed, uint64(len(n.Noise))))}, //nolint:gosec // a site is to be the same every time
		s:      Scenario{Kind: "site", Noise: n.Noise, Noises: []string{n.Noise}, Interval: n.Interval, Duration: time.Duration(n.Days * float64(day))},
		noises: []string{n.Noise},
		models: []model{{name: "M", latency: 80e-6, tail: 3, queue: 0.4}},
	}
	shape := work{wave: 0.3, phase: b.rng.Float64(), jitter: 0.1, reads: 0.7, bytes: 4096}
	for i := range n.Drives {
		b.drive(i, b.models[0], shape, n.Load)
		b.machines[i].noise = "quiet"
	}
	if n.Role {
		m := &b.machines[0]
		share := m.work.demand * m.takes()
		m.work.bytes, m.work.reads = 256<<10, 0.5
		m.work.demand = share / m.takes()
	}
	if n.Slower > 1 {
		e := Episode{Kind: "slower", Scope: OfDrive, Onset: (b.s.Duration / 2).Truncate(n.Interval), End: b.s.Duration, Slower: n.Slower}
		if n.Born {
			e.Kind, e.Onset = "born", 0
		}
		last := &b.s.Drives[n.Drives-1]
		last.Episodes = append(last.Episodes, e)
	}
	all := b.samples(b.rng.Uint64())
	b.s.Samples = all
	if n.Unprobed {
		b.s.Samples = func(yield func(int, Sample) bool) {
			for i, s := range all {
				s.Values = [4]float64{}
				if !yield(i, s) {
					return
				}
			}
		}
	}
	return b.s
}
