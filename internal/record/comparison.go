package record

import (
	"slices"
	"time"
)

// Verdict is the result of a comparison of runs.
type Verdict string

// The verdicts.
const (
	Slower Verdict = "slower"
	Faster Verdict = "faster"
	Same   Verdict = "same" // no change beyond the threshold
	// Inconclusive means that the runs do not allow a verdict. A reason accompanies it.
	Inconclusive Verdict = "inconclusive"
)

// Comparison compares a run with one earlier run, or with a history of earlier runs.
type Comparison struct {
	// Before is the earlier run, or the latest run of the history.
	Before RunReference `json:"before"`
	// Runs is the largest number of earlier runs that a load is compared with; 1 for a pair of runs.
	Runs  int          `json:"runs"`
	After RunReference `json:"after"`
	// Threshold is the largest slow-down that still counts as the same. With 0.2, a ratio above 1.2 is slower and one
	// below 1/1.2 is faster.
	Threshold float64 `json:"threshold"`
	Verdict   Verdict `json:"verdict"`
	// Reason says why the verdict is inconclusive and what to do about it; empty for other verdicts.
	Reason string `json:"reason,omitempty"`
	// Conditions lists the conditions that differ between the two runs.
	Conditions  []Change        `json:"conditions_changed,omitempty"`
	Warnings    []Warning       `json:"warnings,omitempty"`
	Loads       []ComparedLoad  `json:"loads,omitempty"`
	NotCompared []UnmatchedLoad `json:"not_compared,omitempty"`
}

// Unknown reports whether either side was made from fio's own output, so that its conditions are unknown.
func (c Comparison) Unknown() bool {
	return c.Before.Suite == ImportedSuite || c.After.Suite == ImportedSuite
}

// CountLoads returns how many loads have a figure with a verdict.
func (c Comparison) CountLoads(v Verdict) int {
	n := 0
	for _, l := range c.Loads {
		if slices.ContainsFunc(l.Figures, func(f ComparedFigure) bool { return f.Verdict == v }) {
			n++
		}
	}
	return n
}

// RunReference identifies a run in a comparison.
type RunReference struct {
	Suite     string    `json:"suite"`
	TargetID  string    `json:"target_id"`
	Target    string    `json:"target"`
	Node      string    `json:"node"`
	Started   time.Time `json:"started"`
	Generator string    `json:"generator"`
}

// Reference returns the reference that identifies r.
func (r *RunReport) Reference() RunReference {
	return RunReference{
		Suite: r.Suite, TargetID: r.TargetID, Target: r.Target,
		Node: r.Node, Started: r.Started, Generator: r.Generator,
	}
}

// ComparedLoad compares one direction of one load, over all of its repeats.
type ComparedLoad struct {
	Load      string    `json:"load"` // the step, or the series of its repeats
	Plan      string    `json:"plan"`
	Direction Direction `json:"direction"` // read, write or sync
	// Before and After are the numbers of values on each side: the repeats when two runs are compared, the runs when
	// there is a history.
	Before int `json:"values_before"`
	After  int `json:"values_after"`
	// Ignored is the code of the warning because of which the load does not affect the verdict of the comparison;
	// empty when it does.
	Ignored string           `json:"ignored,omitempty"`
	Verdict Verdict          `json:"verdict"`
	Figures []ComparedFigure `json:"figures"`
	// Warnings are the warnings that either run attached to the steps of the load.
	Warnings []Warning `json:"warnings,omitempty"`
}

// ComparedFigure compares one statistic. Its values are in the unit of the statistic.
type ComparedFigure struct {
	Statistic Statistic `json:"statistic"`
	// Before and After are the medians of each side; 0 when there are no values.
	Before float64 `json:"before,omitempty"`
	After  float64 `json:"after"`
	// BeforeUnsure and AfterUnsure are true when too few I/Os support a percentile; see Result.Unsure.
	BeforeUnsure bool `json:"before_unsure,omitempty"`
	AfterUnsure  bool `json:"after_unsure,omitempty"`
	// Best and Worst are the extremes of the earlier values.
	Best  float64 `json:"before_best,omitempty"`
	Worst float64 `json:"before_worst,omitempty"`
	// Slower is how many times slower the statistic has become; above 1 is worse for every statistic, and it is 0
	// without earlier values. Its interval is known when there are enough repeats.
	Slower Interval `json:"times_slower"`
	// P is the probability that chance alone causes a difference this large; nil when not tested.
	P       *float64 `json:"p,omitempty"`
	Verdict Verdict  `json:"verdict"`
}

// UnmatchedLoad is a load that could not be compared.
type UnmatchedLoad struct {
	Load      string    `json:"load"`
	Direction Direction `json:"direction"`
	Reason    string    `json:"reason"`
}
