package judge

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// AcceptedLevel is a level, compared with the peers, that an operator accepted as normal.
type AcceptedLevel struct {
	Time  time.Time   `json:"time"`
	Text  string      `json:"text"`
	Shift drift.Shift `json:"shift"` // against the median of the peers
}

// taken returns what is taken off the level because it was accepted.
func (l *level) taken() drift.Shift {
	if l.accepted == nil {
		return 0
	}
	return l.accepted.Shift
}

// outgrow forgets the accepted level once the drive has been nearer to its peers than to that level for levelBlocks
// blocks in a row. A slowdown that comes back after that is news.
func (l *level) outgrow() {
	if l.accepted == nil || l.now.shift >= l.accepted.Shift/2 {
		l.below = 0
		return
	}
	l.below++
	if l.below >= levelBlocks {
		l.accepted, l.below = nil, 0
	}
}

// accept accepts the found level as normal; false when none was found. While the drive is slow beside its past, a level counts
// that would be found soon, as it is the one that is accepted; that it is steady is known then. Else the last three blocks must show
// it, too: the drive may be recovering. Errors: drift.ErrMoving.
func (l *LevelState) accept(text string, slow bool, now time.Time) (bool, error) {
	const lastThree = 7
	last := l.Recent&1 != 0
	switch {
	case !l.Found && (!slow || !last):
		return false, nil
	case !slow && l.Recent&lastThree != lastThree:
		return false, fmt.Errorf("it has been %.2f times slower than its peers, but not in each of the last three blocks: %w", l.Shift.Ratio(), drift.ErrMoving)
	}
	l.Accepted = &AcceptedLevel{Time: now, Text: text, Shift: l.Shift}
	l.Found, l.Recent, l.Below = false, 0, 0
	return true, nil
}

// AcceptLevels accepts as normal the levels of a drive that are far from those of its peers, or would soon be found to be: of
// one source, or of all when source is empty. It returns the accepted levels by source. The drive may also be one that was removed and is
// remembered. Errors: drift.ErrNothingToAccept and drift.ErrMoving; nothing is accepted then.
func (n *Node) AcceptLevels(id, source, text string, now time.Time) (map[string]drift.Note, error) {
	here, known := n.byID[id], n.gone[id]
	if here != nil {
		known = here.state(now)
	}
	notes := map[string]drift.Note{}
	sources := maps.Clone(known.Sources)
	for name, s := range sources {
		if source != "" && name != source {
			continue
		}
		note := drift.Note{Time: now, Text: text, Ratios: map[record.Statistic]float64{}}
		s.Levels = maps.Clone(s.Levels)
		for statistic, l := range s.Levels {
			accepted, err := l.accept(text, len(known.Verdict.ThanBefore) > 0, now)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", statistic.Short(), name, err)
			}
			if accepted {
				s.Levels[statistic], note.Ratios[statistic] = l, l.Shift.Ratio()
			}
		}
		if len(note.Ratios) > 0 {
			sources[name], notes[name] = s, note
		}
	}
	if len(notes) == 0 {
		return nil, fmt.Errorf("accept a level beside the peers: %w", drift.ErrNothingToAccept)
	}
	known.Sources = sources
	if here == nil {
		known.Degraded, known.Severe = RecurrenceState{}, RecurrenceState{}
		n.gone[id] = known
		return notes, nil
	}
	for _, s := range here.sources {
		for i := range levelsBy(s.name) {
			l, after := &s.levels[i], sources[s.name].Levels[statisticsOf(s.name)[i]]
			l.accepted, l.found, l.recent, l.below = after.Accepted, after.Found, after.Recent, after.Below
		}
	}
	for name := range here.known {
		here.known[name] = sources[name]
	}
	here.degraded, here.severe = recurrence{}, recurrence{}
	return notes, nil
}

// acceptedAt returns when an operator last accepted a level of the drive, beside its past or its peers; zero when nobody did.
func (d *drive) acceptedAt() time.Time {
	var last time.Time
	for _, s := range d.sources {
		last = later(last, s.tracker.AcceptedAt())
		for _, l := range s.levels {
			if l.accepted != nil {
				last = later(last, l.accepted.Time)
			}
		}
	}
	return last
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// AcceptHost accepts as normal how much slower the drives of the node got together. It returns the accepted levels by
// source, "read-4k", and those of hard disks as "read-4k of hard disks". Errors: drift.ErrNothingToAccept and drift.ErrMoving; nothing is accepted then.
func (n *Node) AcceptHost(text string, now time.Time) (map[string]drift.Note, error) {
	notes, hosts := map[string]drift.Note{}, map[*group]*drift.Tracker{}
	for _, g := range n.groups {
		if g.host == nil {
			continue
		}
		state, err := g.host.State().Accept(now, text)
		if errors.Is(err, drift.ErrNothingToAccept) {
			continue
		}
		if err == nil {
			hosts[g], err = drift.RestoreBlockTracker(g.settings, state)
		}
		if err != nil {
			return nil, fmt.Errorf("the host by %s: %w", g, err)
		}
		notes[g.String()], _ = state.Accepted(now)
	}
	if len(notes) == 0 {
		return nil, fmt.Errorf("the host: %w", drift.ErrNothingToAccept)
	}
	for g, host := range hosts {
		g.host = host
		note, _ := host.State().Accepted(now)
		for i, statistic := range host.Statistics() {
			if _, accepted := note.Ratios[statistic]; accepted {
				w := &g.wanders[i]
				w.Usual.Mean = 0 // the accepted level is the normal one
				*w = wander{Usual: w.Usual}
			}
		}
		g.look()
	}
	return notes, nil
}

// HostNotes returns the notes on what operators accepted of the host, in order of time.
func (n *Node) HostNotes() []drift.Note {
	var notes []drift.Note
	for _, g := range n.groups {
		if g.host != nil {
			notes = append(notes, g.host.Notes()...)
		}
	}
	slices.SortFunc(notes, func(a, b drift.Note) int { return a.Time.Compare(b.Time) })
	return notes
}
