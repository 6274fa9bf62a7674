package drifttest

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Stream describes a history to make.
type Stream struct {
	Kind  string
	Noise string
	Seed  uint64
	Days  float64
	// Interval is the time between rounds; a minute when zero.
	Interval time.Duration
}

// Round is a round of a stream.
type Round struct {
	drift.Round
	Conditions record.Conditions
}

// Label says what happens in a stream.
type Label struct {
	Kind  string
	Noise string
	// Onset and End bound what happens, since the start of the stream. Onset is negative when nothing happens.
	Onset, End time.Duration
	// Duration is the length of the stream.
	Duration time.Duration
}

// Quiet reports whether nothing gets slower by itself, so that every regression
// is a false alarm.
func (l Label) Quiet() bool {
	switch l.Kind {
	case "none", "load", "firmware", "improve":
		return true
	}
	return false
}

// Start is when streams start.
func Start() time.Time { return time.Unix(0, 0).UTC() }

// Kinds lists what can happen.
func Kinds() []string {
	return []string{
		"none", "step10", "step20", "step50", "double", "tail", "creep", "intermittent",
		"improve", "load", "firmware", "transient",
	}
}

// Noises lists what goes on all the time.
func Noises() []string {
	return []string{
		"quiet", "diurnal", "bursty", "gappy", "correlated", "heavy", "queueing", "collecting",
		"coarse", "wide", "pausing", "wandering",
	}
}

// ratio returns how many times slower a kind makes all rounds that it affects.
func ratio(kind string) float64 {
	switch kind {
	case "step10":
		return 1.10
	case "step20":
		return 1.20
	case "step50":
		return 1.5
	case "double":
		return 2
	case "intermittent":
		return 5
	case "improve":
		return 0.8
	case "firmware":
		return 1.25
	case "transient":
		return 3
	}
	return 1
}

func (s Stream) interval() time.Duration {
	if s.Interval <= 0 {
		return time.Minute
	}
	return s.Interval
}

func (s Stream) random(use uint64) *rand.Rand {
	var name uint64
	for _, c := range s.Kind + "/" + s.Noise {
		name = name*1099511628211 + uint64(c)
	}
	return rand.New(rand.NewPCG(s.Seed, name^use)) //nolint:gosec // a stream is to be the same every time
}

// Label returns what happens in the stream.
func (s Stream) Label() Label {
	rng := s.random(1)
	l := Label{Kind: s.Kind, Noise: s.Noise, Duration: time.Duration(s.Days * 24 * float64(time.Hour)), Onset: -1}
	part := 0.45 + 0.2*rng.Float64()
	if s.Kind == "creep" {
		part = 0.35
	}
	l.End = l.Duration
	if s.Kind != "none" {
		l.Onset = time.Duration(part * float64(l.Duration)).Truncate(s.interval())
	}
	if s.Kind == "transient" {
		l.End = min(l.Duration, l.Onset+time.Duration(20+70*rng.Float64())*time.Minute)
	}
	return l
}

// Rounds makes the stream.
func (s Stream) Rounds() iter.Seq[Round] {
	return func(yield func(Round) bool) {
		rng, label := s.random(2), s.Label()
		n := newNoise(s.Noise, rng, s.interval())
		for at := time.Duration(0); at < label.Duration; at += s.interval() {
			happens := label.Onset >= 0 && at >= label.Onset && at < label.End
			f := n.next(at, s.Kind == "load" && happens)
			slower := 1.0
			if happens {
				slower = ratio(s.Kind)
				switch s.Kind {
				case creep:
					slower = Episode{Kind: creep, Onset: label.Onset}.SlowerAt(at)
				case "tail":
					f.p99, f.mean = 2*f.p99, f.mean+0.01*f.p99
				case intermittent:
					if rng.Float64() > 0.1 {
						slower = 1
					}
				}
			}
			if n.missing() {
				continue
			}
			conditions := record.Conditions{Firmware: "A"}
			if s.Kind == "firmware" && happens {
				conditions.Firmware = "B"
			}
			if !yield(Round{
				Round:      drift.Round{Time: Start().Add(at), Values: f.values(slower, n.step), Utilisation: f.load},
				Conditions: conditions,
			}) {
				return
			}
		}
	}
}

// figures are the figures of a round, in seconds.
type figures struct{ p50, p95, p99, mean, load float64 }

// values returns the statistics. If step is above 0, they are measured by a clock that counts in such steps.
func (f figures) values(slower, step float64) drift.Values {
	p50, p95, p99, mean := f.p50*slower, f.p95*slower, f.p99*slower, f.mean*slower
	if step > 0 {
		tick := func(v float64) float64 { return step * max(1, math.Round(v/step)) }
		p50, p95, p99 = tick(p50), tick(p95), tick(p99)
	}
	p95 = max(p95, p50)
	return drift.Values{p50, p95, max(p99, p95), 1 / mean}
}
