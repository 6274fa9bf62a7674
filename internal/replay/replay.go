package replay

import (
	"context"
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Source yields rounds in the order of time, and io.EOF after the last.
type Source interface {
	Next(ctx context.Context) (Round, error)
}

// Seconds is a time that JSON writes as unix seconds, as the CSV has it.
type Seconds time.Time

// MarshalJSON writes unix seconds with as many decimals as are needed.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Time(s).UnixMilli())/1e3, 'f', -1, 64), nil
}

// String writes the time for people, in UTC.
func (s Seconds) String() string { return time.Time(s).UTC().Format("2006-01-02 15:04") }

// Line is a change of state, and with its JSON a line of a replay's output.
type Line struct {
	Time      Seconds           `json:"time"`
	Statistic record.Statistic  `json:"statistic"`
	State     record.DriftState `json:"state"`
	// Ratio is how many times slower than the baseline, with its 95 % interval; 0
	// while there is nothing to compare.
	Ratio float64 `json:"ratio,omitempty"`
	Lower float64 `json:"lower,omitempty"`
	Upper float64 `json:"upper,omitempty"`
	// Since is the estimated onset.
	Since       Seconds         `json:"since"`
	Cause       record.Cause    `json:"cause,omitempty"`
	Attribution []record.Change `json:"attribution,omitempty"`
	// Effect is told when the first baseline under new conditions is complete: what
	// the change of conditions did.
	Effect *record.Ratio `json:"effect,omitempty"`
}

// Report is what a replay comes to.
type Report struct {
	Rounds int     `json:"rounds"`
	From   Seconds `json:"from"`
	To     Seconds `json:"to"`
	Lines  []Line  `json:"changes,omitempty"`
	// Now is the state at the end.
	Now drift.Explanation `json:"now"`

	plot history
}

// Run feeds all rounds of a history to the tracker that the daemon uses. Each
// change of state is handed to emit when it happens, or kept in the report when
// emit is nil.
func Run(ctx context.Context, from Source, settings drift.Settings, emit func(Line) error) (*Report, error) {
	out := &Report{}
	if emit == nil {
		emit = func(l Line) error {
			out.Lines = append(out.Lines, l)
			return nil
		}
	}
	t := drift.NewTracker(settings)
	var states map[record.Statistic]record.DriftState
	for {
		r, err := from.Next(ctx)
		if errors.Is(err, io.EOF) {
			out.Now = t.Explain()
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if out.Rounds == 0 {
			out.From = Seconds(r.Time)
		}
		out.Rounds++
		out.To = Seconds(r.Time)
		events := t.AddRound(r.Round, r.Conditions)
		if len(events) > 0 || states == nil {
			if states, err = changes(t, r.Time, events, states, emit); err != nil {
				return nil, err
			}
		}
		if b, ok := t.LastBlock(); ok {
			out.plot.add(b, states)
		}
	}
}

// changes emits a line for each statistic whose state is not the one told before.
func changes(
	t *drift.Tracker, now time.Time, events []drift.Event, before map[record.Statistic]record.DriftState, emit func(Line) error,
) (map[record.Statistic]record.DriftState, error) {
	var effect *record.Effect
	for _, e := range events {
		if e.Effect != nil {
			effect = e.Effect
		}
	}
	after := map[record.Statistic]record.DriftState{}
	for _, d := range t.Status(now).Drift {
		after[d.Statistic] = d.State
		if before[d.Statistic] == d.State {
			continue
		}
		line := Line{
			Time: Seconds(now), Statistic: d.Statistic, State: d.State, Ratio: fourDecimals(d.Ratio), Lower: fourDecimals(d.Lower), Upper: fourDecimals(d.Upper),
			Since: Seconds(d.Since), Cause: d.Cause, Attribution: d.Attribution,
		}
		if effect != nil {
			ratio := effect.Ratios[d.Statistic]
			ratio = record.Ratio{Ratio: fourDecimals(ratio.Ratio), Lower: fourDecimals(ratio.Lower), Upper: fourDecimals(ratio.Upper)}
			line.Effect, line.Attribution = &ratio, effect.Changes
		}
		if err := emit(line); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// fourDecimals are more than any ratio is known to.
func fourDecimals(v float64) float64 { return math.Round(v*1e4) / 1e4 }
