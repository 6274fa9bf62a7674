package record

import "time"

// Verdict is what a comparison of runs comes to.
type Verdict string

// The verdicts.
const (
	Slower Verdict = "slower"
	Faster Verdict = "faster"
	Same   Verdict = "same" // no change beyond the threshold
	// Inconclusive means that the runs cannot tell; a reason comes with it.
	Inconclusive Verdict = "inconclusive"
)

// Comparison sets a run against one earlier run, or against a history of them.
type Comparison struct {
	// Before is the earlier run, the latest one of a history.
	Before RunReference `json:"before"`
	// Runs is how many earlier runs a load is compared with at most: 1 for a pair.
	Runs  int          `json:"runs"`
	After RunReference `json:"after"`
	// Threshold is the largest slow-down that still passes as the same: at 0.2 a
	// ratio above 1.2 is slower, and one below 1/1.2 is faster.
	Threshold float64 `json:"threshold"`
	Verdict   Verdict `json:"verdict"`
	// Reason says what to do and why when the verdict is inconclusive; empty else.
	Reason string `json:"reason,omitempty"`
	// Conditions are what differs between the two runs besides the figures.
	Conditions  []Change        `json:"conditions_changed,omitempty"`
	Warnings    []Warning       `json:"warnings,omitempty"`
	Loads       []ComparedLoad  `json:"loads,omitempty"`
	NotCompared []UnmatchedLoad `json:"not_compared,omitempty"`
}

// Unknown reports whether the conditions of a side are unknown, as it was made of fio's own output.
func (c Comparison) Unknown() bool {
	return c.Before.Suite == ImportedSuite || c.After.Suite == ImportedSuite
}

// RunReference tells which run a side of a comparison is.
type RunReference struct {
	Suite     string    `json:"suite"`
	TargetID  string    `json:"target_id"`
	Target    string    `json:"target"`
	Node      string    `json:"node"`
	Started   time.Time `json:"started"`
	Generator string    `json:"generator"`
}

// Reference tells which run r is.
func (r *RunReport) Reference() RunReference {
	return RunReference{
		Suite: r.Suite, TargetID: r.TargetID, Target: r.Target,
		Node: r.Node, Started: r.Started, Generator: r.Generator,
	}
}

// ComparedLoad compares one direction of one load, its repeats taken together.
type ComparedLoad struct {
	Load      string    `json:"load"` // the step, or the series of its repeats
	Plan      string    `json:"plan"`
	Direction Direction `json:"direction"` // read, write or sync
	// Before and After are how many values each side has: repeats of a pair, runs of
	// a history.
	Before int `json:"values_before"`
	After  int `json:"values_after"`
	// Ignored is the code of the warning for which the load does not decide; empty
	// when it may.
	Ignored string           `json:"ignored,omitempty"`
	Verdict Verdict          `json:"verdict"`
	Figures []ComparedFigure `json:"figures"`
	// Warnings are those that either run attached to the steps.
	Warnings []Warning `json:"warnings,omitempty"`
}

// ComparedFigure compares one statistic; values are in its unit.
type ComparedFigure struct {
	Statistic Statistic `json:"statistic"`
	// Before and After are medians of the values of each side; 0 without any.
	Before float64 `json:"before,omitempty"`
	After  float64 `json:"after"`
	// Best and Worst are those of the earlier values.
	Best  float64 `json:"before_best,omitempty"`
	Worst float64 `json:"before_worst,omitempty"`
	// Slower is how many times slower: above 1 is worse for every statistic. Its
	// interval is known when there are repeats enough. 0 without earlier values.
	Slower Interval `json:"times_slower"`
	// P is the probability of a difference as large by chance; nil when not tested.
	P       *float64 `json:"p,omitempty"`
	Verdict Verdict  `json:"verdict"`
}

// UnmatchedLoad has nothing to be compared with.
type UnmatchedLoad struct {
	Load      string    `json:"load"`
	Direction Direction `json:"direction"`
	Reason    string    `json:"reason"`
}
