package daemon

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// Explain returns the evidence behind the verdict on a target, and the states of its probes and its traffic. It
// returns false when no watched target has this id. It only reads memory.
func (d *Daemon) Explain(id string) (report.Explained, bool) {
	w, ok := d.current()[id]
	if !ok {
		return report.Explained{}, false
	}
	x := report.Explained{Time: time.Now(), Node: d.shared.node, TargetID: id, Path: w.spec.Path, Device: w.deviceNow().Name}
	w.rounds.mu.Lock()
	defer w.rounds.mu.Unlock()
	w.shared.judging.mu.Lock()
	defer w.shared.judging.mu.Unlock()
	for _, p := range w.rounds.probes {
		x.Probes = append(x.Probes, report.ProbeExplained{Probe: p.probe.Name, Explanation: p.tracker.Explain(x.Time)})
	}
	n := w.shared.judging.node
	x.Judge(n)
	if w.traffic != nil {
		x.Traffic = new(n.Explain(id, judge.Traffic, x.Time))
	}
	return x, true
}
