package drifttest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Node makes the history of a node whose drives are of one model and share what the host does to them. The drives by
// themselves are quiet streams; see Stream.
type Node struct {
	// Kind is one of NodeKinds, and Noise one of SharedNoises.
	Kind, Noise string
	Seed        uint64
	// Drives is the number of drives; 12 when zero.
	Drives int
	Days   float64
	// Interval is the time between rounds; a minute when zero.
	Interval time.Duration
}

// NodeKinds lists what can happen on a node:
//
//	none      nothing
//	one       single drives get slower, each in another way: +10 %, +20 %, 2 ×, p99 × 2, each tenth round 5 ×
//	host      all drives get 20 % slower at one moment
//	batch     a third of the drives get 30 % slower at one moment
//	most      7 of 12 drives get 30 % slower at one moment, which is still a batch
//	born      one drive is 1.4 times slower from its first round on
//	hostthen  the host gets 20 % slower, and a day later one drive 20 % slower than that
func NodeKinds() []string {
	return []string{"none", "one", "host", "batch", "most", "born", "hostthen"}
}

// Scenario returns the node's history.
func (n Node) Scenario() Scenario {
	if n.Drives == 0 {
		n.Drives = 12
	}
	if n.Interval == 0 {
		n.Interval = time.Minute
	}
	s := Scenario{
		Kind: n.Kind, Noise: n.Noise, Noises: []string{n.Noise}, Interval: n.Interval,
		Duration: time.Duration(n.Days * 24 * float64(time.Hour)),
	}
	rng := n.random(1)
	when := time.Duration((0.45 + 0.2*rng.Float64()) * float64(s.Duration)).Truncate(n.Interval)
	streams := make([]Stream, n.Drives)
	for i := range streams {
		streams[i] = Stream{Kind: "none", Noise: "quiet", Seed: rng.Uint64(), Days: n.Days, Interval: n.Interval}
		s.Drives = append(s.Drives, Drive{ID: fmt.Sprintf("d%02d", i), Model: "M", SizeBytes: 1 << 40, To: s.Duration})
	}
	happens := func(i int, kind string, scope Scope, onset time.Duration, slower float64) {
		s.Drives[i].Episodes = append(s.Drives[i].Episodes, Episode{Kind: kind, Scope: scope, Onset: onset, End: s.Duration, Slower: slower})
	}
	switch n.Kind {
	case "one":
		places := rng.Perm(n.Drives)
		for i, kind := range []string{"step10", "step20", "double", "tail", "intermittent"} {
			if i < n.Drives {
				streams[places[i]].Kind = kind
				happens(places[i], kind, OfDrive, streams[places[i]].Label().Onset, max(ratio(kind), 1))
			}
		}
	case "host", "hostthen":
		s.Host = []Episode{{Kind: "host20", Scope: OfHost, Onset: when, End: s.Duration, Slower: 1.2}}
		if n.Kind == "hostthen" {
			happens(rng.IntN(n.Drives), "after host", OfDrive, when+24*time.Hour, 1.2)
		}
	case "batch", "most":
		many, kind := n.Drives/3, "batch30"
		if n.Kind == "most" {
			many, kind = n.Drives*7/12, "most30"
		}
		for i := range many {
			happens(i, kind, OfBatch, when, 1.3)
		}
	case "born":
		happens(0, "born40", OfDrive, 0, 1.4)
	}
	s.Samples = n.samples(&s, streams)
	return s
}

func (n Node) random(use uint64) *rand.Rand {
	return Stream{Kind: n.Kind, Noise: n.Noise, Seed: n.Seed}.random(use)
}

// samples joins the streams of the drives under one host.
func (n Node) samples(s *Scenario, streams []Stream) iter.Seq2[int, Sample] {
	return func(yield func(int, Sample) bool) {
		rng := n.random(2)
		host := newShared(n.Noise, rng, n.Interval)
		base := 60e-6 + 50e-6*rng.Float64()
		next, stop := pull(streams)
		defer stop()
		scale := make([]float64, len(streams))
		for at := time.Duration(0); at < s.Duration; at += n.Interval {
			factor := host.next(at) * slower(s.Host, at)
			for i, d := range s.Drives {
				r, ok := next[i]()
				if !ok {
					return
				}
				if at == 0 {
					scale[i] = base * (0.97 + 0.06*rng.Float64()) / r.Values[0]
				}
				k := scale[i] * factor
				if streams[i].Kind == "none" { // other kinds of streams get slower by themselves
					k *= slower(d.Episodes, at)
				}
				if !yield(i, Sample{Time: r.Time, Conditions: r.Conditions, Values: times(r.Values, k), Utilisation: r.Utilisation}) {
					return
				}
			}
		}
	}
}

// pull returns functions that return the next round of each stream.
func pull(streams []Stream) (next []func() (Round, bool), stop func()) {
	stops := make([]func(), len(streams))
	next = make([]func() (Round, bool), len(streams))
	for i, s := range streams {
		next[i], stops[i] = iter.Pull(s.Rounds())
	}
	return next, func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// slower returns how many times slower episodes make a drive at a time.
func slower(episodes []Episode, at time.Duration) float64 {
	k := 1.0
	for _, e := range episodes {
		if at >= e.Onset && at < e.End {
			k *= e.Slower
		}
	}
	return k
}

// times returns values k times slower.
func times(v drift.Values, k float64) drift.Values {
	for i, s := range record.Statistics() {
		if s == record.IOPS {
			v[i] /= k
		} else {
			v[i] *= k
		}
	}
	return v
}
