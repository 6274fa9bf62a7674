package check_test

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/check"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	m.Run()
}

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// node returns a node with drives of these verdicts: nvme0n1, nvme1n1 and so on.
func node(verdicts ...record.DriveVerdict) record.Snapshot {
	s := record.Snapshot{Time: now, Node: "stor-07"}
	for i, v := range verdicts {
		name := "nvme" + string(rune('0'+i)) + "n1"
		t := record.TargetStatus{ID: "eui." + name, Path: "/dev/" + name, Device: record.Device{ID: "eui." + name, Name: name}}
		j := record.Judgement{Verdict: v, Scope: record.ScopeDrive}
		switch {
		case v == record.Unjudged:
			j.Unjudged = &record.WhyUnjudged{Reason: record.ReasonLearning}
		case v.Blames():
			j.Since, j.Witnesses, j.ThanBefore = now.Add(-time.Hour), []string{"probes"}, []string{"probes"}
			j.Ratio = record.Ratio{Ratio: 1.31, Lower: 1.27, Upper: 1.36}
		}
		t.Verdict = &j
		s.Targets = append(s.Targets, t)
	}
	return s
}

const fine, watch, degraded, severe, unknown = record.Healthy, record.Watch, record.Degraded, record.Severe, record.Unjudged

func TestTheWorstDecides(t *testing.T) {
	slow := ": 31 % slower (27 to 36 %) than before, since 2026-11-22 11:00:00 UTC, by its probes"
	host := node(fine, fine)
	host.Host = &record.Judgement{Verdict: degraded, Scope: record.ScopeHost, Ratio: record.Ratio{Ratio: 1.31, Lower: 1.27, Upper: 1.36}, Since: now.Add(-time.Hour), Witnesses: []string{"probes"}, ThanBefore: []string{"probes"}}
	worse := node(fine, degraded)
	worse.Host = &record.Judgement{Verdict: severe, Scope: record.ScopeHost}
	few := node(fine)
	few.Host = &record.Judgement{Verdict: unknown, Scope: record.ScopeHost, Unjudged: &record.WhyUnjudged{Reason: record.ReasonFewDrives}}
	batch := node(fine, degraded)
	batch.Together = []record.Together{{Scope: record.ScopeBatch, Source: "read-4k", Statistic: record.LatencyP50, Ratio: record.Ratio{Ratio: 1.3}, Drives: []string{"a"}, Of: 2}}
	early := node(fine)
	early.NotReady = "devices are being looked for"
	denied := node(fine)
	denied.Ignored = []record.Ignored{{Device: record.Device{Name: "nvme9n1"}, Reason: "permission denied", Denied: true}, {Device: record.Device{Name: "sda"}, Reason: "excluded"}}
	untold := node(fine)
	untold.Collectors = []record.CollectorStatus{{Collector: "kubernetes", Error: "forbidden"}}
	newer := node(record.DriveVerdict("burning"))
	partly := node(fine, fine, watch, severe)
	for i := range partly.Targets {
		partly.Targets[i].Probes = []record.ProbeStatus{{Drift: []record.Drift{{State: record.Waiting}}}}
	}
	partly.Targets[1].Probes[0].Last = &record.Measurement{Outcome: record.OutcomeTimeout}
	nobody := node(fine)
	nobody.Targets[0].Verdict = nil
	for name, c := range map[string]struct {
		s         record.Snapshot
		ids       []string
		code, npd int
		line      string
	}{
		"healthy":                {node(fine, fine), nil, 0, 0, "healthy: 2 drives on stor-07"},
		"one":                    {node(fine), nil, 0, 0, "healthy: 1 drive on stor-07"},
		"a suspicion":            {node(fine, watch), nil, 0, 0, "healthy: 2 drives on stor-07; 1 on watch"},
		"not judged in full":     {partly, nil, 2, 1, "severe: nvme3n1 is severe" + slow + "; 4 drives on stor-07; 1 hung; 1 on watch; 1 partly judged"},
		"degraded":               {node(fine, degraded, unknown), nil, 1, 1, "degraded: nvme1n1 is degraded" + slow + "; nvme2n1 is unknown: the baseline is being learned; 3 drives on stor-07"},
		"severe":                 {node(fine, degraded, severe), nil, 2, 1, "severe: nvme2n1 is severe" + slow + "; nvme1n1 is degraded" + slow + "; 3 drives on stor-07"},
		"unknown":                {node(fine, unknown), nil, 3, 2, "unknown: nvme1n1 is unknown: the baseline is being learned; 2 drives on stor-07"},
		"no verdict":             {nobody, nil, 3, 2, "unknown: nvme0n1 is unknown: there was no round; 1 drive on stor-07"},
		"Kubernetes is not told": {untold, nil, 0, 0, "healthy: 1 drive on stor-07"},
		"of a newer daemon":      {newer, nil, 3, 2, "unknown: nvme0n1 is burning; 1 drive on stor-07"},
		"one that is fine":       {node(fine, severe), []string{"eui.nvme0n1"}, 0, 0, "healthy: 1 drive on stor-07"},
		"one that is not":        {node(fine, severe), []string{"eui.nvme1n1"}, 2, 1, "severe: nvme1n1 is severe" + slow + "; 1 drive on stor-07"},
		"the host":               {host, nil, 1, 1, "degraded: the host is degraded" + slow + "; 2 drives on stor-07"},
		"a host is worse":        {worse, nil, 2, 1, "severe: the host is severe; nvme1n1 is degraded" + slow + "; 2 drives on stor-07"},
		"too few for a host":     {few, nil, 0, 0, "healthy: 1 drive on stor-07"},
		"a drive of that host":   {host, []string{"eui.nvme0n1"}, 0, 0, "healthy: 1 drive on stor-07"},
		"a batch":                {batch, nil, 1, 1, "degraded: nvme1n1 is degraded" + slow + "; 2 drives on stor-07"},
		"nothing":                {node(), nil, 3, 2, "unknown: no drive is watched"},
		"not ready":              {early, nil, 3, 2, "unknown: not ready: devices are being looked for; 1 drive on stor-07"},
		"may not be read":        {denied, nil, 3, 2, "unknown: nvme9n1 is not watched: permission denied; 1 drive on stor-07"},
		"many": {
			node(severe, severe, severe, severe, severe, severe, severe), nil, 2, 1,
			"severe: nvme0n1 is severe" + slow + "; nvme1n1 is severe" + slow + "; nvme2n1 is severe" + slow + "; nvme3n1 is severe" + slow +
				"; nvme4n1 is severe" + slow + "; 2 more; 7 drives on stor-07",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := check.Of(c.s, c.ids)
			assert.Equal(t, c.line, check.Text.Line(r))
			assert.Equal(t, c.line, check.NPD.Line(r))
			for _, f := range []check.Format{check.Text, check.Nagios, check.JSON} {
				assert.Equal(t, c.code, f.Code(r), f)
			}
			assert.Equal(t, c.npd, check.NPD.Code(r))
			for _, f := range check.Formats() {
				assert.NotContains(t, f.Line(r), "\n")
			}
		})
	}
}

