package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// explained returns the evidence for the states at a time of a stream, late after the
// event in it.
func explained(kind, noise string, late time.Duration) report.Explained {
	s := drifttest.Stream{Kind: kind, Noise: noise, Seed: 3, Days: 4}
	end := drifttest.Start().Add(max(0, s.Label().Onset) + late)
	t := drift.NewTracker(drift.Default())
	for r := range s.Rounds() {
		if r.Time.After(end) {
			break
		}
		t.AddRound(r.Round, r.Conditions)
	}
	return report.Explained{
		Time: end, Node: "storage-07", TargetID: "eui.1", Path: "/dev/nvme0n1", Device: "nvme0n1",
		Probes: []report.ProbeExplained{{Probe: "read-4k", Explanation: t.Explain(time.Time{})}},
	}
}

// A drive may be judged by its traffic alone, or the user may ask only for that.
func TestExplainTrafficAlone(t *testing.T) {
	x := explained("none", "diurnal", 30*time.Hour)
	x.Traffic, x.Probes = &x.Probes[0].Explanation, nil
	var b strings.Builder
	require.NoError(t, report.Explain(&b, x))
	assert.Contains(t, b.String(), "\ntraffic: ")
	assert.NotContains(t, b.String(), "No probe runs")
}

func TestExplain(t *testing.T) {
	noted := explained("none", "quiet", 30*time.Hour)
	noted.Probes[0].UnjudgedBlocks = 12
	noted.Probes[0].Notes = []drift.Note{{
		Time: noted.Time.Add(-time.Hour), Text: "moved to the slow slot",
		Ratios: map[record.Statistic]float64{record.LatencyP50: 1.31, record.IOPS: 1.29},
	}}
	for name, x := range map[string]report.Explained{
		"learning":  explained("none", "quiet", 30*time.Minute),
		"early":     explained("none", "quiet", 121*time.Minute),
		"stable":    explained("none", "diurnal", 30*time.Hour),
		"noted":     noted,
		"suspect":   explained("step10", "quiet", 28*time.Minute),
		"regressed": explained("step20", "diurnal", time.Hour),
		"slow":      explained("intermittent", "quiet", 3*time.Hour),
		"double":    explained("double", "quiet", 20*time.Minute),
		"firmware":  explained("firmware", "quiet", 4*time.Hour),
		"nothing":   {Time: started(), Node: "storage-07", TargetID: "eui.1", Path: "/dev/nvme0n1"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			require.NoError(t, report.Explain(&b, x))
			golden(t, "explain_"+name+".txt", b.String())
		})
	}
}
