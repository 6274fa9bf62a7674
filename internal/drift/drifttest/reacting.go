package drifttest

import (
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

// Reacting makes the history of a drive that is busier when it is slower, as real drives are: the demand of others is
// given, and the utilisation follows from it. Rounds are refused above 80 % utilisation.
type Reacting struct {
	// Utilisation is that by others before anything happens, 0 to 1.
	Utilisation float64
	// Wave is the amplitude of the daily wave of the demand, as a share of it.
	Wave float64
	// Slower is how many times slower the drive becomes; it stays as it is at 1 or less.
	Slower float64
	Seed   uint64
	Days   float64
	// Interval is the time between rounds; 30 s when zero.
	Interval time.Duration
	// Unprobed drives have no rounds at all: only their traffic is known.
	Unprobed bool
}

// Scenario returns the drive's history as a node of its own.
func (r Reacting) Scenario() Scenario {
	if r.Interval == 0 {
		r.Interval = 30 * time.Second
	}
	s := Scenario{
		Kind: fmt.Sprintf("x%g", r.Slower), Noise: fmt.Sprintf("%.0f %%, ±%.0f %%", 100*r.Utilisation, 100*r.Wave),
		Interval: r.Interval, Duration: time.Duration(r.Days * 24 * float64(time.Hour)),
	}
	d := Drive{ID: "d00", Model: "M", SizeBytes: 1 << 40, To: s.Duration}
	if r.Slower > 1 {
		onset := time.Duration((2 + 1.5*r.random(1).Float64()) * 24 * float64(time.Hour)).Truncate(r.Interval)
		d.Episodes = []Episode{{Kind: s.Kind, Scope: OfDrive, Onset: onset, End: s.Duration, Slower: r.Slower}}
	}
	s.Drives = []Drive{d}
	s.Samples = r.samples(s)
	return s
}

func (r Reacting) random(use uint64) random {
	name := fmt.Sprintf("%g/%g/%g", r.Utilisation, r.Wave, r.Slower)
	return random{Stream{Kind: "reacting", Noise: name, Seed: r.Seed}.random(use)}
}

func (r Reacting) samples(s Scenario) iter.Seq2[int, Sample] {
	const service, block = 80e-6, 4096
	return func(yield func(int, Sample) bool) {
		rng := r.random(2)
		peak := 0.0
		if r.Utilisation > 0 {
			peak = -math.Log(1-r.Utilisation) / service
		}
		for at := time.Duration(0); at < s.Duration; at += s.Interval {
			k := slower(s.Drives[0].Episodes, at)
			demand := peak * (1 + r.Wave*math.Sin(2*math.Pi*at.Hours()/24)) * rng.around(0.05)
			served := min(demand, 64/(service*k))
			u := 1 - math.Exp(-served*service*k)
			own := service * k * (1 + 0.3*u)
			out := Sample{Time: Start().Add(at), Utilisation: min(u, 0.999)}
			out.Others = Others{Known: true, Reads: served, ReadBytes: block * served}
			if served > 0.5 {
				out.Others.ReadLatency = own * rng.around(0.03)
				out.Others.InFlight = served * out.Others.ReadLatency
			}
			if u <= 0.8 && !r.Unprobed {
				p50 := own * rng.around(0.02)
				above := func(k, sigma float64) float64 { return p50 * k * math.Exp(sigma*math.Abs(rng.NormFloat64())) }
				out.Values = drift.Values{p50, above(1.4, 0.05), above(2.2, 0.15), 1 / p50}
			}
			if !yield(0, out) {
				return
			}
		}
	}
}
