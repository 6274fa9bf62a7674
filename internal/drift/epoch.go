package drift

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// maxEpochs is how many sets of conditions are remembered, the oldest going first.
const maxEpochs = 16

// epoch is a stretch of time under one set of conditions, and its baseline.
type epoch struct {
	Conditions record.Conditions            `json:"conditions"`
	Started    time.Time                    `json:"started"`
	Learned    time.Time                    `json:"learned,omitzero"`
	Rounds     int                          `json:"rounds,omitempty"`
	Values     map[record.Statistic]float64 `json:"values,omitempty"`
	// Samples are the rounds gathered so far, while learning.
	Samples []values `json:"samples,omitempty"`
}

func (e *epoch) learned() bool { return !e.Learned.IsZero() }

func (e *epoch) rounds() int {
	if e.learned() {
		return e.Rounds
	}
	return len(e.Samples)
}

func (e *epoch) baseline() record.Baseline {
	return record.Baseline{Conditions: e.Conditions, Learned: e.Learned, Rounds: e.Rounds, Values: e.Values}
}

// learn adds a round, and returns true when that made the baseline complete.
func (e *epoch) learn(v values, at time.Time, goal int) bool {
	e.Samples = append(e.Samples, v)
	if len(e.Samples) < goal {
		return false
	}
	e.Learned, e.Rounds, e.Values = at, len(e.Samples), medians(e.Samples)
	e.Samples = nil
	return true
}

// current returns the epoch under way; there must be one.
func (t *Tracker) current() *epoch { return &t.epochs[len(t.epochs)-1] }

// enter makes the epoch of m's conditions the current one: the one known
// before when the conditions have come back, else a new one.
func (t *Tracker) enter(m record.Measurement) []Event {
	if len(t.epochs) > 0 && t.current().Conditions == m.Conditions {
		return nil
	}
	var events []Event
	if len(t.epochs) > 0 {
		events = []Event{{Time: m.Start, Changes: t.current().Conditions.Changes(m.Conditions)}}
	}
	known := slices.IndexFunc(t.epochs, func(e epoch) bool { return e.Conditions == m.Conditions })
	e := epoch{Conditions: m.Conditions, Started: m.Start}
	if known >= 0 {
		e = t.epochs[known]
		t.epochs = slices.Delete(t.epochs, known, known+1)
	}
	t.epochs = append(t.epochs, e)
	if n := len(t.epochs); n > maxEpochs {
		t.epochs = slices.Delete(t.epochs, 0, n-maxEpochs)
	}
	t.restart(m.Start)
	if e.learned() {
		for i := range t.verdicts {
			t.verdicts[i].State = record.Stable
		}
	}
	return events
}
