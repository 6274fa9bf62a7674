package cli

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// learnedCosts returns the costs that a daemon has learned for a device; nil when there are none. Of several
// targets and sources, the one that learned from the most blocks counts. What cannot be read is left for the
// daemon to report.
func learnedCosts(dir state.Dir, c config.Config, d record.Device) *record.LearnedCosts {
	targets, _ := dir.Targets()
	var best *record.LearnedCosts
	most := 0
	for _, t := range targets {
		if t.Device.ID != d.ID || d.ID == "" {
			continue
		}
		consider := func(source string, x drift.Explanation) {
			if x.Work == nil || x.Work.Costs == nil || x.Blocks < most {
				return
			}
			costs := *x.Work.Costs
			most = x.Blocks
			best = &record.LearnedCosts{Target: t.ID, Source: source, Read: costs[0], Write: costs[1], ReadKiB: costs[2], WrittenKiB: costs[3]}
		}
		now := time.Now()
		trackers, _ := t.Trackers(c.DriftSettings(t.File))
		for _, tracker := range trackers {
			consider(tracker.Probe, tracker.Explain(now))
		}
		if t.Traffic != nil {
			traffic := judge.NewTrafficTracker(c.Drift.Settings)
			if traffic.Restore(*t.Traffic) == nil {
				consider(judge.Traffic, traffic.Explain(now))
			}
		}
	}
	return best
}
