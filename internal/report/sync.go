package report

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// syncSection shows how long writes take to become durable, if that was measured: a
// database waits for its slowest syncs.
func syncSection(r record.RunReport) []document.Section {
	var all record.Histogram
	var steps int
	for _, step := range r.Steps {
		if step.Sync != nil && len(step.Sync.Latency) > 0 && !step.Impossible() {
			all = record.Merge(all, step.Sync.Latency)
			steps++
		}
	}
	if steps == 0 {
		return nil
	}
	lead := "A sync takes " + units.Latency(all.Quantile(0.5)) + " in the median"
	for _, q := range []float64{0.99, 0.999} {
		if record.Supported(q, all.Count()) {
			lead += fmt.Sprintf(", %s at p%g", units.Latency(all.Quantile(q)), 100*q)
		}
	}
	s := document.Section{
		ID: "sync", Title: "How long a sync takes", Minor: steps < len(r.Steps),
		Lead: fmt.Sprintf("%s, over %s syncs in %s.", lead, units.Count(all.Count()), units.Plural(steps, "step")),
	}
	if !record.Supported(0.999, all.Count()) {
		s.Blocks = []document.Block{document.Sentence("p99 needs 1 000 syncs, and p99.9 needs 10 000.")}
	}
	return []document.Section{s}
}
