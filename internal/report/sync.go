package report

import (
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// syncSection shows how long writes take to become durable, if that was measured: a
// database waits for its slowest syncs. Steps that did not measure the drive alone count only
// when there are no others.
func syncSection(r record.RunReport) []document.Section {
	var calm, spoiled record.Histogram
	var steps, left int
	var codes []string
	for _, step := range r.Steps {
		if step.Sync == nil || len(step.Sync.Latency) == 0 || step.Impossible() {
			continue
		}
		if code := step.Spoiled(); code != "" {
			spoiled, left, codes = record.Merge(spoiled, step.Sync.Latency), left+1, append(codes, code)
			continue
		}
		calm, steps = record.Merge(calm, step.Sync.Latency), steps+1
	}
	slices.Sort(codes)
	measured := steps + left
	all, doubt := calm, "."
	switch why := disregardedText(left, slices.Compact(codes)); {
	case measured == 0:
		return nil
	case steps == 0:
		all, steps, doubt = spoiled, left, "; "+why+"."
	case left > 0:
		doubt = ". Left out: " + why + "."
	}
	lead := "A sync takes " + units.Latency(all.Quantile(0.5)) + " in the median"
	for _, q := range []float64{0.99, 0.999} {
		if record.Supported(q, all.Count()) {
			lead += fmt.Sprintf(", %s at p%g", units.Latency(all.Quantile(q)), 100*q)
		}
	}
	s := document.Section{
		ID: "sync", Title: "How long a sync takes", Minor: measured < len(r.Steps),
		Lead: fmt.Sprintf("%s, over %s syncs in %s%s", lead, units.Count(all.Count()), units.Plural(steps, "step"), doubt),
	}
	if !record.Supported(0.999, all.Count()) {
		s.Blocks = []document.Block{document.Sentence("p99 needs 1 000 syncs, and p99.9 needs 10 000.")}
	}
	return []document.Section{s}
}
