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
// one finding for each change, however many drives and probes it concerns.
func ofChanges(targets []record.TargetStatus) []Finding {
	var all []slowed
	for _, t := range targets {
		for _, p := range t.Probes {
			for _, s := range stillSlowed(p) {
				i := slices.IndexFunc(all, func(c slowed) bool { return slices.Equal(c.changes, p.Effect.Changes) })
				if i < 0 {
					i, all = len(all), append(all, slowed{changes: p.Effect.Changes, since: p.Effect.Time})
				}
				all[i].add(t, p, s)
			}
		}
	}
	list := make([]Finding, len(all))
	for i, c := range all {
		list[i] = c.finding()
	}
	return list
}

// stillSlowed returns the statistics that the last change of conditions made slower and that have not got faster since.
func stillSlowed(p record.ProbeStatus) []record.Statistic {
	return slices.DeleteFunc(p.Effect.Slowed(), func(s record.Statistic) bool {
		return slices.ContainsFunc(p.Drift, func(d record.Drift) bool { return d.Statistic == s && d.State == record.Improved })
	})
}

func (c *slowed) add(t record.TargetStatus, p record.ProbeStatus, s record.Statistic) {
	if !slices.ContainsFunc(c.targets, func(before record.TargetStatus) bool { return before.ID == t.ID }) {
		c.targets = append(c.targets, t)
	}
	if r := p.Effect.Ratios[s]; r.Ratio > c.worst {
		c.worst, c.text = r.Ratio, fmt.Sprintf("%s %s %s", p.Probe.Name, s.Short(), r)
	}
	if p.Effect.Time.Before(c.since) {
		c.since = p.Effect.Time
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
	f.came(c.changes)
	return f
}
