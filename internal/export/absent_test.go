package export_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// A target about which nothing is known yet has the series that say so, and none with a figure.
func TestATargetWithoutResults(t *testing.T) {
	s := record.Snapshot{Time: recordtest.Now(), Targets: []record.TargetStatus{{
		ID: "eui.1", Device: record.Device{ID: "eui.1", Name: "nvme0n1", Kind: record.KindDisk},
		Probes: []record.ProbeStatus{{Probe: record.DefaultProbes()[0], LearningGoal: 120}},
	}}}
	count := map[string]int{}
	for _, f := range gather(t, s, export.NewLatencies()) {
		count[f.GetName()] = len(f.GetMetric())
	}
	assert.Equal(t, map[string]int{
		"ssdprobe_build_info":             1,
		"ssdprobe_quiet":                  1,
		"ssdprobe_device_info":            1,
		"ssdprobe_device_returns_total":   1,
		"ssdprobe_drive_health":           5, // one per state; unknown is 1
		"ssdprobe_target_up":              1,
		"ssdprobe_probe_interval_seconds": 1,
		"ssdprobe_probe_rounds_total":     6,
		"ssdprobe_probe_read_bytes_total": 1,
		"ssdprobe_baseline_samples":       1,
		"ssdprobe_baseline_samples_goal":  1,
	}, count)
}

func TestAMissingResultHasNoSeries(t *testing.T) {
	type missing struct {
		name     string
		take     func(*record.TargetStatus)
		families []string
	}
	probe := func(take func(*record.ProbeStatus)) func(*record.TargetStatus) {
		return func(t *record.TargetStatus) { take(&t.Probes[0]) }
	}
	for _, m := range []missing{
		{"size", func(t *record.TargetStatus) { t.Device.SizeBytes = 0 }, []string{"ssdprobe_device_size_bytes"}},
		{"conditions", func(t *record.TargetStatus) { t.Conditions = record.Conditions{} }, []string{"ssdprobe_device_conditions_info"}},
		{"changes", func(t *record.TargetStatus) { t.Changed = map[string]time.Time{"kernel": {}} }, []string{"ssdprobe_conditions_changed_timestamp_seconds"}},
		{"link", func(t *record.TargetStatus) { t.Device.Link = nil }, []string{
			"ssdprobe_pcie_link_speed_transfers_per_second", "ssdprobe_pcie_link_width_lanes",
		}},
		{"link is down", func(t *record.TargetStatus) { *t.Device.Link = record.PCIeLink{} }, []string{
			"ssdprobe_pcie_link_speed_transfers_per_second", "ssdprobe_pcie_link_width_lanes",
		}},
		{"samples of what is written", func(t *record.TargetStatus) { t.WrittenRatio, t.PoolBlocks = nil, 0 }, []string{
			"ssdprobe_device_written_ratio", "ssdprobe_device_pool_blocks",
		}},
		{"window", probe(func(p *record.ProbeStatus) { p.Window = nil }), []string{
			"ssdprobe_probe_latency_percentile_seconds", "ssdprobe_probe_iops",
		}},
		{"I/Os in the window", probe(func(p *record.ProbeStatus) { *p.Window = record.Window{} }), []string{
			"ssdprobe_probe_latency_percentile_seconds", "ssdprobe_probe_iops",
		}},
		{"success", probe(func(p *record.ProbeStatus) { p.LastSuccess = time.Time{} }), []string{"ssdprobe_probe_last_success_timestamp_seconds"}},
		{"errors", probe(func(p *record.ProbeStatus) { p.Errors = nil }), []string{"ssdprobe_probe_errors_total"}},
		{"last round", probe(func(p *record.ProbeStatus) { p.Last = nil }), []string{"ssdprobe_probe_cpu_wait_ratio"}},
		{"anything to say", probe(func(p *record.ProbeStatus) { p.Drift, p.Errors, p.Last.Warnings = nil, nil, nil }), []string{"ssdprobe_finding"}},
		{"last round in full", probe(func(p *record.ProbeStatus) { p.Last.Outcome = record.OutcomeTimeout }), []string{"ssdprobe_probe_cpu_wait_ratio"}},
		{"last round at all", probe(func(p *record.ProbeStatus) { p.Last.Outcome = record.OutcomeBusy }), []string{"ssdprobe_probe_cpu_wait_ratio"}},
		{"baseline", probe(func(p *record.ProbeStatus) { p.Baseline = nil }), []string{
			"ssdprobe_baseline_value", "ssdprobe_baseline_learned_timestamp_seconds",
		}},
		{"learned baseline", probe(func(p *record.ProbeStatus) { p.Baseline.Learned = time.Time{} }), []string{
			"ssdprobe_baseline_value", "ssdprobe_baseline_learned_timestamp_seconds",
		}},
		{"drift", probe(func(p *record.ProbeStatus) { p.Drift = nil }), []string{
			"ssdprobe_drift_ratio", "ssdprobe_drift_ratio_lower", "ssdprobe_drift_state",
			"ssdprobe_drift_since_timestamp_seconds", "ssdprobe_drift_attribution_info",
		}},
		{"drift yet", probe(func(p *record.ProbeStatus) {
			p.Drift = []record.Drift{{Statistic: record.IOPS, State: record.Learning, Since: recordtest.Now()}}
		}), []string{
			"ssdprobe_drift_ratio", "ssdprobe_drift_ratio_lower",
			"ssdprobe_drift_since_timestamp_seconds", "ssdprobe_drift_attribution_info",
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			s := recordtest.Snapshot()
			s.Warnings, s.Collectors = nil, nil
			target := s.Targets[1]
			target.Warnings, target.Probes = nil, target.Probes[:1]
			target.Probes[0].Drift[0].Attribution = []record.Change{{Condition: "firmware", From: "A", To: "B"}}
			s.Targets = []record.TargetStatus{target}
			r := registry(t, s, observed(s)) // reads s.Targets each time it gathers
			for _, name := range m.families {
				require.Positive(t, number(t, r, name), name)
			}
			m.take(&s.Targets[0])
			for _, name := range m.families {
				assert.Zero(t, number(t, r, name), name)
			}
		})
	}
}

