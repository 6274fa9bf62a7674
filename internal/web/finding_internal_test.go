package web

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func now() time.Time { return time.Date(2026, 5, 4, 13, 2, 11, 0, time.UTC) }

// sound is a probe with nothing to tell.
func sound() record.ProbeStatus {
	return record.ProbeStatus{
		Probe: record.DefaultProbes()[0], LastSuccess: now().Add(-10 * time.Second),
		Last: &record.Measurement{Start: now().Add(-10 * time.Second), Outcome: record.OutcomeOK},
	}
}

func snapshot(probes ...record.ProbeStatus) record.Snapshot {
	return record.Snapshot{
		Time: now(), Started: now().Add(-time.Hour),
		Targets: []record.TargetStatus{{ID: "eui.1", Path: "/dev/nvme0n1", Device: record.Device{Name: "nvme0n1"}, Probes: probes}},
	}
}

func TestFindingsOfAProbe(t *testing.T) {
	link := record.Change{Condition: "pcie_link", From: "16 GT/s x4", To: "8 GT/s x4"}
	for name, c := range map[string]struct {
		change func(*record.ProbeStatus)
		want   []finding
	}{
		"nothing":                    {func(*record.ProbeStatus) {}, []finding{}},
		"a round that is on its way": {func(p *record.ProbeStatus) { p.InflightSince = now().Add(-time.Second) }, []finding{}},
		"a round that does not end": {
			func(p *record.ProbeStatus) { p.InflightSince = now().Add(-3 * time.Minute) },
			[]finding{{
				Severity: severityProblem, Code: "hung", Since: now().Add(-3 * time.Minute), rank: rankHung,
				Text: "the device does not answer: a round did not end within 20 s",
			}},
		},
		"a round that timed out hides that none was good": {
			func(p *record.ProbeStatus) {
				p.LastSuccess, p.Last.Outcome = time.Time{}, record.OutcomeTimeout
			},
			[]finding{{
				Severity: severityProblem, Code: "hung", Since: now().Add(-10 * time.Second), rank: rankHung,
				Text: "the device does not answer: a round did not end within 20 s",
			}},
		},
		"no good round for a while": {
			func(p *record.ProbeStatus) {
				p.LastSuccess, p.Last.Outcome, p.Last.Reason = now().Add(-6*time.Minute), record.OutcomeBusy, "utilisation 97 %"
			},
			[]finding{{
				Severity: severityWarning, Code: "stale", Since: now().Add(-6 * time.Minute), rank: rankStale,
				Text: "not measured: the last round was busy, utilisation 97 %",
			}},
		},
		"never a good round": {
			func(p *record.ProbeStatus) { p.LastSuccess, p.Last = time.Time{}, nil },
			[]finding{{
				Severity: severityWarning, Code: "stale", Since: now().Add(-time.Hour), rank: rankStale,
				Text: "not measured: no round has been run",
			}},
		},
		"errors in the past": {
			func(p *record.ProbeStatus) { p.Errors = map[string]uint64{"EIO": 2, "ENODATA": 1} },
			[]finding{{
				Severity: severityWarning, Code: "io_errors", rank: rankIOErrors,
				Text: "3 I/Os failed: 2 EIO, 1 ENODATA since ssdprobe started",
			}},
		},
		"errors now": {
			func(p *record.ProbeStatus) {
				p.Errors, p.Last.Outcome = map[string]uint64{"EIO": 1}, record.OutcomeError
			},
			[]finding{{
				Severity: severityProblem, Code: "io_errors", Since: now().Add(-10 * time.Second), rank: rankIOErrors,
				Text: "1 I/O failed: 1 EIO since ssdprobe started",
			}},
		},
		"slower, with a cause told once": {
			func(p *record.ProbeStatus) {
				p.Drift = []record.Drift{
					{Statistic: record.LatencyP50, State: record.Regressed, Since: now().Add(-time.Minute), Ratio: 1.5, Lower: 1.4, Upper: 1.6, Attribution: []record.Change{link}},
					{Statistic: record.LatencyP95, State: record.Stable, Since: now().Add(-time.Hour), Ratio: 1},
					{Statistic: record.IOPS, State: record.Regressed, Since: now().Add(-2 * time.Minute), Ratio: 1.3, Attribution: []record.Change{link}},
				}
			},
			[]finding{{
				Severity: severityProblem, Code: "regressed", Since: now().Add(-2 * time.Minute), rank: rankRegressed,
				Text: "slower than its baseline: p50 1.50× (1.40× to 1.60×), IOPS 1.30×; with it came PCIe link 16 GT/s x4 → 8 GT/s x4",
			}},
		},
		"maybe slower, with no cause": {
			func(p *record.ProbeStatus) {
				p.Drift = []record.Drift{{Statistic: record.LatencyP99, State: record.Suspect, Since: now(), Ratio: 1.2}}
			},
			[]finding{{
				Severity: severityWarning, Code: "suspect", Since: now(), rank: rankSuspect,
				Text: "may be slower than its baseline: p99 1.20×; no change of conditions was seen with it: look at the drive itself",
			}},
		},
		"faster is no finding": {
			func(p *record.ProbeStatus) {
				p.Drift = []record.Drift{{Statistic: record.LatencyP99, State: record.Improved, Since: now(), Ratio: 0.8}}
			},
			[]finding{},
		},
		"a number that may be wrong": {
			func(p *record.ProbeStatus) {
				p.Last.Warnings = []record.Warning{{Code: record.WarnPoolSmall, Text: "few written blocks"}}
			},
			[]finding{{Severity: severityWarning, Code: "pool_small", Text: "few written blocks", rank: rankWarning}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := sound()
			c.change(&p)
			for i := range c.want {
				c.want[i].TargetID, c.want[i].Path, c.want[i].Device, c.want[i].Probe = "eui.1", "/dev/nvme0n1", "nvme0n1", "read-4k"
			}
			assert.Equal(t, c.want, findings(snapshot(p), nil))
		})
	}
}

