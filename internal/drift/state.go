package drift

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// State is all that a tracker knows and that is worth keeping over a restart. A tracker that was restored from it
// comes to the same verdicts at the same times as one that was never stopped. Only the rounds behind Status.Window
// are missing: they decide nothing, and the window fills again within minutes.
type State struct {
	Epochs   []epoch                      `json:"epochs"` // the last one is the current one
	Verdicts map[record.Statistic]verdict `json:"verdicts"`
	Changes  []change                     `json:"changes,omitempty"`
	Last     time.Time                    `json:"last,omitzero"` // time of the last round
	Open     openBlock                    `json:"open"`
	// Closed are blocks that wait for those of the peers.
	Closed []block  `json:"closed,omitempty"`
	Recent []judged `json:"recent,omitempty"`
	// WithDay are the shifts of those Recent blocks, by slot, off which something was taken that is expected at their time of day,
	// before that.
	WithDay map[int64]Shifts `json:"with_day,omitempty"`
	// Compared is when each statistic was last compared.
	Compared map[record.Statistic]compared `json:"compared,omitempty"`
	// Latest are the last rounds, which LastShifts and OtherWork use.
	Latest []point `json:"latest,omitempty"`
	// Traffic says that the tracker is of the drive's own traffic, and not of a probe.
	Traffic bool `json:"traffic,omitempty"`
}

func (s State) names() []record.Statistic {
	if s.Traffic {
		return record.TrafficStatistics()
	}
	return record.Statistics()
}

// State returns what Restore takes.
func (t *Tracker) State() State {
	s := State{
		Epochs: slices.Clone(t.epochs), Verdicts: map[record.Statistic]verdict{}, Compared: map[record.Statistic]compared{}, Changes: slices.Clone(t.changes),
		Last: t.last, Open: t.open, Closed: slices.Clone(t.closed), Recent: slices.Clone(t.recent), Latest: slices.Clone(t.latest),
		Traffic: t.traffic(),
	}
	s.Open.Points = slices.Clone(s.Open.Points)
	for i := range s.Epochs {
		e := &s.Epochs[i]
		e.Samples, e.Blocks, e.After = slices.Clone(e.Samples), slices.Clone(e.Blocks), slices.Clone(e.After)
		e.Beyond, e.Late = slices.Clone(e.Beyond), slices.Clone(e.Late)
		e.Baseline = e.Baseline.copied()
	}
	for _, b := range t.recent {
		if b.withDay != b.Shifts {
			if s.WithDay == nil {
				s.WithDay = map[int64]Shifts{}
			}
			s.WithDay[b.Slot] = b.withDay
		}
	}
	for i, statistic := range t.names {
		v := t.verdicts[i]
		v.Fast.Shifts = slices.Clone(v.Fast.Shifts)
		s.Verdicts[statistic] = v
		if c := t.compared[i]; c != (compared{}) {
			s.Compared[statistic] = c
		}
	}
	return s
}

// Restore puts back what State returned. It refuses a state that no tracker can have written, and then changes
// nothing.
func (t *Tracker) Restore(s State) error {
	if err := s.validate(); err != nil {
		return err
	}
	t.names = s.names()
	t.restart(s.Last)
	t.epochs, t.changes, t.last, t.open = slices.Clone(s.Epochs), slices.Clone(s.Changes), s.Last, s.Open
	t.closed, t.recent, t.latest = slices.Clone(s.Closed), slices.Clone(s.Recent), slices.Clone(s.Latest)
	t.open.Points = slices.Clone(s.Open.Points)
	for k := range t.recent {
		b := &t.recent[k]
		b.withDay = b.Shifts
		if x, ok := s.WithDay[b.Slot]; ok {
			b.withDay = x
		}
	}
	for i := range t.epochs {
		t.epochs[i].names = t.names
		t.epochs[i].Baseline = t.epochs[i].Baseline.copied()
	}
	for i, statistic := range t.names {
		if v, ok := s.Verdicts[statistic]; ok {
			t.verdicts[i] = v
		}
		// A baseline that was imported has no verdict yet.
		if len(t.epochs) > 0 && t.current().learned() && t.verdicts[i].State == record.Learning {
			t.verdicts[i].begin(record.Stable, t.current().Started)
		}
	}
	t.restoreCompared(s.Compared)
	t.prepare()
	return nil
}

// Baselines returns the baselines of all epochs, the current one last. Those
// still being learned have no time and no values.
func (s State) Baselines() []record.Baseline {
	list := make([]record.Baseline, len(s.Epochs))
	for i := range s.Epochs {
		list[i] = s.Epochs[i].baseline(s.names())
	}
	return list
}

// WithBaseline returns s with b, from another node, as the baseline of its conditions from now on. The level stays at
// the values of b; how much the device differs from block to block and under load is learned here. The current epoch
// stays the current one.
func (s State) WithBaseline(b record.Baseline, now time.Time) (State, error) {
	if b.Learned.IsZero() {
		return State{}, errors.New("import a baseline: it was never learned")
	}
	imported := epoch{
		Conditions: b.Conditions, Started: now, Learned: b.Learned,
		Rounds: b.Rounds, Values: maps.Clone(b.Values), Reference: valuesOf(s.names(), b.Values),
		Baseline: learnEarly(nil), Anchored: true,
	}
	for i, statistic := range s.names() {
		slower, ok := b.HostSlower[statistic]
		if !ok {
			continue
		}
		if slower <= 0 {
			return State{}, fmt.Errorf("import a baseline: host_slower of %s is %v; expected a number of times above 0", statistic, slower)
		}
		imported.Baseline.Of[i].Host = ShiftOf(slower)
	}
	out := s
	out.Epochs = slices.Clone(s.Epochs)
	same := func(e epoch) bool { return e.Conditions == b.Conditions }
	switch i := slices.IndexFunc(out.Epochs, same); {
	case i < 0:
		out.Epochs = slices.Insert(out.Epochs, max(0, len(out.Epochs)-1), imported)
	case i == len(out.Epochs)-1:
		// Conclusions from the baseline before are void.
		out = State{Epochs: out.Epochs, Changes: s.Changes, Last: s.Last}
		fallthrough
	default:
		out.Epochs[i] = imported
	}
	return out, out.validate()
}

// MarshalJSON writes a row of numbers: slot, the shifts of the statistics in their
// order, those with the host's part, and for each whether the block had a slow round.
func (j judged) MarshalJSON() ([]byte, error) {
	row := []int64{j.Slot}
	for _, s := range j.Shifts {
		row = append(row, int64(s))
	}
	for _, s := range j.Alone {
		row = append(row, int64(s))
	}
	for _, slow := range j.Slow {
		if slow {
			row = append(row, 1)
		} else {
			row = append(row, 0)
		}
	}
	return json.Marshal(row)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (j *judged) UnmarshalJSON(data []byte) error {
	var row []int32
	if err := json.Unmarshal(data, &row); err != nil {
		return err
	}
	// Older versions judged each drive alone and did not write the shifts with the host's part.
	const before, now = 1 + 2*statistics, 1 + 3*statistics
	if len(row) != before && len(row) != now {
		return fmt.Errorf("a judged block has %d numbers instead of %d", len(row), now)
	}
	*j = judged{Slot: int64(row[0])}
	alone := row[1 : 1+statistics]
	if len(row) == now {
		alone = row[1+statistics : 1+2*statistics]
	}
	for i := range statistics {
		j.Shifts[i], j.Alone[i], j.Slow[i] = Shift(row[1+i]), Shift(alone[i]), row[len(row)-statistics+i] != 0
	}
	return nil
}
