package health_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// well returns the health of a controller without any problem.
func well() record.Health {
	return record.Health{
		Identity: record.ControllerIdentity{Serial: "A"}, AvailableSpare: new(1.0), AvailableSpareThreshold: new(0.1), PercentageUsed: new(0.02), MediaErrors: new(uint64(3)),
		Temperatures:           []record.Temperature{{Sensor: "1", Celsius: 90}, {Sensor: record.CompositeSensor, Celsius: 78}},
		WarningTemperatureTime: new(3 * time.Minute), CriticalTemperatureTime: new(time.Minute), Throttling: []record.Throttling{{Level: "light", Transitions: 2, Time: time.Minute}, {Level: "heavy"}},
	}
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(before, now *record.Health)
		code   string
		says   []string
	}{
		"nothing": {func(_, _ *record.Health) {}, "", nil},
		"few spares": {func(_, n *record.Health) {
			n.CriticalWarnings, n.AvailableSpare = []record.CriticalWarning{record.CriticalSpare}, new(0.05)
		}, record.WarnDriveCritical, []string{"spare blocks (5 %) are below the drive's threshold (10 %)", "replace it soon"}},
		"too hot": {func(_, n *record.Health) { n.CriticalWarnings = []record.CriticalWarning{record.CriticalTemperature} },
			record.WarnDriveCritical, []string{"(78 °C now)", "airflow"}},
		"unreliable": {func(_, n *record.Health) { n.CriticalWarnings = []record.CriticalWarning{record.CriticalReliability} },
			record.WarnDriveCritical, []string{"unreliable", "copy what is on it"}},
		"read-only": {func(_, n *record.Health) { n.CriticalWarnings = []record.CriticalWarning{record.CriticalReadOnly} },
			record.WarnDriveCritical, []string{"read-only", "replace it"}},
		"capacitors": {func(_, n *record.Health) { n.CriticalWarnings = []record.CriticalWarning{record.CriticalBackup} },
			record.WarnDriveCritical, []string{"capacitors", "lost with the power"}},
		"persistent memory": {func(_, n *record.Health) {
			n.CriticalWarnings = []record.CriticalWarning{record.CriticalPersistentMemory}
		},
			record.WarnDriveCritical, []string{"persistent memory region"}},
		"worn": {func(_, n *record.Health) { n.PercentageUsed = new(0.91) }, record.WarnWorn, []string{"91 %"}},
		"used up": {func(_, n *record.Health) {
			n.CriticalWarnings, n.PercentageUsed = []record.CriticalWarning{record.CriticalEndurance}, new(1.0)
		}, record.WarnWorn, []string{"100 % of the rated endurance is used; the drive calls itself unreliable, probably because of that"}},
		"throttles longer": {func(_, n *record.Health) { n.Throttling[0].Time += 7 * time.Second }, record.WarnThrottling, []string{"light throttling for 7s"}},
		"throttles lightly, then heavily": {func(_, n *record.Health) {
			n.Throttling[0].Time += time.Second
			n.Throttling[1].Time += 7 * time.Second
		},
			record.WarnThrottling, []string{"(light throttling for 1s, heavy throttling for 7s)"}},
		"critically hot now": {func(b, n *record.Health) {
			b.Identity.CriticalTemperature, n.Identity.CriticalTemperature = new(78), new(78)
		},
			record.WarnCriticallyHot, []string{"78 °C now, and its critical temperature is 78 °C"}},
		"critically hot now, and the drive says so": {func(b, n *record.Health) {
			b.Identity.CriticalTemperature, n.Identity.CriticalTemperature = new(78), new(78)
			n.CriticalWarnings = []record.CriticalWarning{record.CriticalTemperature}
		}, record.WarnDriveCritical, []string{"(78 °C now)"}},
		"not yet critically hot": {func(b, n *record.Health) {
			b.Identity.CriticalTemperature, n.Identity.CriticalTemperature = new(79), new(79)
		}, "", nil},
		"few spares, though not on the whole": {func(_, n *record.Health) { n.CriticalWarnings = []record.CriticalWarning{record.CriticalSpare} },
			record.WarnDriveCritical, []string{"too few spare blocks (100 % are left on the whole): it may become read-only"}},
		"few spares in an endurance group": {func(_, n *record.Health) {
			n.GroupWarnings, n.AvailableSpare = []record.CriticalWarning{record.CriticalSpare}, new(0.05)
		}, record.WarnDriveCritical, []string{"the spare blocks of one endurance group are below the drive's threshold"}},
		"an unreliable endurance group": {func(_, n *record.Health) { n.GroupWarnings = []record.CriticalWarning{record.CriticalReliability} },
			record.WarnDriveCritical, []string{"calls one endurance group unreliable", "copy what its namespaces hold"}},
		"a read-only endurance group": {func(_, n *record.Health) { n.GroupWarnings = []record.CriticalWarning{record.CriticalReadOnly} },
			record.WarnDriveCritical, []string{"the media of one endurance group are read-only now"}},
		"throttles again": {func(_, n *record.Health) { n.Throttling[1].Transitions++ }, record.WarnThrottling, []string{"heavy throttling, 1 times"}},
		"critically hot": {func(_, n *record.Health) { n.CriticalTemperatureTime = new(2 * time.Minute) },
			record.WarnCriticallyHot, []string{"above its critical temperature for 1 min of the last hour"}},
		"warm for long": {func(_, n *record.Health) { n.WarningTemperatureTime = new(8 * time.Minute) },
			record.WarnHot, []string{"above its warning temperature for 5 min of the last hour"}},
		"warm now, of a drive that does not count": {func(b, n *record.Health) {
			b.WarningTemperatureTime, n.WarningTemperatureTime, n.Identity.WarningTemperature = nil, nil, new(78)
		}, record.WarnHot, []string{"78 °C now, and its warning temperature is 78 °C"}},
		"warm now, of a drive that counts": {func(_, n *record.Health) { n.Identity.WarningTemperature = new(78) }, "", nil},
		"warm":                             {func(_, n *record.Health) { n.WarningTemperatureTime = new(7 * time.Minute) }, "", nil},
		"few spares, without the drive's warning": {func(_, n *record.Health) { n.AvailableSpare = new(0.09) },
			record.WarnFewSpares, []string{"9 % of its spare blocks are left", "threshold of 10 %"}},
		"as many spares as the threshold": {func(_, n *record.Health) { n.AvailableSpare = new(0.1) }, "", nil},
		"nine tenths worn":                {func(_, n *record.Health) { n.PercentageUsed = new(0.9) }, "", nil},
		"media errors":                    {func(_, n *record.Health) { n.MediaErrors = new(uint64(5)) }, record.WarnMediaErrors, []string{"2 new media errors", "5 in all"}},
		"its first media errors":          {func(b, _ *record.Health) { b.MediaErrors = nil }, record.WarnMediaErrors, []string{"3 new media errors", "3 in all"}},
		"media errors are not reported":   {func(_, n *record.Health) { n.MediaErrors = nil }, "", nil},
		"another drive came":              {func(b, n *record.Health) { b.Identity.Serial, n.MediaErrors = "B", new(uint64(9)) }, "", nil},
		"counters began anew":             {func(b, _ *record.Health) { b.MediaErrors, b.Throttling[0].Time = new(uint64(7)), time.Hour }, "", nil},
		"levels not told before":          {func(b, _ *record.Health) { b.Throttling, b.CriticalTemperatureTime = nil, nil }, "", nil},
		"a level without meaning":         {func(b, n *record.Health) { n.Throttling[0].Level, n.Throttling[0].Time = "?", time.Hour; _ = b }, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := well(), well()
			c.change(&before, &now)
			var recent health.Recent
			recent.Warnings(before)
			got := recent.Warnings(now)
			if c.code == "" {
				assert.Empty(t, got)
				return
			}
			if assert.Len(t, got, 1) {
				assert.Equal(t, c.code, got[0].Code)
				for _, text := range c.says {
					assert.Contains(t, got[0].Text, text)
				}
			}
		})
	}
	all := well()
	all.CriticalWarnings = record.CriticalWarnings()
	assert.Len(t, new(health.Recent).Warnings(all), 6, "also at the first reading, and each says its own")
}

