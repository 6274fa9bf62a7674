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

func TestDriftTellsWhatIsNotJudgedAndWhy(t *testing.T) {
	now := time.Date(2026, 5, 4, 13, 2, 0, 0, time.UTC)
	busy := &record.WhyUnjudged{Reason: record.ReasonBusy, Detail: "40 I/Os in flight, above the limit of 32", Since: now.Add(-3 * time.Hour)}
	day := &record.WhyUnjudged{Reason: record.ReasonFirstDay, Since: now.Add(-5 * time.Hour)}
	hour := &record.Span{From: now.Add(-time.Hour), To: now.Add(-2 * time.Minute)}
	snapshot := record.Snapshot{Time: now, Targets: []record.TargetStatus{{
		ID: "eui.1", Path: "/dev/nvme0n1", Probes: []record.ProbeStatus{
			{
				Probe: record.DefaultProbes()[0], Baseline: &record.Baseline{Maturity: record.Final, Values: map[record.Statistic]float64{record.LatencyP50: 80e-6}},
				Drift: []record.Drift{
					{Statistic: record.LatencyP50, State: record.Unknown, Since: busy.Since, Unjudged: busy},
					{Statistic: record.IOPS, State: record.Unknown, Since: busy.Since, Unjudged: busy},
				},
			},
			{
				Probe: record.DefaultProbes()[1], Drift: []record.Drift{
					{Statistic: record.LatencyP50, State: record.Stable, Since: day.Since, Ratio: 1.02, Lower: 1, Upper: 1.04, Now: 82e-6, Over: hour},
					{Statistic: record.LatencyP99, State: record.Waiting, Since: day.Since, Unjudged: day},
				},
			},
		},
	}}}
	var text strings.Builder
	require.NoError(t, report.Drift(&text, snapshot))
	words := strings.Join(strings.Fields(text.String()), " ")
	for _, fact := range []string{
		"1 statistic compared, 1 stable, 2 unknown, 1 waiting",
		"p50 unknown 80.0 µs - - -",
		"p50, IOPS not judged: rounds were refused: 40 I/Os in flight, above the limit of 32",
		"p50 stable - 82.0 µs 1.02× (1.00× to 1.04×) last 1 h",
		"p99 waiting - - - -",
		"p99 not judged: it takes a day to learn what is normal",
	} {
		assert.Contains(t, words, fact)
	}
	soon := record.Drift{Over: &record.Span{From: now.Add(-40 * time.Second), To: now}}
	assert.Equal(t, "last 40 s", report.OverText(soon, now))
	assert.Equal(t, 1, strings.Count(words, "rounds were refused"), "the same reason is told once")
}
