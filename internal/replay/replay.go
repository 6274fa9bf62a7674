package replay

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Source yields samples in the order of time, and io.EOF after the last.
type Source interface {
	Next(ctx context.Context) (Sample, error)
}

// Seconds is a time that JSON writes as unix seconds, as the CSV has it.
type Seconds time.Time

// MarshalJSON writes unix seconds with as many decimals as are needed.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Time(s).UnixMilli())/1e3, 'f', -1, 64), nil
}

// String writes the time for people, in UTC.
func (s Seconds) String() string { return time.Time(s).UTC().Format("2006-01-02 15:04") }

// Line is a change of a verdict or of the state of one statistic, and with its JSON a line of
// a replay's output.
type Line struct {
	Time Seconds `json:"time"`
	// Drive is empty when the host is meant.
	Drive string       `json:"drive,omitempty"`
	Scope record.Scope `json:"scope"`
	// Drives are those that a finding about the host names.
	Drives []string `json:"drives,omitempty"`
	// Verdict is that of the drive as a whole. A single statistic alone is a suspicion at most.
	Verdict record.DriveVerdict `json:"verdict"`
	// Source is the probe, or the traffic, and Statistic the one that has changed; empty in
	// the lines of verdicts.
	Source    string           `json:"source,omitempty"`
	Statistic record.Statistic `json:"statistic,omitempty"`
	State     State            `json:"state"`
	// Ratio is how many times slower than the baseline, with its 95 % interval; 0
	// while there is nothing to compare.
	Ratio float64 `json:"ratio,omitempty"`
	Lower float64 `json:"lower,omitempty"`
	Upper float64 `json:"upper,omitempty"`
	// Since is the estimated onset.
	Since       Seconds         `json:"since,omitzero"`
	Witnesses   []string        `json:"witnesses,omitempty"`
	Cause       record.Cause    `json:"cause,omitempty"`
	Attribution []record.Change `json:"attribution,omitempty"`
	// Effect is told when the first baseline under new conditions is complete: what
	// the change of conditions did.
	Effect *record.Ratio `json:"effect,omitempty"`
}

// IsZero reports whether there is no time.
func (s Seconds) IsZero() bool { return time.Time(s).IsZero() }

// State is that of a statistic, a record.DriftState; in the lines of verdicts the nearest of
// them, or unknown.
type State string

// unknown is the state of a drive of which nothing was compared.
const unknown = State(record.Unjudged)

// stateOf is the state that is nearest to a verdict.
func stateOf(v record.DriveVerdict) State {
	switch v {
	case record.Degraded, record.Severe:
		return State(record.Regressed)
	case record.Watch:
		return State(record.Suspect)
	case record.Healthy:
		return State(record.Stable)
	case record.Unjudged:
	}
	return unknown
}

// verdictOf is what a statistic in a state says by itself.
func verdictOf(s record.DriftState) record.DriveVerdict {
	switch s {
	case record.Regressed, record.Suspect:
		return record.Watch
	case record.Stable, record.Improved:
		return record.Healthy
	case record.Learning, record.Waiting, record.Unknown:
	}
	return record.Unjudged
}

// Report is what a replay comes to.
type Report struct {
	// Rounds is how many of all drives there are.
	Rounds int     `json:"rounds"`
	From   Seconds `json:"from"`
	To     Seconds `json:"to"`
	Lines  []Line  `json:"changes,omitempty"`
	// Drives is what is known of each at the end, the worst first.
	Drives []DriveReport `json:"drives"`

	samples int
}

// DriveReport is what is known of a drive at the end.
type DriveReport struct {
	Drive string `json:"drive"`
	Model string `json:"model,omitempty"`
	// Verdict is the last line about the drive as a whole.
	Verdict Line `json:"verdict"`
	// Now is the state of its probe at the end, and Traffic that of its traffic; nil when the history
	// has none.
	Now     *drift.Explanation `json:"now,omitempty"`
	Traffic *drift.Explanation `json:"traffic,omitempty"`

	plot history
}

// Run is RunNode for the history of a single drive.
func Run(ctx context.Context, drive string, from Source, settings drift.Settings, emit func(Line) error) (*Report, error) {
	d := Drive{History: from}
	d.ID = drive
	return RunNode(ctx, []Drive{d}, settings, emit)
}

// fourDecimals are more than any ratio is known to.
func fourDecimals(v float64) float64 { return math.Round(v*1e4) / 1e4 }