// Warnings look back for an hour or a day, like the alerts: growth between two readings is still
// known at the next one.
func TestWarningsLookBackAsFarAsTheAlerts(t *testing.T) {
	var recent health.Recent
	begin := time.Date(2026, 5, 4, 13, 0, 0, 0, time.UTC)
	after := func(d time.Duration, warm, hot time.Duration, mediaErrors uint64) []string {
		h := well()
		h.Time, h.WarningTemperatureTime, h.CriticalTemperatureTime, h.MediaErrors = begin.Add(d), &warm, &hot, &mediaErrors
		var codes []string
		for _, w := range recent.Warnings(h) {
			codes = append(codes, w.Code)
		}
		return codes
	}
	assert.Empty(t, after(0, time.Hour, time.Hour, 7), "what was counted before is of no known time")
	assert.Empty(t, after(20*time.Minute, 64*time.Minute, time.Hour, 7))
	assert.Equal(t, []string{record.WarnCriticallyHot, record.WarnHot}, after(30*time.Minute, 66*time.Minute, 61*time.Minute, 7))
	assert.Equal(t, []string{record.WarnCriticallyHot, record.WarnHot, record.WarnMediaErrors}, after(79*time.Minute, 66*time.Minute, 61*time.Minute, 8))
	assert.Equal(t, []string{record.WarnCriticallyHot, record.WarnMediaErrors}, after(80*time.Minute, 66*time.Minute, 61*time.Minute, 8))
	assert.Equal(t, []string{record.WarnMediaErrors}, after(25*time.Hour, 66*time.Minute, 61*time.Minute, 8))
	assert.Empty(t, after(26*time.Hour, 66*time.Minute, 61*time.Minute, 8))
}

