package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// inOneLine returns the text of a report on one line.
func inOneLine(t *testing.T, r record.RunReport) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.Run(&b, r))
	return strings.Join(strings.Fields(b.String()), " ")
}

// A purge is only a request: the measurements show whether the drive obeyed it.
func TestPurgeIsWeighed(t *testing.T) {
	purged := func(change func(*record.RunReport)) record.RunReport {
		r := steadyRun()
		r.Steps = append([]record.Step{{Name: "purge"}}, r.Steps...)
		change(&r)
		return r
	}
	assert.NotContains(t, inOneLine(t, steadyRun()), "purge")
	assert.Contains(t, inOneLine(t, purged(func(r *record.RunReport) { r.Analysis.Steady.Fresh = 3.5 })),
		"The purge was a discard of all blocks, which a drive may postpone or ignore; the first round was 3.50× as fast as the steady ones, so the drive probably obeyed it.")
	assert.Contains(t, inOneLine(t, purged(func(r *record.RunReport) { r.Analysis.Steady.Fresh = 1.05 })), "was hardly faster than the steady ones (1.05×), so the drive probably ignored it")
	for _, change := range []func(*record.RunReport){
		func(r *record.RunReport) { r.Analysis.Steady.Reached = false },
		func(r *record.RunReport) { r.Steps = append(r.Steps, record.Step{Name: "precondition"}) },
	} {
		assert.Contains(t, inOneLine(t, purged(change)), "may postpone or ignore; this run does not show whether it did.")
	}
}

func TestFormatIsNamed(t *testing.T) {
	r := steadyRun()
	r.Steps = append([]record.Step{{Name: "format", Plan: "NVMe Format, which erases all user data", Duration: 90 * time.Second, InterruptsPerIO: -1}}, r.Steps...)
	assert.Contains(t, inOneLine(t, r), "The purge was NVMe Format, which erased all user data in 1 min 30 s.")
	var b strings.Builder
	require.NoError(t, report.Brief(&b, r))
	assert.Regexp(t, `(?m)^format +not measured$`, b.String())
}

// Percentiles of syncs are stated only when there are enough syncs.
func TestSyncsAreSummedUp(t *testing.T) {
	r := probeRun()
	r.Steps = nil
	for range 2 {
		s := step("durable", record.Workload{Direction: record.Write, Pattern: record.Sequential, BlockBytes: 4 << 10, QueueDepth: 1, Jobs: 1}, result(depth32(600), 4<<10, 1))
		s.Sync = result(depth32(600), 4<<10, 1)
		r.Steps = append(r.Steps, s)
	}
	text := inOneLine(t, r)
	assert.Regexp(t, `A sync takes [\d.]+ [µm]s in the median, [\d.]+ [µm]s at p99, over 1 200 syncs in 2 steps\.`, text)
	assert.Contains(t, text, "p99 needs 1 000 syncs, and p99.9 needs 10 000.")
}

// Thirty warnings that differ in a figure do not bury the plot they belong to.
func TestWarningsOfAKindStandOnceBelowAPlot(t *testing.T) {
	r := depthRun()
	for i := range r.Steps {
		r.Steps[i].Warnings = []record.Warning{{Code: record.WarnDisturbed, Text: "Waited " + strings.Repeat("I", i/2+1) + "."}}
	}
	html := page(t, report.NewDocument(r, nil))
	assert.Contains(t, html, "Waited I. More of this kind are listed with the steps.", "no number: steps may have the same warning")
	assert.Contains(t, html, "Waited IIIIII.", "in the table of all steps")
}
