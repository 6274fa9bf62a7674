package daemon

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// Stored returns what the state directory knows, in the form of a daemon's
// snapshot: for when none runs. What could not be read is joined in the error.
func Stored(s *store.Store, c config.Config, now time.Time) (record.Snapshot, error) {
	snapshot := record.Snapshot{Time: now, Node: c.Node}
	targets, err := Targets(s)
	problems := []error{err}
	for _, t := range targets {
		status := record.TargetStatus{
			ID: t.ID, Path: t.Path, Device: t.Device, File: t.File, Conditions: t.Conditions, Changed: t.Changed,
		}
		for _, name := range t.ProbeNames() {
			tracker := drift.NewTracker(c.DriftSettings(t.File))
			if err := tracker.Restore(t.Probes[name]); err != nil {
				problems = append(problems, fmt.Errorf("state of %s, probe %s: %w", t.ID, name, err))
				continue
			}
			known := tracker.Status(now)
			p := record.Probe{Name: name}
			if i := slices.IndexFunc(c.Probes, func(p record.Probe) bool { return p.Name == name }); i >= 0 {
				p = c.Probes[i]
			}
			status.Probes = append(status.Probes, record.ProbeStatus{
				Probe: p, Baseline: known.Baseline, Drift: known.Drift,
				LearningRounds: known.LearningRounds, LearningGoal: known.LearningGoal,
				Effect: known.Effect, UnjudgedBlocks: known.UnjudgedBlocks,
			})
		}
		runs, err := storedRuns(s, t.ID)
		problems = append(problems, err)
		for _, r := range runs {
			status.Runs = append(status.Runs, *r)
		}
		snapshot.Targets = append(snapshot.Targets, status)
	}
	flagSlowBaselines(&snapshot, c.Drift.DataSheets)
	return snapshot, errors.Join(problems...)
}
