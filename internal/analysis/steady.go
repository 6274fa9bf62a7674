package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Rule defines when rounds count as steady.
type Rule struct {
	Window             int     // rounds
	MaxRange, MaxSlope float64 // shares of the mean
}

// PTS returns the rule of the SNIA Performance Test Specification 2.0.2, section 2.1.24:
// over five rounds, a range of at most 20 % of the mean, and a fitted line that rises or
// falls by at most 10 % of it.
func PTS() Rule { return Rule{Window: 5, MaxRange: 0.20, MaxSlope: 0.10} }

// Steadiness evaluates the steps that are rounds (Workload.Round); nil when there are
// none. A round that was cut short does not count. Writes of other steps are
// preconditioning, and count as written.
func Steadiness(steps []record.Step, rule Rule) *record.Steady {
	s := record.Steady{Window: rule.Window, MaxRange: rule.MaxRange, MaxSlope: rule.MaxSlope}
	var values []float64
	var rounds []record.Step
	var written int64
	for _, step := range complete(steps) {
		if step.Write != nil {
			written += step.Write.Bytes
		}
		if step.Workload == nil || step.Workload.Round == 0 {
			continue
		}
		value, unit := rateOf(*step.Workload, step)
		s.Unit = unit
		values, rounds = append(values, value), append(rounds, step)
		s.Path = append(s.Path, record.SteadyRound{
			Round: step.Workload.Round, Value: value, Mean: results(step)[0].Mean, WrittenBytes: written,
		})
	}
	if len(values) == 0 {
		return nil
	}
	end := rule.firstWindow(values)
	s.Reached = end > 0
	if s.Reached {
		s.Round = s.Path[end-1].Round
	} else {
		end = len(values)
	}
	begin := max(0, end-rule.Window)
	window := values[begin:end]
	for _, round := range rounds[begin:end] {
		s.Codes = addSpoiled(s.Codes, round)
	}
	s.Mean, s.RangeRatio, s.SlopeRatio = rule.measure(window)
	s.Fresh = values[0] / s.Mean
	phases(&s, end)
	return &s
}

// firstWindow returns the number of rounds after which a window first meets the rule; 0
// when none does.
func (r Rule) firstWindow(values []float64) int {
	for end := r.Window; end <= len(values); end++ {
		_, spread, slope := r.measure(values[end-r.Window : end])
		if spread <= r.MaxRange && slope <= r.MaxSlope {
			return end
		}
	}
	return 0
}

// measure returns the mean of a window, its range, and the excursion of the line fitted
// to it by least squares. The range and the excursion are relative to the mean.
func (Rule) measure(window []float64) (mean, spread, slope float64) {
	n := float64(len(window))
	mean = stat.Mean(window, nil)
	var sxy, sxx float64
	for i, v := range window {
		x := float64(i) - (n-1)/2
		sxy += x * (v - mean)
		sxx += x * x
	}
	if sxx > 0 {
		slope = math.Abs(sxy/sxx) * (n - 1) / mean
	}
	return mean, (slices.Max(window) - slices.Min(window)) / mean, slope
}

// phases assigns a phase to each round. A round is steady from the start of the window
// that meets the rule. It is fresh while it and all rounds before it are nearer to the
// first round than to the mean of the window. It is in transition otherwise.
func phases(s *record.Steady, end int) {
	fresh := true
	first := s.Path[0].Value
	for i := range s.Path {
		round := &s.Path[i]
		fresh = fresh && math.Abs(round.Value-first) <= math.Abs(round.Value-s.Mean)
		switch {
		case s.Reached && i >= end-s.Window:
			round.Phase = PhaseSteady
		case fresh:
			round.Phase = PhaseFresh
		default:
			round.Phase = PhaseTransition
		}
	}
}

// The phases on the way to the steady state.
const (
	PhaseFresh      = "fresh"
	PhaseTransition = "transition"
	PhaseSteady     = "steady"
)
