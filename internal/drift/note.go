package drift

import (
	"errors"
	"fmt"
	"maps"
	"math"
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
	// SlowShares are the shares (0 to 1) of blocks with a slow round that were accepted.
	SlowShares map[record.Statistic]float64 `json:"slow_shares,omitempty"`
	// Followed is true if the baseline had followed changes of conditions to these levels already.
	Followed bool `json:"followed,omitempty"`
}

// slower reports whether a level was accepted that had been found to be slower.
func (n Note) slower() bool {
	return len(n.SlowShares) > 0 || !n.Followed && slices.ContainsFunc(slices.Collect(maps.Values(n.Ratios)), func(r float64) bool { return r > 1 })
}

var (
	// ErrNothingToAccept says that no statistic has drifted from its baseline.
	ErrNothingToAccept = errors.New("no drift was found, so there is nothing to accept")
	// ErrMoving says that there is no steady level to accept yet.
	ErrMoving = errors.New("the level is moving; wait until it stays for a quarter of an hour")
)

// steadyBlocks is how many of the last blocks must be at the level that is accepted.
const steadyBlocks = 3

// Accepted returns the note on what was accepted at a time; false when nothing was.
func (s State) Accepted(at time.Time) (Note, bool) {
	if len(s.Epochs) == 0 {
		return Note{}, false
	}
	notes := s.Epochs[len(s.Epochs)-1].Notes
	if len(notes) == 0 || !notes[len(notes)-1].Time.Equal(at) {
		return Note{}, false
	}
	return notes[len(notes)-1], true
}

// AcceptedAt returns when an operator last accepted a level that had been found to be slower, under whatever conditions; zero when
// nobody did.
func (t *Tracker) AcceptedAt() time.Time {
	var last time.Time
	for _, e := range t.epochs {
		for _, n := range e.Notes {
			if n.slower() && n.Time.After(last) {
				last = n.Time
			}
		}
	}
	return last
}

// Accept returns s with the current level as the normal one for every statistic that has regressed or improved, and
// with a note that says which levels and why. The known noise and load effects stay, so the device is judged again at
// once. If the baseline has followed changes of conditions to a slower level, that is accepted, too.
// Errors: ErrNothingToAccept, ErrPinned, ErrMoving.
func (s State) Accept(now time.Time, text string) (State, error) {
	t := newTracker(Settings{}, s.names())
	if err := t.Restore(s); err != nil {
		return State{}, fmt.Errorf("read what is known: %w", err)
	}
	note := Note{Time: now, Text: text, Ratios: map[record.Statistic]float64{}, SlowShares: map[record.Statistic]float64{}}
	var moved Shifts
	slowSince := int64(math.MaxInt64) // the first onset of slow rounds
	for i, statistic := range t.names {
		v := &t.verdicts[i]
		switch {
		case !v.found():
		case v.Cause == record.BySlowRounds: // the other rounds are as fast as before
			slowSince = min(slowSince, slot(v.Since))
		default:
			level, err := t.steady(i)
			if err != nil {
				return State{}, fmt.Errorf("%s: %w", statistic.Short(), err)
			}
			moved[i] = level
			note.Ratios[statistic] = level.Ratio()
		}
	}
	followed := t.acceptEffects("", now)
	if len(note.Ratios) == 0 && slowSince == math.MaxInt64 {
		if len(followed) > 0 {
			return t.noted(now, text, followed), nil
		}
		if t.Maturity() == "" {
			return State{}, fmt.Errorf("%w: the baseline is still being learned, and the present level becomes normal by itself", ErrNothingToAccept)
		}
		return State{}, ErrNothingToAccept
	}
	e := t.current()
	if e.Pinned {
		return State{}, ErrPinned
	}
	for i, statistic := range t.names {
		if t.acceptSlow(i, slowSince) {
			note.SlowShares[statistic] = e.Baseline.Of[i].SlowShare
		}
	}
	e.Reference = e.Reference.moved(moved)
	e.Values = named(e.names, valuesOf(e.names, e.Values).moved(moved))
	e.Learned = now
	e.Blocks, e.Beyond, e.Before, e.After, e.Doubt = nil, nil, nil, nil, nil
	e.Notes = append(slices.Clone(e.Notes), note)
	t.restart(now)
	t.become(record.Stable, now)
	return t.State(), nil
}

// AcceptChange returns s with what changes of a condition made slower accepted as normal, and nothing else. The baseline has
// followed them already. Errors: ErrNothingToAccept.
func (s State) AcceptChange(now time.Time, condition, text string) (State, error) {
	t := newTracker(Settings{}, s.names())
	if err := t.Restore(s); err != nil {
		return State{}, fmt.Errorf("read what is known: %w", err)
	}
	followed := t.acceptEffects(condition, now)
	if len(followed) == 0 {
		return State{}, fmt.Errorf("no change of %s is known to have made it slower: %w", record.ConditionTitle(condition), ErrNothingToAccept)
	}
	return t.noted(now, text, followed), nil
}

// noted returns the state with a note on levels that the baseline had followed already.
func (t *Tracker) noted(now time.Time, text string, levels map[record.Statistic]float64) State {
	e := t.current()
	e.Notes = append(slices.Clone(e.Notes), Note{Time: now, Text: text, Ratios: levels, Followed: true})
	return t.State()
}

// steady returns how much slower statistic i is since its onset. The error is ErrMoving when the last blocks are too
// few, or say something else, as during a recovery.
func (t *Tracker) steady(i int) (Shift, error) {
	since := slot(t.verdicts[i].Since)
	level := t.Shift(i)
	last, blocks := t.level(i, since, steadyBlocks)
	if blocks < steadyBlocks {
		return 0, fmt.Errorf("it has been %.2f times slower for a few minutes only: %w", level.Ratio(), ErrMoving)
	}
	apart := max(last-level, level-last)
	if n := &t.current().Baseline.Of[i]; apart > max(t.settings.smallest(), 2*n.error(steadyBlocks)) {
		return 0, fmt.Errorf("it has been %.2f times slower since its onset, and %.2f times in the last blocks: %w", level.Ratio(), last.Ratio(), ErrMoving)
	}
	return level, nil
}

// acceptSlow makes slow rounds as common in the baseline as they have been since a slot, if that is more. Slow rounds
// come in spells, so the share is raised by as many as a few hours may have missed.
func (t *Tracker) acceptSlow(i int, since int64) bool {
	n := &t.current().Baseline.Of[i]
	if !n.knowsNoise() {
		return false
	}
	blocks := slices.DeleteFunc(slices.Clone(t.recent), func(b judged) bool { return b.Slot < since || !b.Shifts[i].Known() })
	marks := make([]float64, len(blocks))
	for k, b := range blocks {
		if b.Slow[i] {
			marks[k] = 1
		}
	}
	share, ok := slowShare(marks, n.SlowAutocorrelation)
	if !ok || share <= n.SlowShare {
		return false
	}
	n.SlowShare, n.SlowAccepted = share, true
	return true
}
