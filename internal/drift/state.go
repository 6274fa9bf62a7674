package drift

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// State is all that a tracker knows and that is worth keeping over a restart.
// The recent window is not: it fills again within minutes.
type State struct {
	Epochs   []epoch                      `json:"epochs"` // the last one is the current one
	Verdicts map[record.Statistic]verdict `json:"verdicts"`
}

// State returns what Restore takes.
func (t *Tracker) State() State {
	s := State{Epochs: slices.Clone(t.epochs), Verdicts: map[record.Statistic]verdict{}}
	for i, statistic := range record.Statistics() {
		s.Verdicts[statistic] = t.verdicts[i]
	}
	return s
}

// Restore puts back what State returned. It refuses what no tracker can have
// written, and changes nothing then.
func (t *Tracker) Restore(s State) error {
	if err := s.validate(); err != nil {
		return err
	}
	t.restart(t.verdicts[0].Since)
	t.epochs = slices.Clone(s.Epochs)
	for i, statistic := range record.Statistics() {
		if v, ok := s.Verdicts[statistic]; ok {
			t.verdicts[i] = v
		}
	}
	return nil
}

func (s State) validate() error {
	for i, e := range s.Epochs {
		for _, v := range e.Samples {
			if !v.valid() {
				return fmt.Errorf("epoch %d: a learned round has impossible values %v", i, []float64(v))
			}
		}
		if !e.learned() {
			continue
		}
		for _, statistic := range record.Statistics() {
			if v, ok := e.Values[statistic]; !ok || v <= 0 {
				return fmt.Errorf("epoch %d: the baseline's %s is %v, which cannot be", i, statistic, v)
			}
		}
	}
	for statistic, v := range s.Verdicts {
		if !slices.Contains(record.DriftStates(), v.State) {
			return fmt.Errorf("statistic %s: unknown state %q", statistic, v.State)
		}
	}
	return nil
}

// Baselines returns the baselines of all epochs, the current one last. Those
// still being learned have no time and no values.
func (s State) Baselines() []record.Baseline {
	list := make([]record.Baseline, len(s.Epochs))
	for i := range s.Epochs {
		list[i] = s.Epochs[i].baseline()
		list[i].Rounds = s.Epochs[i].rounds()
	}
	return list
}

// WithBaseline returns s with b as the baseline of its conditions, for import
// from another node. The current epoch stays the current one.
func (s State) WithBaseline(b record.Baseline) (State, error) {
	if b.Learned.IsZero() {
		return State{}, errors.New("import a baseline: it was never learned")
	}
	imported := epoch{
		Conditions: b.Conditions, Started: b.Learned, Learned: b.Learned,
		Rounds: b.Rounds, Values: maps.Clone(b.Values),
	}
	out := State{Verdicts: s.Verdicts, Epochs: slices.Clone(s.Epochs)}
	same := func(e epoch) bool { return e.Conditions == b.Conditions }
	if i := slices.IndexFunc(out.Epochs, same); i >= 0 {
		out.Epochs[i] = imported
	} else {
		out.Epochs = slices.Insert(out.Epochs, max(0, len(out.Epochs)-1), imported)
	}
	return out, out.validate()
}
