package drift

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Note is what an operator said about a baseline.
type Note struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
	// Ratios are the levels that were accepted, against the baseline before.
	Ratios map[record.Statistic]float64 `json:"ratios,omitempty"`
}

// ErrNothingToAccept says that no statistic has drifted from its baseline.
var ErrNothingToAccept = errors.New("nothing has drifted from its baseline")

// Accept returns s with the current level as the normal one for every statistic
// that has regressed or improved, and a note that says why. What is known of noise and
// load stays, so the device is watched on at once.
func (s State) Accept(now time.Time, text string) (State, error) {
	t := newTracker(Settings{}, s.names())
	if err := t.Restore(s); err != nil {
		return State{}, fmt.Errorf("accept a level: %w", err)
	}
	note := Note{Time: now, Text: text, Ratios: map[record.Statistic]float64{}}
	var moved Shifts
	for i, statistic := range t.names {
		if !t.verdicts[i].found() {
			continue
		}
		if e := t.now(i); e.blocks > 0 {
			moved[i] = e.middle
			note.Ratios[statistic] = e.middle.Ratio()
		}
	}
	if len(note.Ratios) == 0 {
		return State{}, fmt.Errorf("accept a level: %w", ErrNothingToAccept)
	}
	e := t.current()
	if e.Pinned {
		return State{}, fmt.Errorf("accept a level: %w", ErrPinned)
	}
	e.Reference = e.Reference.moved(moved)
	e.Values = named(e.names, valuesOf(e.names, e.Values).moved(moved))
	e.Learned = now
	e.Blocks, e.Beyond, e.Before, e.After = nil, nil, nil, nil
	e.Notes = append(slices.Clone(e.Notes), note)
	t.restart(now)
	t.become(record.Stable, now)
	return t.State(), nil
}
