package drift

import (
	"errors"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

var (
	// ErrPinned says that an operator has pinned the baseline.
	ErrPinned = errors.New("the baseline is pinned; unpin it first")
	// ErrNotLearned says that there is no baseline under the current conditions.
	ErrNotLearned = errors.New("no baseline has been learned under the current conditions")
)

// Pin returns s with the current baseline pinned. The level of a pinned baseline stays: from then on only noise and
// load are learned, and no other level is accepted. It is kept however many sets of conditions follow. Under other
// conditions another baseline is learned all the same. Errors: ErrNotLearned.
func (s State) Pin() (State, error) {
	if len(s.Epochs) == 0 || !s.Epochs[len(s.Epochs)-1].learned() {
		return State{}, ErrNotLearned
	}
	s.Epochs = slices.Clone(s.Epochs)
	s.Epochs[len(s.Epochs)-1].Pinned = true
	return s, nil
}

// Unpin returns s with no baseline pinned, under any conditions.
func (s State) Unpin() State {
	s.Epochs = slices.Clone(s.Epochs)
	for i := range s.Epochs {
		s.Epochs[i].Pinned = false
	}
	return s
}

// Pinned reports whether a baseline of these conditions, or of any when c is nil, is pinned.
func (s State) Pinned(c *record.Conditions) bool {
	return slices.ContainsFunc(s.Epochs, func(e epoch) bool { return e.Pinned && (c == nil || e.Conditions == *c) })
}
