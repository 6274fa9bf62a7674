package drifttest

import (
	_ "embed"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SharedNoises lists what a host does to all of its drives at once.
func SharedNoises() []string {
	return []string{"calm", "wander", "bimodal", "backup", "thermal", "trace"}
}

// sharedTrace holds median latencies of rounds recorded every 10 s on a virtual disk of a shared machine, in
// units of 10 ns.
//
//go:embed trace.txt
var sharedTrace string

// recordedLevels returns the trace relative to its median.
func recordedLevels() []float64 {
	var levels []float64
	for line := range strings.Lines(sharedTrace) {
		v, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			panic(err) // the file is part of the program
		}
		levels = append(levels, v)
	}
	middle := slices.Sorted(slices.Values(levels))[len(levels)/2]
	for i := range levels {
		levels[i] /= middle
	}
	return levels
}

// shared is what a host does to its drives: one factor for all of them at a moment.
type shared struct {
	name     string
	rng      *rand.Rand
	interval time.Duration

	wandered  float64
	slow      bool
	recorded  []float64
	at, piece int
}

func newShared(name string, rng *rand.Rand, interval time.Duration) *shared {
	s := &shared{name: name, rng: rng, interval: interval}
	if name == "trace" {
		s.recorded = recordedLevels()
	}
	return s
}

// next returns how many times slower the host makes its drives.
func (s *shared) next(at time.Duration) float64 {
	step := s.interval.Seconds()
	switch s.name {
	case "wander": // by about 4 % over 33 hours
		s.wandered = (1-step/120000)*s.wandered + 0.0012*math.Sqrt(step/60)*s.rng.NormFloat64()
		return math.Exp(s.wandered)
	case "bimodal": // two frequencies of the CPU
		if s.rng.Float64() < step/5400 {
			s.slow = !s.slow
		}
		if s.slow {
			return 1.06
		}
	case "backup": // two hours a night, in no reported load
		if at%(24*time.Hour) < 2*time.Hour {
			return 1.5 * math.Exp(0.03*s.rng.NormFloat64())
		}
	case "thermal":
		return 1 + 0.05*math.Sin(2*math.Pi*at.Hours()/24)
	case "trace":
		if s.piece == 0 {
			s.at, s.piece = s.rng.IntN(len(s.recorded)), 10+s.rng.IntN(30)
		}
		v := s.recorded[s.at%len(s.recorded)]
		s.at, s.piece = s.at+1, s.piece-1
		return v
	}
	return 1
}
