package web_test

import (
	"cmp"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// flat returns text without line breaks and with ordinary spaces.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// everything returns a snapshot that has every kind of fact.
func everything() record.Snapshot {
	s := recordtest.Snapshot()
	p := &s.Targets[0].Probes[0]
	p.Baseline.Maturity, p.Baseline.Pinned, p.UnjudgedBlocks = record.Final, true, 3
	p.Effect = &record.Effect{
		Time: s.Time, Changes: []record.Change{{Condition: "pcie_link", From: "A", To: "B"}},
		Ratios: map[record.Statistic]record.Ratio{record.LatencyP50: {Ratio: 0.8, Lower: 0.75, Upper: 0.85}},
	}
	p.Lifetime = map[record.Statistic]record.Lifetime{record.LatencyP50: {Ratio: record.Ratio{Ratio: 1.41, Lower: 1.38, Upper: 1.45}, Since: s.Time.Add(-2000 * time.Hour)}}
	changes := []record.Change{{Condition: "kernel", From: "6.1", To: "6.8"}, {Condition: "governor", From: "performance", To: "powersave"}}
	s.Targets[1].Verdict.Attribution, s.Targets[1].Probes[0].Drift[0].Attribution = changes, changes
	s.Together = []record.Together{{
		Scope: record.ScopeHost, Source: "read-4k", Statistic: record.LatencyP50, Ratio: record.Ratio{Ratio: 1.44, Lower: 1.41, Upper: 1.47},
		Since: s.Time.Add(-time.Hour), Drives: []string{s.Targets[0].ID, s.Targets[1].ID}, Of: 2, Attribution: changes,
	}}
	disk := record.DiskHealth{
		Passed: new(true), TemperatureCelsius: new(31), PercentageUsed: new(0.04), PowerOnHours: new(int64(12001)), PowerCycles: new(int64(37)),
		ReallocatedSectors: new(int64(6)), PendingSectors: new(int64(1)), UncorrectableSectors: new(int64(2)),
	}
	s.Controllers = append(s.Controllers, record.Controller{
		Name: "sda", Kind: record.ControllerDrive, Devices: []string{s.Targets[1].Device.ID}, LastRead: s.Time, Disk: &disk,
	})
	return s
}

// explained returns what drift explain says of a target.
func explained(t *testing.T, s record.Snapshot, target record.TargetStatus) string {
	t.Helper()
	x := report.Explained{Time: s.Time, Verdict: target.Verdict, Together: s.Together}
	for _, p := range target.Probes {
		if p.Baseline == nil {
			continue
		}
		e := drift.Explanation{Maturity: cmp.Or(p.Baseline.Maturity, record.Final), UnjudgedBlocks: p.UnjudgedBlocks}
		for _, d := range p.Drift {
			e.Statistics = append(e.Statistics, drift.StatisticExplanation{Drift: d})
		}
		x.Probes = append(x.Probes, report.ProbeExplained{Probe: p.Probe.Name, Explanation: e})
	}
	var b strings.Builder
	require.NoError(t, report.Explain(&b, x))
	return flat(b.String())
}

// A fact has the same name and value on the page and in the text that is made from the JSON of the API.
func TestFactsHaveOneWording(t *testing.T) {
	o := options()
	o.Snapshot = everything
	server := serve(t, o)
	s := decode[record.Snapshot](t, get(t, server.URL+"/api/v1/snapshot"))
	body := pages(t, server.URL)
	page := words(body)

	var b strings.Builder
	var rows []report.SmartRow
	for _, c := range s.Controllers {
		rows = append(rows, report.SmartRow{Controller: c})
	}
	require.NoError(t, report.Smart(&b, rows))
	require.NoError(t, report.Drift(&b, s))
	text := flat(b.String())

	count := 0
	both := func(page, text, fact string) {
		t.Helper()
		count++
		assert.Contains(t, page, flat(fact), "the page")
		assert.Contains(t, text, flat(fact), "text")
	}
	for _, c := range s.Controllers {
		facts := report.HealthFacts(c)
		for _, f := range facts.Known() {
			assert.Contains(t, text, flat(f.Name+" "+f.Value+f.More))
		}
		for _, f := range facts.Main() {
			both(page, text, f.Name+" "+f.Value)
		}
	}
	for _, e := range s.Together {
		fact := e.Source + " " + e.Statistic.Short() + " " + units.RatioWithin(e.Ratio.Ratio, e.Ratio.Lower, e.Ratio.Upper)
		both(page, text, fact+", "+record.ChangedWith(e.Attribution))
		assert.Contains(t, explained(t, s, s.Targets[0]), fact+", "+record.ChangedWith(e.Attribution))
	}
	for _, target := range s.Targets {
		explanation := explained(t, s, target)
		both(page, text, report.DeviceText(target.Device))
		both(page, text, record.ChangedWith(target.Judged().Attribution))
		for _, p := range target.Probes {
			both(page, text, report.UnjudgedText(p.UnjudgedBlocks))
			assert.Contains(t, explanation, report.UnjudgedText(p.UnjudgedBlocks))
			for _, d := range p.Drift {
				ratio := units.RatioWithin(d.Ratio, d.Lower, d.Upper)
				both(page, text, units.Bounds(d.Lower, d.Upper)) // the page has it below the ratio
				assert.Contains(t, text, ratio)
				assert.Contains(t, explanation, ratio)
				assert.Contains(t, explanation, record.ChangedWith(d.Attribution))
			}
			if p.Baseline != nil {
				both(page, text, report.BaselineText(p))
			} else {
				both(page, text, report.LearningText(p))
			}
			both(page, text, p.Effect.String())
			both(page, text, strings.Join(report.LifetimeWords(p.Lifetime), ", "))
		}
		for _, c := range target.Conditions.List() {
			if c.Value != "" {
				assert.Contains(t, page, flat(record.ConditionTitle(c.Name)+" "+c.Value))
			}
		}
	}
	for _, f := range finding.Of(s) {
		both(page, text, f.String())
		both(page, text, f.Action)
	}
	assert.Greater(t, count, 40)
}

// What is said of drives is read anywhere, so each moment in it is in UTC, and says so.
func TestMomentsHaveOneZone(t *testing.T) {
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := everything()
		s.QuietUntil = s.Time.Add(time.Hour).In(time.FixedZone("CET", 2*60*60))
		s.Targets[1].Probes[0].Errors = map[string]uint64{"EIO": 1}
		return s
	}
	server := serve(t, o)
	s := decode[record.Snapshot](t, get(t, server.URL+"/api/v1/snapshot"))
	var b strings.Builder
	require.NoError(t, report.Drift(&b, s))
	var devices []report.DeviceRow
	for _, target := range s.Targets {
		devices = append(devices, report.DeviceRow{Device: target.Device, Findings: finding.OfTarget(finding.Of(s), target.ID)})
	}
	require.NoError(t, report.Devices(&b, report.DeviceList{Devices: devices}, s.Time))
	moment := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? \S*`)
	for name, text := range map[string]string{"the page": words(pages(t, server.URL)), "drift": flat(b.String()), "explain": explained(t, s, s.Targets[1])} {
		all := moment.FindAllString(text, -1)
		assert.NotEmpty(t, all, name)
		for _, at := range all {
			assert.Regexp(t, ` UTC\b`, at, name)
		}
	}
}
