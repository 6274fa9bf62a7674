package record

import "time"

// RunOutcome tells how a run of the calendar went.
type RunOutcome string

// The outcomes of a run.
const (
	RunOK      RunOutcome = "ok"      // measured all of it
	RunShort   RunOutcome = "short"   // ended early: the window closed, or the host was too busy
	RunRefused RunOutcome = "refused" // not begun: the device was busy all through the window
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
	// Next is when it is due again; zero when no calendar has it.
	Next time.Time `json:"next,omitzero"`
	// Last is the report of the last run that measured anything; kept over restarts.
	Last *RunReport `json:"last,omitempty"`
}
