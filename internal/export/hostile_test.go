package export_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// Whatever names drives and paths have, the scrape is valid, and different names stay different.
func TestHostileLabelValues(t *testing.T) {
	const hostile = "a\"b\\c\nd\x00e\xff\xfef\u2028é\u202e{}=,# HELP"
	const readable = `a"b\c\nd\x00e\xff\xfef\u2028é\u202e{}=,# HELP`
	s := recordtest.Snapshot()
	s.Collectors[0].Collector = hostile
	s.Warnings[0].Code = hostile
	target := &s.Targets[1]
	target.ID, target.Device.Name, target.Device.Model, target.Conditions.Kernel = hostile, hostile, hostile, hostile
	target.Changed = map[string]time.Time{hostile: recordtest.Now()}
	probe := &target.Probes[0]
	probe.Probe.Name, probe.Last.Device, probe.Last.Probe = hostile, hostile, hostile
	probe.Errors = map[string]uint64{hostile: 1, "EIO": 1}
	probe.Drift[0].Attribution = []record.Change{{Condition: hostile, From: hostile, To: hostile}}
	s.Targets[0].ID = "\xff"
	s.Targets[2].ID = "\xfe"

	_, text := exposition(t, gather(t, s, observed(s)))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	values := map[string]map[string]bool{} // the values of each label
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if values[l.GetName()] == nil {
					values[l.GetName()] = map[string]bool{}
				}
				values[l.GetName()][l.GetValue()] = true
			}
		}
	}
	for _, label := range []string{
		"device", "id", "probe", "model", "kernel", "errno", "collector", "code", "condition", "from", "to",
	} {
		assert.Contains(t, values[label], readable, label)
	}
	assert.Equal(t, map[string]bool{`\xff`: true, `\xfe`: true, readable: true, "": true}, values["id"])
	assert.Len(t, families["ssdprobe_probe_latency_seconds"].GetMetric(), 1, "the round of the hostile name; no other's id is that of its round")
}

// Prometheus rejects a scrape that has a series twice. The other series must survive.
func TestDuplicatesAreReportedAndHideNothing(t *testing.T) {
	s := recordtest.Snapshot()
	before, _ := exposition(t, gather(t, s, observed(s)))

	again := s.Targets[0]
	again.Device.Model = "the second of the name"
	s.Targets = append(s.Targets, again, again)
	file := &s.Targets[2]
	file.Probes = append(file.Probes, file.Probes[1])
	file.Collectors = append(file.Collectors, file.Collectors[0])
	file.Warnings = []record.Warning{{Code: record.WarnShort}, {Code: record.WarnShort}}
	nameless := record.TargetStatus{Warnings: []record.Warning{{Code: record.WarnState}}}
	s.Targets = append(s.Targets, nameless)

	after, _ := exposition(t, gather(t, s, observed(recordtest.Snapshot())))
	warned := after["ssdprobe_finding"]
	delete(before, "ssdprobe_finding")
	delete(after, "ssdprobe_finding")
	assert.Equal(t, before, after)
	for _, labels := range []string{
		`code="duplicate",device="nvme0n1",id="` + recordtest.HealthyID + `",probe="",severity="warning"`,
		`code="duplicate",device="nvme0n1",id="` + recordtest.FileID + `",probe="read-128k",severity="warning"`,
		`code="short",device="nvme0n1",id="` + recordtest.FileID + `",probe="",severity="warning"`,
		`code="duplicate",device="",id="",probe="",severity="warning"`,
	} {
		assert.Equal(t, 1, strings.Count(warned, "ssdprobe_finding{"+labels+"} 1\n"), labels)
	}
}

func TestTheSameCauseOfTwoStatisticsIsOneSeries(t *testing.T) {
	s := recordtest.Snapshot()
	all, _ := exposition(t, gather(t, s, observed(s)))
	assert.Equal(t, 1, strings.Count(all["ssdprobe_drift_attribution_info"], "} 1\n"))
}
