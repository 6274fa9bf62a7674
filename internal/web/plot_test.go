package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// after returns the explanation of a drive some time after something began. Its blocks are the last ones before the
// time of the fixture.
func after(kind string, late time.Duration) drift.Explanation {
	s := drifttest.Stream{Kind: kind, Noise: "quiet", Seed: 3, Days: 4}
	end := drifttest.Start().Add(s.Label().Onset + late)
	moved := recordtest.Now().Sub(end).Truncate(5 * time.Minute)
	t := drift.NewTracker(drift.Default())
	for r := range s.Rounds() {
		if r.Time.After(end) {
			break
		}
		r.Time = r.Time.Add(moved)
		t.AddRound(r.Round, r.Conditions)
	}
	return t.Explain(t.LastRound())
}

// explaining returns the explanation of the two drives of the fixture.
func explaining(id string) (report.Explained, bool) {
	x := report.Explained{Time: recordtest.Now(), Node: "stor-07", TargetID: id}
	switch id {
	case recordtest.HealthyID:
		x.Probes = []report.ProbeExplained{
			{Probe: "read-4k", Explanation: after("intermittent", 3*time.Hour)}, {Probe: "read-128k", Explanation: drift.Explanation{}},
		}
	case recordtest.RegressedID:
		x.Probes = []report.ProbeExplained{
			{Probe: "read-4k", Explanation: after("step50", 58*time.Minute)}, {Probe: "read-128k", Explanation: after("double", 5*time.Hour)},
		}
	}
	return x, len(x.Probes) > 0
}

func TestPlots(t *testing.T) {
	o := options()
	o.Explain = explaining
	var plots []string
	server := serve(t, o)
	for _, id := range []string{recordtest.HealthyID, recordtest.RegressedID, recordtest.FileID} {
		plots = append(plots, regexp.MustCompile(`(?s)<figure.*?</figure>`).FindAllString(devicePage(t, server.URL, id), -1)...)
	}
	require.Len(t, plots, 3, "none where no block was judged, and none of the file")
	golden(t, "plots.html", strings.Join(plots, "\n"))
	shows(t, plots[0], ">blocks with a slow round<")
	shows(t, plots[1], ">onset<")
	shows(t, plots[2], "it began before")
}

func TestAPlotLeavesGapsOpen(t *testing.T) {
	x := after("step10", -time.Hour)
	require.Len(t, x.Recent, 36)
	x.Recent = append(x.Recent[:10:10], append(x.Recent[20:21:21], x.Recent[30:]...)...)
	o := options()
	o.Explain = func(id string) (report.Explained, bool) {
		return report.Explained{Probes: []report.ProbeExplained{{Probe: "read-4k", Explanation: x}}}, id == recordtest.HealthyID
	}
	body := devicePage(t, serve(t, o).URL, recordtest.HealthyID)
	assert.Equal(t, 2*2, strings.Count(body, `class="line c1"`), "wide and narrow")
	assert.Equal(t, 2*1, strings.Count(body, `class="point c1"`))
}

func TestExplainAPI(t *testing.T) {
	o := options()
	o.Explain = explaining
	server := serve(t, o)
	got := get(t, server.URL+"/api/v1/explain/"+recordtest.RegressedID)
	require.Equal(t, http.StatusOK, got.status)
	x := decode[report.Explained](t, got)
	want, _ := explaining(recordtest.RegressedID)
	assert.Equal(t, want, x)
	require.Len(t, x.Probes, 2)
	assert.Equal(t, record.Regressed, x.Probes[0].Statistics[0].State)
	assert.Equal(t, http.StatusNotFound, get(t, server.URL+"/api/v1/explain/nvme9n9").status)
	assert.Equal(t, http.StatusNotFound, get(t, serve(t, options()).URL+"/api/v1/explain/"+recordtest.HealthyID).status)
}

// The normal range is known once the baseline is final: before that, there is no band to tell of.
func TestAPlotTellsOfTheBandThatItHas(t *testing.T) {
	for _, known := range []bool{false, true} {
		x := after("step10", -time.Hour)
		for i := range x.Statistics {
			if !known {
				x.Statistics[i].NoiseLower, x.Statistics[i].NoiseUpper = 0, 0
			}
		}
		o := options()
		o.Explain = func(id string) (report.Explained, bool) {
			return report.Explained{Probes: []report.ProbeExplained{{Probe: "read-4k", Explanation: x}}}, id == recordtest.HealthyID
		}
		body := devicePage(t, serve(t, o).URL, recordtest.HealthyID)
		assert.Equal(t, known, strings.Contains(body, `class="band"`))
		assert.Equal(t, known, strings.Contains(body, "The band is the normal range."))
	}
}

func TestEffectAndMaturityAreShown(t *testing.T) {
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		p := &s.Targets[0].Probes[0]
		p.Baseline.Maturity, p.Baseline.Pinned, p.UnjudgedBlocks = "final", true, 3
		p.Effect = &record.Effect{
			Time: s.Time, Changes: []record.Change{{Condition: "firmware", From: "A", To: "B"}},
			Ratios: map[record.Statistic]record.Ratio{record.LatencyP50: {Ratio: 0.8, Lower: 0.75, Upper: 0.85}},
		}
		s.Targets[1].Probes[0].Drift[2].Cause = "slow_rounds"
		return s
	}
	server := serve(t, o)
	body := pages(t, server.URL)
	shows(t, body, "since firmware A → B: p50 25 % faster (18 to 33 %)")
	shows(t, body, "pinned final baseline of 120 rounds; 3 blocks not judged: the baseline had not seen such load from others")
	shows(t, body, "p99 slow rounds have become common; the others are as before")
	shows(t, get(t, server.URL+"/api/v1/drift").body, `"text": "since firmware A → B: p50 25 % faster (18 to 33 %)"`)
}
