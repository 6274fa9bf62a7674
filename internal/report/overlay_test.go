package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// overlay returns the page with runs drawn over each other.
func overlay(t *testing.T, runs ...record.RunReport) *html.Node {
	t.Helper()
	return parsed(t, overlayText(t, runs...))
}

func overlayText(t *testing.T, runs ...record.RunReport) string {
	t.Helper()
	names := []string{"a.json", "b.json", "c.json"}
	var b strings.Builder
	require.NoError(t, against(names[:len(runs)], runs...).HTML(&b, runs))
	return b.String()
}

// twice returns a run with every step measured again, somewhat slower.
func twice(r record.RunReport) record.RunReport {
	var steps []record.Step
	for _, s := range r.Steps {
		again, read := s, *s.Read
		read.IOPS, read.BytesPerSecond, read.Latency = 0.9*read.IOPS, 0.9*read.BytesPerSecond, slowed(read.Latency, 1.1)
		read.Mean = read.Latency.Mean()
		again.Name, again.Series, s.Series, again.Read = s.Name+"-repeat2", s.Name, s.Name, &read
		steps = append(steps, s, again)
	}
	r.Steps = steps
	r.Analysis = &record.Analysis{Spreads: analysis.Spreads(steps), Knees: analysis.Knees(steps), Offsets: analysis.Offsets(steps)}
	return r
}

func TestOverlayOutline(t *testing.T) {
	later := twice(depthRun())
	later.Conditions.Firmware = "B"
	golden(t, "overlay_depth.outline", outline(overlay(t, twice(depthRun()), later)))
	golden(t, "overlay_linear.outline", outline(overlay(t, twice(linearRun()), linearRun(), linearRun())))
}

// In runs on several devices, those at the same position are drawn together, and the label names each.
func TestOverlayOfSeveralDevices(t *testing.T) {
	page := overlay(t, linesRun(), linesRun())
	golden(t, "overlay_lines.outline", outline(page))
	for _, drawing := range all(page, "svg", "plot") {
		told := map[string]int{}
		for _, line := range all(drawing, "path", "line") {
			told[attribute(line, "class")]++
		}
		look := "two runs, each alone and beside others; a line and its key in the legend"
		assert.Equal(t, map[string]int{"line c1": 2, "line c1 dashed": 2, "line c2": 2, "line c2 dashed": 2}, told, look)
	}
	several := words(overlay(t, linearRun(), linesRun()))
	assert.Contains(t, several, "Not drawn: 2 devices that only one run has.")
	assert.Contains(t, several, "B, /dev/nvme0n1, beside 2 others")
	assert.NotContains(t, several, "device 2 of each run")
}

// A point with repeats has an interval; one that was measured once has none.
func TestOverlayHasIntervals(t *testing.T) {
	drawing := func(page *html.Node) *html.Node { return all(page, "svg", "plot")[0] }
	linear := drawing(overlay(t, twice(linearRun()), linearRun()))
	assert.Len(t, all(linear, "path", "point"), 2*48)
	assert.Len(t, all(linear, "path", "whisker"), 48)
	depth := drawing(overlay(t, twice(depthRun()), twice(depthRun())))
	assert.Len(t, all(depth, "path", "whisker"), 2*2*11)
	assert.Equal(t, "IOPS and latency over depth, 4 KiB random read", attribute(depth, "aria-label"))
}

// A step whose figures cannot be true is not drawn.
func TestOverlayLeavesOutWhatIsImpossible(t *testing.T) {
	r := linearRun()
	steps := append([]record.Step(nil), r.Steps...)
	steps[3].Warnings = []record.Warning{{Code: record.WarnImpossible, Text: "impossible."}}
	r.Steps, r.Analysis = steps, &record.Analysis{Offsets: analysis.Offsets(steps)}
	assert.Len(t, all(all(overlay(t, linearRun(), r), "svg", "plot")[0], "path", "point"), 48+47)
}

// fio's own output has only a few percentiles. They are drawn as points, and nothing is drawn as known between
// them.
func TestOverlayOfAnImportedRun(t *testing.T) {
	ours := quickRun()
	for i := range ours.Steps {
		ours.Steps[i].Workload = &record.Workload{Direction: record.Read, Pattern: record.Random, BlockBytes: 4096, QueueDepth: 1}
	}
	old := ours
	old.Suite, old.Warnings = record.ImportedSuite, []record.Warning{{Code: record.WarnConditionsUnknown, Text: "The conditions are unknown."}}
	s := ours.Steps[0]
	read := *s.Read
	read.Percentiles, read.Latency = []record.Percentile{{Rank: 0.5, Latency: read.Latency.Quantile(0.5)}, {Rank: 0.99, Latency: read.Latency.Quantile(0.99)}}, nil
	s.Name, s.Read = "old", &read
	old.Steps = []record.Step{s}
	page := overlay(t, ours, old)
	text := words(page)
	assert.Contains(t, text, "Whether the conditions are the same is unknown")
	assert.Contains(t, text, "conditions_unknown")
	drawing := all(page, "svg", "plot")[0]
	assert.Equal(t, "Latency by percentile, "+s.Plan, attribute(drawing, "aria-label"))
	assert.Len(t, all(drawing, "path", "c2"), 2+1+1, "two points, a dashed line, a key of the legend")
	require.NoError(t, report.Comparisons{}.HTML(&strings.Builder{}, nil))
}

// When a condition differs between two runs, it is unknown for fio's own output.
func TestOverlayOfUnknownConditions(t *testing.T) {
	older, newer, imported := linearRun(), linearRun(), linearRun()
	older.Conditions.Firmware, newer.Conditions.Firmware = "F1", "F2"
	imported.Suite, imported.Conditions = record.ImportedSuite, record.Conditions{}
	assert.Contains(t, words(overlay(t, older, newer, imported)), "firmware F1 F2 unknown")
}
