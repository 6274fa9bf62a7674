package daemon

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// Explain returns what is behind the states of a target's probes; false when no
// target under watch has this id. It reads memory only.
func (d *Daemon) Explain(id string) (report.Explained, bool) {
	d.mu.Lock()
	w, ok := d.watches[id]
	d.mu.Unlock()
	if !ok {
		return report.Explained{}, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	x := report.Explained{Time: time.Now(), Node: d.shared.node, TargetID: id, Path: w.spec.Path, Device: w.status.Device.Name}
	for _, p := range w.probes {
		x.Probes = append(x.Probes, report.ProbeExplained{Probe: p.probe.Name, Explanation: p.tracker.Explain()})
	}
	return x, true
}

// Explain returns what the stored state of a target explains. What makes no sense in
// it is joined in the error.
func (t TargetState) Explain(c config.Config, now time.Time) (report.Explained, error) {
	x := report.Explained{Time: now, Node: c.Node, TargetID: t.ID, Path: t.Path, Device: t.Device.Name}
	var problems []error
	for _, name := range t.ProbeNames() {
		tracker := drift.NewTracker(c.DriftSettings(t.File))
		if err := tracker.Restore(t.Probes[name]); err != nil {
			problems = append(problems, fmt.Errorf("state of %s, probe %s: %w", t.ID, name, err))
			continue
		}
		x.Probes = append(x.Probes, report.ProbeExplained{Probe: name, Explanation: tracker.Explain()})
	}
	return x, errors.Join(problems...)
}

// flagSlowBaselines adds warnings about drives that may have been slow from the first
// day: beside others of their model, and beside their data sheets.
func flagSlowBaselines(s *record.Snapshot, sheets []record.DataSheet) {
	peers, promised := drift.SlowerThanPeers(*s), drift.SlowerThanDataSheet(*s, sheets)
	for i := range s.Targets {
		t := &s.Targets[i]
		t.Warnings = slices.Concat(t.Warnings, peers[t.ID], promised[t.ID])
	}
}
