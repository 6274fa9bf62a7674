package record

import "time"

// RunOutcome tells how a run of the calendar went.
type RunOutcome string

// The outcomes of a run.
const (
	RunOK      RunOutcome = "ok"      // measured all of it
	RunShort   RunOutcome = "short"   // ended early: the window closed, the host was too busy, or the permit of the fleet was lost
	RunRefused RunOutcome = "refused" // not begun: the device was busy, or other nodes ran, all through the window
	RunError   RunOutcome = "error"   // could not measure
)

// RunOutcomes lists all of them.
func RunOutcomes() []RunOutcome { return []RunOutcome{RunOK, RunShort, RunRefused, RunError} }

// RunStatus is what is known of one suite on one target.
type RunStatus struct {
	Suite    string                `json:"suite"`
	Outcomes map[RunOutcome]uint64 `json:"outcomes"`
	// Problem says what went wrong the last time; empty when nothing did.
	Problem string `json:"problem,omitempty"`
	// Since is when the run in progress began; zero when none is.
	Since time.Time `json:"since,omitzero"`
	// Waits says why the run that is due has not begun or gone on; empty when none waits.
	Waits string `json:"waits,omitempty"`
	// Next is when the calendar has it due: the first time after the last complete run, so
	// it lies in the past while that run is owed; zero when no calendar has it.
	Next time.Time `json:"next,omitzero"`
	// Complete is when the last run that came to its end was over; kept over restarts.
	Complete time.Time `json:"complete,omitzero"`
	// Last is the report of the last run that measured anything; kept over restarts.
	Last *RunReport `json:"last,omitempty"`
	// Figures compare it with the stored runs before it under the same conditions.
	Figures []RunFigure `json:"figures,omitempty"`
}

// NewRunStatus is that of a suite that has never run: every outcome is counted from 0.
func NewRunStatus(suite string) RunStatus {
	s := RunStatus{Suite: suite, Outcomes: map[RunOutcome]uint64{}}
	for _, o := range RunOutcomes() {
		s.Outcomes[o] = 0
	}
	return s
}

// RunFigure is a figure of a run beside those of earlier runs of the same suite and
// step under the same conditions.
type RunFigure struct {
	Step      string    `json:"step"`
	Direction Direction `json:"direction"`
	Statistic Statistic `json:"statistic"`
	// Runs is how many earlier ones there are.
	Runs int `json:"runs"`
	// Median, Best and Worst are theirs, in the statistic's unit; 0 without any.
	Median float64 `json:"median,omitempty"`
	Best   float64 `json:"best,omitempty"`
	Worst  float64 `json:"worst,omitempty"`
	// Ratio is how many times slower than their median the run was; 0 without any.
	Ratio   float64    `json:"ratio,omitempty"`
	Verdict RunVerdict `json:"verdict"`
}

// RunVerdict says how a run compares with those before it.
type RunVerdict string

// The verdicts on a figure of a run.
const (
	RunFew    RunVerdict = "few_runs" // fewer than four earlier ones: nothing can be said
	RunAlike  RunVerdict = "alike"
	RunSlower RunVerdict = "slower"
	RunFaster RunVerdict = "faster"
)
