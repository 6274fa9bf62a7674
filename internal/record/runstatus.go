package record

import "time"

// RunOutcome says how a scheduled run ended.
type RunOutcome string

// The outcomes of a run.
const (
	RunOK      RunOutcome = "ok"      // measured everything
	RunShort   RunOutcome = "short"   // ended early: the window closed, the host was too busy, or the permit of the fleet was lost
	RunRefused RunOutcome = "refused" // not started: the device was busy, or other nodes ran, throughout the window
	RunError   RunOutcome = "error"   // could not measure
)

// RunOutcomes lists all outcomes.
func RunOutcomes() []RunOutcome { return []RunOutcome{RunOK, RunShort, RunRefused, RunError} }

// RunStatus is the status of one suite on one target.
type RunStatus struct {
	Suite    string                `json:"suite"`
	Outcomes map[RunOutcome]uint64 `json:"outcomes"`
	// Problem says what went wrong the last time; empty when nothing did.
	Problem string `json:"problem,omitempty"`
	// Since is when the run in progress began; zero when none is in progress.
	Since time.Time `json:"since,omitzero"`
	// Waits says why a run that is due has not started or continued; empty when no run waits.
	Waits string `json:"waits,omitempty"`
	// Next is when the next run is due: the first scheduled time after the last complete run. It lies in the past
	// while that run is overdue. It is zero when the suite is not scheduled.
	Next time.Time `json:"next,omitzero"`
	// Complete is when the last complete run ended. It is kept over restarts.
	Complete time.Time `json:"complete,omitzero"`
	// Last is the report of the last run that measured anything. It is kept over restarts.
	Last *RunReport `json:"last,omitempty"`
	// Comparison compares Last with the earlier stored runs under the same conditions; nil when Last measured
	// nothing.
	Comparison *Comparison `json:"comparison,omitempty"`
}

// NewRunStatus returns the status of a suite that has never run. Every outcome has a count of 0.
func NewRunStatus(suite string) RunStatus {
	s := RunStatus{Suite: suite, Outcomes: map[RunOutcome]uint64{}}
	for _, o := range RunOutcomes() {
		s.Outcomes[o] = 0
	}
	return s
}