func TestFindingsWorstFirst(t *testing.T) {
	hung, slower, stale := sound(), sound(), sound()
	hung.InflightSince = now().Add(-time.Hour)
	slower.Drift = []record.Drift{{Statistic: record.LatencyP50, State: record.Regressed, Since: now(), Ratio: 2}}
	stale.LastSuccess = now().Add(-30 * time.Minute)
	s := snapshot(stale, slower, hung)
	s.Warnings = []record.Warning{{Code: record.WarnState, Text: "disk full"}}
	s.Collectors = []record.CollectorStatus{
		{Collector: "devices", Success: true}, {Collector: "pressure", Error: "no such file"}, {Collector: "state", Error: "disk full"},
	}
	s.Targets = append(s.Targets, record.TargetStatus{ID: "eui.2", Problem: "permission denied", Probes: []record.ProbeStatus{stale}})

	var codes []string
	for _, f := range findings(s, errors.New("devices are being discovered")) {
		codes = append(codes, f.Code)
	}
	assert.Equal(t, []string{"hung", "cannot_probe", "regressed", "not_ready", "stale", "collector", "state"}, codes,
		"a problem of the target explains its lack of rounds, and a warning its collector")
}

func TestPageTellsOnceWhatHoldsForAll(t *testing.T) {
	found := []finding{
		{Severity: severityWarning, Code: "governor", Text: "saves power", TargetID: "a", Path: "/dev/a"},
		{Severity: severityWarning, Code: "governor", Text: "saves power", TargetID: "b", Path: "/dev/b"},
		{Severity: severityWarning, Code: "collector", Text: "broken"},
	}
	want := []findingView{
		{
			Severity: severityWarning, Tone: toneWarn, Code: "governor", Text: "saves power",
			Subjects: []subjectView{{"target-1", "/dev/a"}, {"target-2", "/dev/b"}},
		},
		{Severity: severityWarning, Tone: toneWarn, Code: "collector", Text: "broken", Subjects: []subjectView{{"", "this node"}}},
	}
	assert.Equal(t, want, newFindingViews(found, map[string]string{"a": "target-1", "b": "target-2"}, now()))
}

func TestADriveThatMayNotBeReadIsAFinding(t *testing.T) {
	s := snapshot(sound())
	s.Ignored = []record.Ignored{
		{Device: record.Device{Name: "sda"}, Reason: "excluded by the configuration"},
		{Device: record.Device{Name: "sdb"}, Reason: "no permission to read /dev/sdb", Denied: true},
	}
	assert.Equal(t, []finding{{
		Severity: severityWarning, Code: "not_watched", Device: "sdb", rank: rankWarning,
		Text: "sdb is not watched: no permission to read /dev/sdb",
	}}, findings(s, nil))
}