// After hours without a reading, it is unknown in which of them a counter grew.
func TestWarningsOfALongGap(t *testing.T) {
	var recent health.Recent
	after := func(d, hot time.Duration) string {
		h := well()
		h.Time, h.WarningTemperatureTime, h.CriticalTemperatureTime = h.Time.Add(d), nil, &hot
		var texts []string
		for _, w := range recent.Warnings(h) {
			texts = append(texts, w.Text)
		}
		return strings.Join(texts, "; ")
	}
	assert.Empty(t, after(0, 0))
	assert.Equal(t, "above its critical temperature for 5 h of the last 6 h", after(6*time.Hour, 5*time.Hour))
	assert.Equal(t, "above its critical temperature for 5 h of the last 6 h 30 min", after(6*time.Hour+30*time.Minute, 5*time.Hour))
	assert.Empty(t, after(7*time.Hour, 5*time.Hour))
}

// Replaced sectors are reported for a day, like media errors.
func TestReplacedSectorsAreToldForADay(t *testing.T) {
	var recent health.Recent
	after := func(d time.Duration, sectors int64) []record.Warning {
		return recent.DiskWarnings(record.DiskHealth{Time: time.Date(2026, 5, 4, 13, 0, 0, 0, time.UTC).Add(d), ReallocatedSectors: &sectors})
	}
	assert.Empty(t, after(0, 6))
	want := []record.Warning{{Code: record.WarnMediaErrors, Text: "3 sectors were replaced within a day, 9 in all"}}
	assert.Equal(t, want, after(time.Minute, 9))
	assert.Equal(t, want, after(23*time.Hour, 9))
	assert.Empty(t, after(25*time.Hour, 9))
	assert.Empty(t, after(26*time.Hour, 2), "the counter began anew")
}

// Alerts are in jsonnet and warnings in Go, so they cannot share the limits.
func TestWarningsHaveTheLimitsOfTheAlerts(t *testing.T) {
	config, err := os.ReadFile("../../deploy/mixin/config.libsonnet")
	require.NoError(t, err)
	assert.Contains(t, string(config), fmt.Sprintf("\n    wornRatio: %v,\n", health.NearlyWorn))
	assert.Contains(t, string(config), fmt.Sprintf("\n    hotSeconds: %v,\n", health.HotFor.Seconds()))
}

func TestNamespaceWarnings(t *testing.T) {
	for allocated, warns := range map[uint64]bool{0: true, 499: true, 500: false, 1000: false} {
		got := health.NamespaceWarnings(record.NamespaceHealth{SizeBytes: 1000, AllocatedBytes: &allocated})
		assert.Equal(t, warns, len(got) == 1 && got[0].Code == record.WarnUnwritten, allocated)
	}
	assert.Empty(t, health.NamespaceWarnings(record.NamespaceHealth{}))
}

