package web_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
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
	disk := record.DiskHealth{
		Passed: new(true), TemperatureCelsius: new(31), PercentageUsed: new(0.04), PowerOnHours: new(int64(12001)), PowerCycles: new(int64(37)),
		ReallocatedSectors: new(int64(6)), PendingSectors: new(int64(1)), UncorrectableSectors: new(int64(2)),
	}
	s.Controllers = append(s.Controllers, record.Controller{
		Name: "sda", Kind: record.ControllerDrive, Devices: []string{s.Targets[1].Device.ID}, LastRead: s.Time, Disk: &disk,
	})
	return s
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
	for _, target := range s.Targets {
		both(page, text, report.DeviceText(target.Device))
		for _, p := range target.Probes {
			if p.Baseline != nil {
				both(page, text, report.BaselineText(p))
			} else {
				both(page, text, report.LearningText(p))
			}
			both(page, text, p.Effect.String())
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
