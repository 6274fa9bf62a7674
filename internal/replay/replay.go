package replay

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Source yields samples in order of time, and io.EOF after the last one. Its errors say whose history it is.
type Source interface {
	Next(ctx context.Context) (Sample, error)
}

// Seconds is a time that is written to JSON as unix seconds, like in the CSV.
type Seconds time.Time

// MarshalJSON encodes unix seconds with as many decimals as needed.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Time(s).UnixMilli())/1e3, 'f', -1, 64), nil
}

// String returns the time for people, in UTC, which whoever writes it has to say.
func (s Seconds) String() string { return time.Time(s).UTC().Format("2006-01-02 15:04") }

// Line is a change of a verdict or of the state of one statistic. Its JSON form is a line of a
// replay's output.
type Line struct {
	// Time is not set in the verdict on a drive of which nothing was told.
	Time Seconds `json:"time,omitzero"`
	// Drive is empty in a line about the host.
	Drive string       `json:"drive,omitempty"`
	Scope record.Scope `json:"scope"`
	// Drives lists the drives that a line about the host names.
	Drives []string `json:"drives,omitempty"`
	// Verdict is the verdict on the drive as a whole. In a line about a single statistic it is watch
	// at most.
	Verdict record.DriveVerdict `json:"verdict"`
	// Source is the probe or the traffic, and Statistic the statistic that changed. Both are empty in
	// lines about verdicts.
	Source    string           `json:"source,omitempty"`
	Statistic record.Statistic `json:"statistic,omitempty"`
	State     State            `json:"state"`
	// Ratio is how many times slower the drive is than its baseline, with its 95 % interval; 0 while
	// there is nothing to compare.
	Ratio float64 `json:"ratio,omitempty"`
	Lower float64 `json:"lower,omitempty"`
	Upper float64 `json:"upper,omitempty"`
	// Since is the estimated onset.
	Since       Seconds         `json:"since,omitzero"`
	Witnesses   []string        `json:"witnesses,omitempty"`
	Cause       record.Cause    `json:"cause,omitempty"`
	Attribution []record.Change `json:"attribution,omitempty"`
	// Effect is the effect of a change of conditions. It is set when the first baseline under the new
	// conditions is complete.
	Effect *record.Ratio `json:"effect,omitempty"`
}

// slower returns the line with how many times slower something is since when.
func (l Line) slower(by record.Ratio, since time.Time) Line {
	l.Ratio, l.Lower, l.Upper, l.Since = fourDecimals(by.Ratio), fourDecimals(by.Lower), fourDecimals(by.Upper), Seconds(since)
	return l
}

// IsZero reports whether the time is not set.
func (s Seconds) IsZero() bool { return time.Time(s).IsZero() }

// State is the state of a statistic, a record.DriftState. In lines about verdicts it is the nearest
// such state, or unknown.
type State string

// unknown is the state of a drive for which nothing was compared.
const unknown = State(record.Unjudged)

// stateOf returns the state that is nearest to a verdict.
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

// verdictOf returns the verdict that follows from the state of one statistic alone.
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

// Report is the result of a replay.
type Report struct {
	// Rounds is the number of rounds of all drives.
	Rounds int     `json:"rounds"`
	From   Seconds `json:"from"`
	To     Seconds `json:"to"`
	Lines  []Line  `json:"changes,omitempty"`
	// Drives holds the final state of each drive, the worst first.
	Drives []DriveReport `json:"drives"`
}

// DriveReport is the final state of a drive.
type DriveReport struct {
	Drive string `json:"drive"`
	Model string `json:"model,omitempty"`
	// Verdict is the last line about the drive as a whole, with its ratio and onset at the end.
	Verdict Line `json:"verdict"`
	// Now is the final state of the probe, and Traffic that of the traffic; nil when the history has
	// none.
	Now     *drift.Explanation `json:"now,omitempty"`
	Traffic *drift.Explanation `json:"traffic,omitempty"`

	plot history
}

// Run does what RunNode does for the history of a single drive.
func Run(ctx context.Context, drive string, from Source, settings drift.Settings, emit func(Line) error) (*Report, error) {
	d := Drive{History: from}
	d.ID = drive
	return RunNode(ctx, []Drive{d}, settings, emit)
}

// fourDecimals rounds to four decimals, more than any ratio is accurate to.
func fourDecimals(v float64) float64 { return math.Round(v*1e4) / 1e4 }
