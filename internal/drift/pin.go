package drift

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

var (
	// ErrPinned says that an operator has pinned the baseline.
	ErrPinned = errors.New("the baseline is pinned; unpin it first")
	// ErrNotLearned says that there is no baseline under the current conditions.
	ErrNotLearned = errors.New("no baseline has been learned under the current conditions")
)

// Pin returns s with the current baseline pinned, or no longer so. The level of a pinned baseline stays: from then on
// only noise and load are learned, and no other level is accepted. It is kept however many sets of conditions follow.
// Under other conditions another baseline is learned all the same.
func (s State) Pin(pinned bool) (State, error) {
	if len(s.Epochs) == 0 || !s.Epochs[len(s.Epochs)-1].learned() {
		return State{}, fmt.Errorf("pin a baseline: %w", ErrNotLearned)
	}
	s.Epochs = slices.Clone(s.Epochs)
	s.Epochs[len(s.Epochs)-1].Pinned = pinned
	return s, nil
}

// Pinned reports whether a baseline of these conditions, or of any when c is nil, is pinned.
func (s State) Pinned(c *record.Conditions) bool {
	return slices.ContainsFunc(s.Epochs, func(e epoch) bool { return e.Pinned && (c == nil || e.Conditions == *c) })
}
