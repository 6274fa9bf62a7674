package report_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func TestMarkdown(t *testing.T) {
	for name, r := range map[string]record.RunReport{"quick": quickRun(), "linear": linearRun(), "model": modelRun()} {
		var b strings.Builder
		require.NoError(t, report.Markdown(&b, report.NewDocument(r, nil)))
		golden(t, "markdown_"+name+".md", b.String())
	}
	c := compare.Pair(beforeUpdate(0.4), quickRun(), 0.2)
	var b strings.Builder
	require.NoError(t, report.Markdown(&b, report.NewDocument(quickRun(), &c), report.NewDocument(probeRun(), nil)))
	golden(t, "markdown_compared.md", b.String())
}

// Spaces within the asterisks would be shown as asterisks.
func TestMarkdownNamesTheRowOfANote(t *testing.T) {
	var b strings.Builder
	require.NoError(t, report.Markdown(&b, report.NewDocument(sheetRun(), nil)))
	assert.Contains(t, b.String(), "\n- **random-read-qd1**: one I/O at a time, which takes 79.7 µs on average\n")
}

// The name of a drive or a path cannot become part of the markup.
func TestMarkdownEscapes(t *testing.T) {
	r := quickRun()
	r.Target = "/srv/a|b *c* <img src=x> [d](e) _f_ g_h `i`\n# j"
	var b strings.Builder
	require.NoError(t, report.Markdown(&b, report.NewDocument(r, nil)))
	first, _, _ := strings.Cut(b.String(), "\n")
	assert.Contains(t, first, "/srv/a\\|b \\*c\\* \\<img src=x\\> \\[d\\](e) \\_f\\_ g_h \\`i\\`")
	assert.NotContains(t, b.String(), "\n# j")
}

func TestRunCSV(t *testing.T) {
	impossible := quickRun()
	impossible.Steps = impossible.Steps[:1]
	impossible.Steps[0].Warnings = []record.Warning{{Code: record.WarnImpossible, Text: "impossible."}}
	impossible.Target = "=1+1"
	var b strings.Builder
	require.NoError(t, report.CSV(&b, report.NewDocument(quickRun(), nil), report.NewDocument(impossible, nil)))
	golden(t, "run.csv", b.String())

	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	require.NoError(t, err)
	last := map[string]string{}
	for i, name := range rows[0] {
		last[name] = rows[len(rows)-1][i]
	}
	assert.Equal(t, "'=1+1", last["target"], "no formula")
	assert.Equal(t, record.WarnImpossible, last["warnings"])
	for _, figure := range []string{"direction", "ios", "iops", "bytes_per_second", "latency_p50_seconds", "latency_max_seconds",
		"cpus_used", "interrupts_per_io", "interrupts_per_second", "queue_depth_seen"} {
		assert.Empty(t, last[figure], figure)
	}
}
