package state

import (
	"errors"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/judge"
)

// Judged returns the node as it was last judged, for use while no daemon runs, and when its last round was; zero when none is
// stored. The error joins what could not be read and is therefore missing from the node.
func (d Dir) Judged(c config.Config) (n *judge.Node, lastRound time.Time, err error) {
	n = judge.NewNode(c.Drift.Settings)
	kept, found, err := d.Node()
	problems := []error{err}
	if found && err == nil {
		problems = append(problems, n.Restore(kept.Judge))
	}
	targets, err := d.Targets()
	problems = append(problems, err)
	for _, t := range targets {
		n.AddDrive(judge.DriveOf(t.ID, t.Device, t.File))
		trackers, err := t.Trackers(c.DriftSettings(t.File))
		problems = append(problems, err)
		for _, tracker := range trackers {
			n.Attach(t.ID, tracker.Probe, tracker.Tracker)
		}
		if t.Traffic != nil {
			traffic := judge.NewTrafficTracker(c.Drift.Settings)
			if err := traffic.Restore(*t.Traffic); err != nil {
				problems = append(problems, err)
				continue
			}
			n.Attach(t.ID, judge.Traffic, traffic)
		}
	}
	return n, kept.LastRound(), errors.Join(problems...)
}
