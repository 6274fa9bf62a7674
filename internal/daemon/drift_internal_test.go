package daemon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestProbesShareTheBudgetOfTheirTarget(t *testing.T) {
	c := config.Default()
	assert.InDelta(t, 0.5/3, c.DriftSettings(false).FalseAlarmsPerYear, 1e-12, "two probes, and the traffic")
	assert.InDelta(t, 0.5/4, c.DriftSettings(true).FalseAlarmsPerYear, 1e-12)
	c.Probes = nil
	assert.InDelta(t, 0.5, c.DriftSettings(true).FalseAlarmsPerYear, 1e-12)

	// A watch whose spec differs is replaced, so these settings take effect on a reload.
	before := want(c, measure.Subject{}, record.CollectorStatus{}).spec
	for _, change := range []func(*config.Drift){
		func(d *config.Drift) { d.SmallestEffect = 0.2 }, func(d *config.Drift) { d.FalseAlarmsPerYear = 1 },
	} {
		changed := c
		change(&changed.Drift)
		assert.NotEqual(t, before, want(changed, measure.Subject{}, record.CollectorStatus{}).spec)
	}
}

func TestDriftIsLogged(t *testing.T) {
	since := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	changes := []record.Change{{Condition: "firmware", From: "A", To: "B"}}
	var log logbook
	for _, e := range []drift.Event{
		{Changes: changes},
		{Learned: true, Effect: &record.Effect{Changes: changes, Ratios: map[record.Statistic]record.Ratio{
			record.LatencyP50: {Ratio: 1 / 1.18, Lower: 1 / 1.2, Upper: 1 / 1.16},
		}}},
		{Statistic: record.LatencyP50, From: record.Stable, To: record.Suspect, Ratio: 1.1},
		{
			Statistic: record.LatencyP50, From: record.Suspect, To: record.Regressed, Ratio: 1.5, Lower: 1.25, Upper: 1.75,
			Since: since, Cause: record.ByLevel, Attribution: changes,
		},
	} {
		tellDrift(log.timeless(), "read-4k", e)
	}
	lines := strings.Split(log.b.String(), "\n")
	assert.Equal(t, []string{
		`level=WARN msg="a new epoch begins: conditions differ from the baseline's" probe=read-4k changes="[firmware A → B]"`,
		`level=INFO msg="baseline learned" probe=read-4k`,
		`level=WARN msg="the effect of a change of conditions" probe=read-4k effect="since firmware A → B: p50 18 % faster (16 to 20 %)" ` +
			`changes="[firmware A → B]" ratios="map[latency_p50_seconds:18 % faster (16 to 20 %)]"`,
		`level=WARN msg="drift state changed" probe=read-4k statistic=latency_p50_seconds from=stable to=suspect times_slower=1.1`,
		`level=WARN msg="drift state changed" probe=read-4k statistic=latency_p50_seconds from=suspect to=regressed times_slower=1.5 ` +
			`lower=1.25 upper=1.75 since=2026-05-04T03:02:01.000Z cause=level because="[firmware A → B]"`,
		"",
	}, lines)
}

// A problem of the device is logged once, and so is its end, whatever the host did in between.
func TestTroubleIsLoggedOnceAndItsEnd(t *testing.T) {
	var log logbook
	r, p := rounds{target: &target{access: newAccess(), log: log.timeless()}}, new(probeState)
	for _, o := range []record.Outcome{
		record.OutcomeOK, record.OutcomeDisturbed, record.OutcomeOK, record.OutcomeError, record.OutcomeError, record.OutcomeBusy,
		record.OutcomeError, record.OutcomeTimeout, record.OutcomeDisturbed, record.OutcomeOK, record.OutcomeOK,
	} {
		r.tell(p, record.Measurement{Probe: "read-4k", Outcome: o, Reason: "why"})
	}
	assert.Equal(t, []string{
		`level=WARN msg="round not usable" probe=read-4k outcome=error reason=why`,
		`level=WARN msg="round not usable" probe=read-4k outcome=timeout reason=why`,
		`level=INFO msg="rounds are fine again" probe=read-4k was=timeout`,
		"",
	}, strings.Split(log.b.String(), "\n"))
}

// A drive that was slow from its first hours on causes a warning in the snapshot, from which the page, the findings
// and the commands take it.
func TestDrivesFarSlowerThanTheirPeersAreWarnedOf(t *testing.T) {
	node, s := judge.NewNode(drift.Default()), record.Snapshot{}
	for _, id := range []string{"a", "b", "c"} {
		node.AddDrive(judge.Drive{ID: id, Model: "X"})
		s.Targets = append(s.Targets, record.TargetStatus{ID: id, Warnings: make([]record.Warning, 0, 4)})
	}
	kept := s.Targets[2].Warnings
	for minute := range 6 * 60 {
		at := time.Unix(int64(minute)*60, 0)
		for id, x := range map[string]float64{"a": 80e-6, "b": 82e-6, "c": 160e-6} {
			node.Round(id, "read-4k", drift.Round{Time: at, Values: drift.Values{x, 1.2 * x, 1.5 * x, 1 / x}}, record.Conditions{})
		}
		node.Advance(at)
	}
	node.Fill(&s)
	assert.Empty(t, s.Targets[0].Warnings)
	if assert.Len(t, s.Targets[2].Warnings, 1) {
		assert.Equal(t, record.WarnSlowerThanPeers, s.Targets[2].Warnings[0].Code)
		assert.Contains(t, s.Targets[2].Warnings[0].Text, "probe read-4k is far slower than that of the 2 other drives of this model on the node (p50 ")
	}
	assert.Equal(t, record.Warning{}, kept[:1][0], "the list that a watch keeps is not written to")
	found := finding.Of(s)
	assert.True(t, slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Code == record.WarnSlowerThanPeers }))
}
