package state

import (
	"errors"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Snapshot returns the stored state in the form of a daemon's snapshot, for use while
// no daemon runs. The error joins what could not be read.
func (d Dir) Snapshot(c config.Config, now time.Time) (record.Snapshot, error) {
	judged, lastRound, unjudged := d.Judged(c)
	snapshot := record.Snapshot{Time: now, Node: c.Node, Stored: true, LastRound: lastRound}
	targets, err := d.Targets()
	problems := []error{err}
	for _, t := range targets {
		status := record.TargetStatus{
			ID: t.ID, Path: t.Path, Device: t.Device, File: t.File, Conditions: t.Conditions, Changed: t.Changed,
		}
		trackers, err := t.Trackers(c.DriftSettings(t.File))
		problems = append(problems, err)
		for _, tracker := range trackers {
			p := record.ProbeStatus{Probe: record.Probe{Name: tracker.Probe}}
			if i := slices.IndexFunc(c.Probes, func(p record.Probe) bool { return p.Name == tracker.Probe }); i >= 0 {
				p.Probe = c.Probes[i]
			}
			tracker.Status(now).Fill(&p)
			status.Probes = append(status.Probes, p)
		}
		status.Runs, err = d.Runs(t.ID)
		problems = append(problems, err)
		snapshot.Targets = append(snapshot.Targets, status)
	}
	problems = append(problems, unjudged)
	judged.Advance(now) // comparisons that are too old no longer count
	judged.Fill(&snapshot)
	drift.FlagSlowerThanDataSheet(&snapshot, c.Drift.DataSheets)
	return snapshot, errors.Join(problems...)
}
