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
	// Complete is when the last complete run ended; kept over restarts.
	Complete time.Time `json:"complete,omitzero"`
	// Last is the report of the last run that measured anything; kept over restarts.
	Last *RunReport `json:"last,omitempty"`
	// Comparison sets it against the stored runs before it under the same conditions; nil
	// when it measured nothing.
	Comparison *Comparison `json:"comparison,omitempty"`
}

// NewRunStatus is that of a suite that has never run: every outcome is counted from 0.
func NewRunStatus(suite string) RunStatus {
	s := RunStatus{Suite: suite, Outcomes: map[RunOutcome]uint64{}}
	for _, o := range RunOutcomes() {
		s.Outcomes[o] = 0
	}
	return s
}
