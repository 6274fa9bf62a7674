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
		Probes: []report.ProbeExplained{{Probe: "read-4k", Explanation: t.Explain(t.LastRound())}},
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

// An early baseline of rounds that varied allows for that, so the limit is higher than on a steady drive.
func TestExplainTheLimitOfAnEarlyBaseline(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration // one round in three takes that long
		want  string
	}{
		"steady": {100 * time.Microsecond, "No alarm. While the baseline is early, only rounds that are more than 1.70× slower for five minutes raise an alarm, or far slower ones sooner."},
		"varied": {300 * time.Microsecond, "Waiting: the baseline is being learned. While the baseline is early, only rounds that are more than 5.10× slower for five minutes raise an alarm, or far slower ones sooner."},
	} {
		t.Run(name, func(t *testing.T) {
			settings := drift.Default()
			settings.BaselineRounds = 30
			tracker := drift.NewTracker(settings)
			for i := range 30 {
				p := 100e-6
				if i%3 == 0 {
					p = c.every.Seconds()
				}
				tracker.AddRound(drift.Round{Time: drifttest.Start().Add(time.Duration(i) * time.Second), Values: drift.Values{p, p, p, 1 / p}}, record.Conditions{})
			}
			x := report.Explained{Time: drifttest.Start().Add(time.Minute), Node: "storage-07", TargetID: "eui.1", Path: "/dev/nvme0n1"}
			x.Probes = []report.ProbeExplained{{Probe: "read-4k", Explanation: tracker.Explain(tracker.LastRound())}}
			var b strings.Builder
			require.NoError(t, report.Explain(&b, x))
			got := strings.Join(strings.Fields(b.String()), " ")
			assert.Contains(t, got, c.want)
			assert.Contains(t, got, ", under 0.0 % load from others", "not 0 to 0.0 %")
		})
	}
}

// A drive that gets much faster on its first day is no alarm because that day is not over, and not because the shift is small.
func TestExplainWhatIsJudgedAfterTheFirstDay(t *testing.T) {
	tracker := drift.NewTracker(drift.Default())
	for i := range 4 * 60 {
		p := 100e-6 * (1 + 0.02*float64(i*7%17-8)/8)
		if i >= 3*60 {
			p /= 2
		}
		tracker.AddRound(drift.Round{Time: drifttest.Start().Add(time.Duration(i) * time.Minute), Values: drift.Values{p, 1.3 * p, 1.8 * p, 1 / p}}, record.Conditions{})
	}
	x := report.Explained{Time: tracker.LastRound(), Node: "storage-07", TargetID: "eui.1", Path: "/dev/nvme0n1"}
	x.Probes = []report.ProbeExplained{{Probe: "read-4k", Explanation: tracker.Explain(tracker.LastRound())}}
	require.Equal(t, record.Provisional, x.Probes[0].Maturity)
	require.InDelta(t, 0.5, x.Probes[0].Statistics[0].Ratio, 0.01)
	var b strings.Builder
	require.NoError(t, report.Explain(&b, x))
	got := strings.Join(strings.Fields(b.String()), " ")
	assert.Contains(t, got, "The evidence for faster, about 100 % is complete, but until the baseline is final, only a slower level raises an alarm.")
	assert.NotContains(t, got, "too small")
}

// The range beside the bars is that of the blocks, not that of the scale, which noise must not fill.
func TestExplainHasTheRangeOfTheBlocks(t *testing.T) {
	x := explained("none", "quiet", 30*time.Hour)
	for ratios, want := range map[[2]float64]string{{1.39, 1.39}: "the last 2 blocks, 1.39×", {1.39, 1.41}: "the last 2 blocks, 1.39× to 1.41×"} {
		x.Probes[0].Recent = []drift.Block{{Ratios: drift.Values{ratios[0], 1, 1, 1}}, {Ratios: drift.Values{ratios[1], 1, 1, 1}}}
		var b strings.Builder
		require.NoError(t, report.Explain(&b, x))
		assert.Contains(t, b.String(), want+"\n")
	}
}

// The level of what is only assumed may be that of a slower drive: that is no reason to say that nothing was compared.
func TestExplainSaysThatALevelIsAssumed(t *testing.T) {
	x := explained("none", "quiet", 30*time.Hour)
	d := &x.Probes[0].Statistics[0].Drift
	d.State, d.Unjudged = record.Unknown, &record.WhyUnjudged{Reason: record.ReasonAssumed}
	var b strings.Builder
	require.NoError(t, report.Explain(&b, x))
	assert.Contains(t, strings.Join(strings.Fields(b.String()), " "), "Compared with what may be the level of a slower drive: when its traffic was learned, no round")
}

func TestExplain(t *testing.T) {
	noted := explained("none", "quiet", 30*time.Hour)
	noted.Probes[0].UnjudgedBlocks = 12
	noted.Probes[0].Notes = []drift.Note{{
		Time: noted.Time.Add(-time.Hour), Text: "moved to the slow slot",
		Ratios: map[record.Statistic]float64{record.LatencyP50: 1.31, record.IOPS: 1.29},
	}}
	recurring := explained("none", "quiet", 30*time.Hour)
	recurring.Probes[0].Statistics[0].Expected = []drift.Expected{
		{Every: drift.EveryDay, From: recurring.Time.Add(time.Hour), To: recurring.Time.Add(3 * time.Hour), Ratio: 1.6},
		{Every: drift.EveryWeek, From: recurring.Time.Add(50 * time.Hour), To: recurring.Time.Add(52 * time.Hour), Ratio: 2.1},
	}
	for name, x := range map[string]report.Explained{
		"recurring": recurring,
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
