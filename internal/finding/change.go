package finding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// slowed is a change of conditions, or several at one time, with the targets that it made slower.
type slowed struct {
	changes []record.Change
	since   time.Time
	targets []record.TargetStatus
	// worst is the ratio of the statistic that got slower by most, and text names it.
	worst float64
	text  string
}

// ofChanges reports what changes of conditions made slower and no verdict says any more, as the baseline has followed:
// one finding for each change, however many drives and probes it concerns. To undo a change or to accept it, a person has to
// know what it cost by itself.
func ofChanges(targets []record.TargetStatus) []Finding {
	var all []slowed
	for _, t := range targets {
		for _, p := range t.Probes {
			for _, e := range StillSlowing(p) {
				i := slices.IndexFunc(all, func(c slowed) bool { return slices.Equal(c.changes, e.Changes) })
				if i < 0 {
					i, all = len(all), append(all, slowed{changes: e.Changes, since: e.Time})
				}
				all[i].add(t, p, e)
			}
		}
	}
	list := make([]Finding, len(all))
	for i, c := range all {
		list[i] = c.finding()
	}
	return list
}

// StillSlowing returns the effects of the changes of conditions that made a probe slower and that this finding tells, with
// the statistics that have not got faster since.
func StillSlowing(p record.ProbeStatus) []record.Effect {
	all := slices.Clone(p.Earlier)
	if p.Effect != nil {
		all = append(all, *p.Effect)
	}
	for i, e := range all {
		all[i].Ratios = map[record.Statistic]record.Ratio{}
		for _, s := range e.Slowed() {
			if !improved(p, s) {
				all[i].Ratios[s] = e.Ratios[s]
			}
		}
	}
	return slices.DeleteFunc(all, func(e record.Effect) bool { return len(e.Ratios) == 0 })
}

func (c *slowed) add(t record.TargetStatus, p record.ProbeStatus, e record.Effect) {
	if !slices.ContainsFunc(c.targets, func(before record.TargetStatus) bool { return before.ID == t.ID }) {
		c.targets = append(c.targets, t)
	}
	for _, s := range record.Statistics() {
		if r := e.Ratios[s]; r.Ratio > c.worst {
			c.worst, c.text = r.Ratio, fmt.Sprintf("%s %s %s", p.Probe.Name, s.Short(), units.RatioWithin(r.Ratio, r.Lower, r.Upper))
		}
	}
	if e.Time.Before(c.since) {
		c.since = e.Time
	}
}

func (c *slowed) finding() Finding {
	f := found(SinceChange, "slower since a change of conditions, which is the baseline now").from(c.since)
	if first := c.targets[0]; len(c.targets) == 1 {
		f.TargetID, f.Path, f.Device = first.ID, first.Path, first.Device.Name
		f.Evidence = append(f.Evidence, c.text)
	} else {
		ids := make([]string, len(c.targets))
		for i, t := range c.targets {
			ids[i] = t.ID
		}
		f.Evidence = append(f.Evidence, units.Plural(len(ids), target)+": "+strings.Join(namesOf(ids, c.targets), ", "), "at most "+c.text)
	}
	f.Evidence = append(f.Evidence, changedWith(c.changes)...)
	if len(c.changes) > 0 {
		f.Action = strings.Replace(f.Action, "CONDITION", c.changes[0].Condition, 1)
	}
	return f
}