func number(t *testing.T, g prometheus.Gatherer, family string) int {
	t.Helper()
	n, err := testutil.GatherAndCount(g, family)
	require.NoError(t, err)
	return n
}

// A share of zero is a result: no wait for a CPU, nothing written.
func TestAResultOfZeroHasItsSeries(t *testing.T) {
	s := recordtest.Snapshot()
	*s.Targets[0].WrittenRatio, s.Targets[0].PoolBlocks = 0, 0
	s.Targets[0].Probes[0].Last.Disturbance.CPUWaitRatio = 0
	_, text := exposition(t, gather(t, s, observed(s)))
	labels := `device="nvme0n1",id="` + recordtest.HealthyID + `"`
	assert.Contains(t, text, "\nssdprobe_device_written_ratio{"+labels+"} 0\n")
	assert.Contains(t, text, "\nssdprobe_device_pool_blocks{"+labels+"} 0\n")
	assert.Contains(t, text, "\nssdprobe_probe_cpu_wait_ratio{"+labels+`,probe="read-4k"} 0`+"\n")
}

func TestADeviceThatLeftHasNoSeries(t *testing.T) {
	s := recordtest.Snapshot()
	latencies := observed(s)
	s.Targets = s.Targets[1:]
	_, text := exposition(t, gather(t, s, latencies))
	assert.NotContains(t, text, `id="`+recordtest.HealthyID+`"`)
	assert.Contains(t, text, `id="`+recordtest.RegressedID+`"`)
}

// The clock was set back while a round was in progress.
func TestARoundFromTheFutureHasNoNegativeAge(t *testing.T) {
	s := recordtest.Snapshot()
	s.Targets[0].Probes[0].InflightSince = s.Time.Add(time.Hour)
	_, text := exposition(t, gather(t, s, observed(s)))
	labels := `device="nvme0n1",id="` + recordtest.HealthyID + `",probe="read-4k"`
	assert.Contains(t, text, "\nssdprobe_probe_inflight_seconds{"+labels+"} 0\n")
}

// The series of a suite go when it is no longer scheduled, however long its reports are kept.
func TestASuiteThatIsNotScheduledHasNoSeries(t *testing.T) {
	series := func(change func(*record.RunStatus)) (names []string) {
		s := recordtest.Snapshot()
		require.Len(t, s.Targets[1].Runs, 1)
		change(&s.Targets[1].Runs[0])
		for _, f := range gather(t, s, export.NewLatencies()) {
			if strings.HasPrefix(f.GetName(), "ssdprobe_run_") || f.GetName() == "ssdprobe_runs_total" {
				names = append(names, f.GetName())
			}
		}
		return names
	}
	assert.Contains(t, series(func(*record.RunStatus) {}), "ssdprobe_run_read_iops")
	assert.Empty(t, series(func(r *record.RunStatus) { r.Next, r.Since = time.Time{}, time.Time{} }))
	assert.Contains(t, series(func(r *record.RunStatus) { r.Next, r.Since = time.Time{}, recordtest.Now() }), "ssdprobe_run_read_iops", "it is in progress")
}

// A physically impossible result has no figure, and its warning says why.
func TestTheImpossibleHasNoFigure(t *testing.T) {
	s := recordtest.Snapshot()
	run := s.Targets[1].Runs[0].Last
	require.NotEmpty(t, run.Steps)
	for i := range run.Steps {
		run.Steps[i].Warnings = []record.Warning{{Code: record.WarnImpossible}}
	}
	s.Targets[1].Runs = s.Targets[1].Runs[:1]
	warned := false
	for _, f := range gather(t, s, export.NewLatencies()) {
		assert.NotRegexp(t, "^ssdprobe_run_(read|write)_", f.GetName())
		warned = warned || f.GetName() == "ssdprobe_run_warning"
	}
	assert.True(t, warned)
}
