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
			known := tracker.Status(now)
			p := record.Probe{Name: tracker.Probe}
			if i := slices.IndexFunc(c.Probes, func(p record.Probe) bool { return p.Name == tracker.Probe }); i >= 0 {
				p = c.Probes[i]
			}
			status.Probes = append(status.Probes, record.ProbeStatus{
				Probe: p, Baseline: known.Baseline, Drift: known.Drift,
				LearningRounds: known.LearningRounds, LearningGoal: known.LearningGoal,
				Effect: known.Effect, Earlier: known.Earlier, Lifetime: known.Lifetime, UnjudgedBlocks: known.UnjudgedBlocks,
			})
		}
		status.Runs, err = d.Runs(t.ID)
		problems = append(problems, err)
		snapshot.Targets = append(snapshot.Targets, status)
	}
	problems = append(problems, unjudged)
	judged.Advance(now) // comparisons that are too old no longer count
	for i := range snapshot.Targets {
		t := &snapshot.Targets[i]
		if v, ok := judged.Verdict(t.ID); ok {
			t.Verdict = &v
			t.ExplainVerdict()
		}
		t.Warnings = record.SlowerThanPeers(judged.Beside(t.ID))
	}
	snapshot.Together, snapshot.Host = judged.Together(), new(judged.Host())
	drift.FlagSlowerThanDataSheet(&snapshot, c.Drift.DataSheets)
	return snapshot, errors.Join(problems...)
}