// The format is that of https://www.monitoring-plugins.org/doc/guidelines.html,
// "Performance data".
func TestNagios(t *testing.T) {
	assert.Equal(t, "SSDPROBE OK - 2 drives on stor-07 | drives=2;;;0 healthy=2;;;0 watch=0;;;0 degraded=0;;;0 severe=0;;;0 unknown=0;;;0", check.Nagios.Line(check.Of(node(fine, fine), nil)))
	s := node(severe, degraded)
	s.Targets[1].Path, s.Targets[1].Verdict.Ratio = "/srv/it's|a=b", record.Ratio{Ratio: 2.5}
	line := check.Nagios.Line(check.Of(s, nil))
	assert.Regexp(t, `^SSDPROBE CRITICAL - nvme0n1 is severe: .*; /srv/it's/a=b is degraded: `, line)
	data := regexp.MustCompile(`^[^|]* \| (.*)$`).FindStringSubmatch(line)
	require.NotNil(t, data, "one bar: %s", line)
	assert.Regexp(t, `^(('[^'=|]+'|[^'=| ]+)=[0-9.]+;;;0 ?)+$`, data[1])
	assert.Contains(t, data[1], `severe=1;;;0 unknown=0;;;0 'nvme0n1 ratio'=1.310;;;0 '/srv/it_s_a_b ratio'=2.500;;;0`)
	assert.Regexp(t, `^SSDPROBE UNKNOWN - it: burns; all over \| drives=0;`, check.Nagios.Line(check.Unknown("stor-07", "it:\nburns\nall  over\n", now)))
	assert.Regexp(t, `^SSDPROBE WARNING - `, check.Nagios.Line(check.Of(node(degraded), nil)))
}

// The JSON keys are part of the contract.
func TestJSON(t *testing.T) {
	assert.JSONEq(t, `{
		"time": "2026-11-22T12:00:00Z", "node": "stor-07", "verdict": "unknown", "reasons": ["nvme0n1 is unknown: the baseline is being learned"],
		"drives": [{"target_id": "eui.nvme0n1", "path": "/dev/nvme0n1", "device": "nvme0n1", "state": "unknown", "verdict": {"verdict": "unknown", "scope": "drive", "unjudged": {"reason": "learning"}}}]
	}`, check.JSON.Line(check.Of(node(unknown), nil)))
	assert.JSONEq(t, `{"time": "2026-11-22T12:00:00Z", "node": "", "verdict": "unknown", "reasons": ["x"], "drives": []}`, check.JSON.Line(check.Unknown("", "x", now)))
	var back check.Result
	require.NoError(t, json.Unmarshal([]byte(check.JSON.Line(check.Of(node(severe), nil))), &back))
	assert.Equal(t, 2, check.Text.Code(back))
}