func TestDiskWarnings(t *testing.T) {
	sound := record.DiskHealth{Passed: new(true), PercentageUsed: new(0.9), PendingSectors: new(int64(0)), ReallocatedSectors: new(int64(6))}
	var recent health.Recent
	assert.Empty(t, recent.DiskWarnings(sound))
	assert.Empty(t, recent.DiskWarnings(sound))
	assert.Empty(t, new(health.Recent).DiskWarnings(record.DiskHealth{Asleep: true}))

	failing := record.DiskHealth{
		Passed: new(false), PercentageUsed: new(0.91), PendingSectors: new(int64(8)), UncorrectableSectors: new(int64(2)), ReallocatedSectors: new(int64(9)),
	}
	got := recent.DiskWarnings(failing)
	var codes []string
	for _, w := range got {
		codes = append(codes, w.Code)
	}
	assert.Equal(t, []string{record.WarnDriveCritical, record.WarnWorn, record.WarnMediaErrors, record.WarnMediaErrors, record.WarnMediaErrors}, codes)
	assert.Contains(t, got[4].Text, "3 sectors were replaced")
}

// A SAS drive says why it has not passed. Heat is no reason to replace it.
func TestReasonsOfSASDrives(t *testing.T) {
	text := func(h record.DiskHealth) string {
		got := new(health.Recent).DiskWarnings(h)
		require.Len(t, got, 1)
		assert.Equal(t, record.WarnDriveCritical, got[0].Code)
		return got[0].Text
	}
	hot, err := health.ParseSmartctl(answer(t, "built/sas-hot"))
	require.NoError(t, err)
	assert.Equal(t, "its temperature (71 °C) is above the drive's limit: look at airflow, heat sink and fans", text(hot))
	assert.Equal(t, "the drive says that it is failing (SMART status: FIRMWARE IMPENDING FAILURE): copy what is on it, and replace it",
		text(record.DiskHealth{Passed: new(false), Reason: "FIRMWARE IMPENDING FAILURE"}))
}

// Attribute 197 of a Crucial MX500 flips between 0 and 1 by itself; only a higher count is a
// warning. The reading is reported unchanged.
func TestPendingSectorsThatFlip(t *testing.T) {
	for name, least := range map[string]int64{"Current_Pending_ECC_Cnt": 2, "Current_Pending_Sector": 1, "Total_Pending_Sectors": 1} {
		for raw := range int64(4) {
			h, err := health.ParseSmartctl(fmt.Appendf(nil,
				`{"smartctl": {"exit_status": 0}, "ata_smart_attributes": {"table": [{"id": 197, "name": %q, "raw": {"string": "%d"}}]}}`, name, raw))
			require.NoError(t, err)
			assert.Equal(t, &raw, h.PendingSectors)
			assert.Equal(t, raw >= least, len(new(health.Recent).DiskWarnings(h)) == 1, "%s %d", name, raw)
		}
	}
}

func TestComplete(t *testing.T) {
	base := record.Conditions{Model: "x"}
	assert.Equal(t, base, health.Complete(base, nil))

	set := record.Features{WriteCache: new(true), Coalescing: &record.Coalescing{Threshold: 11, Time: 200 * time.Microsecond}, PowerState: new(2)}
	want := base
	want.DriveCache, want.Coalescing = record.EachOf(record.On), record.EachOf(*set.Coalescing)
	want.PowerState = record.EachOf(record.PowerState{State: record.NumberOf(2)})
	assert.Equal(t, want, health.Complete(base, []record.Health{{Features: set}}))

	// A power state that the drive changes by itself would differ at every reading.
	for state := range 3 {
		idle := record.Features{AutonomousPower: new(true), PowerState: &state, WriteCache: new(false), Coalescing: &record.Coalescing{Threshold: 1, Time: time.Second}}
		want.DriveCache, want.Coalescing = record.EachOf(record.Off), record.EachOf(record.Coalescing{Threshold: 1})
		want.PowerState = record.EachOf(record.PowerState{Autonomous: true})
		assert.Equal(t, want, health.Complete(base, []record.Health{{Features: idle}, {Features: idle}}))
	}

	other := set
	other.Coalescing = &record.Coalescing{Threshold: 8} // and no time: it does not wait for them
	both := health.Complete(base, []record.Health{{Features: other}, {Features: set}})
	assert.Equal(t, "11 / 200µs and off", both.Coalescing.String())
	assert.Equal(t, both, health.Complete(base, []record.Health{{Features: set}, {Features: other}}), "in whatever order the kernel names the controllers")

	// All conditions set here are remembered while the drive does not answer.
	assert.Equal(t, both, base.Remember(both))
}
