package web_test

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/check"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// words returns the words of a page or text, independent of lines and tags.
func words(text string) string {
	text = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|<[^>]*>`).ReplaceAllString(text, " ")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}

// The page, the commands and the API show the same list, with the same words and values.
func TestAllThatShowFindingsShowTheSame(t *testing.T) {
	s := recordtest.Snapshot()
	s.NotReady = "the daemon is still looking for devices and files"
	s.Ignored[0].Denied = true
	s.Targets[0].Problem = "open /dev/nvme0n1: permission denied"
	s.Targets[2].Probes[0].Drift[0].State = record.Regressed
	o := options()
	o.Snapshot = func() record.Snapshot { return s }
	server := serve(t, o)

	type listed struct {
		Findings []finding.Finding `json:"findings"`
	}
	status := decode[listed](t, get(t, server.URL+"/api/v1/status"))
	require.Len(t, status.Findings, len(finding.Of(s)))
	require.Greater(t, len(status.Findings), 8)
	var ofTargets, ofNode []finding.Finding
	for _, f := range status.Findings {
		if f.TargetID == "" {
			ofNode = append(ofNode, f)
		}
	}
	for _, target := range s.Targets {
		ofTargets = append(ofTargets, decode[listed](t, get(t, server.URL+"/api/v1/devices/"+target.ID)).Findings...)
	}
	assert.ElementsMatch(t, status.Findings, append(ofTargets, ofNode...))

	var drift, devices bytes.Buffer
	require.NoError(t, report.Drift(&drift, s))
	var rows []report.DeviceRow
	for _, target := range s.Targets {
		rows = append(rows, report.DeviceRow{Device: target.Device, Watched: true, Findings: finding.OfTarget(status.Findings, target.ID)})
	}
	require.NoError(t, report.Devices(&devices, report.DeviceList{Devices: rows, Findings: ofNode}, s.Time))
	shown := map[string]string{
		"page": words(get(t, server.URL+"/").body), "drift": words(drift.String()), "devices": words(devices.String()),
	}
	for _, f := range status.Findings {
		for where, text := range shown {
			for _, part := range append([]string{f.Severity.String(), f.Code, f.Text, f.Action}, f.Evidence...) {
				assert.Contains(t, text, words(part), "%s: %s of %s %s", where, f.Code, f.Path, f.Probe)
			}
			assert.Contains(t, text, words(f.String()), where)
		}
	}
	for where, text := range shown {
		last := 0
		for _, g := range finding.Groups(status.Findings) {
			at := strings.Index(text[last:], words(g.String()))
			if assert.GreaterOrEqual(t, at, 0, "%s: %s is not in its place", where, g.Code) {
				last += at
			}
		}
	}
}

// They also show the same drives in the same states, in the same order: the worst first.
func TestAllThatShowStatesShowTheSame(t *testing.T) {
	now := recordtest.Now()
	target := func(name string, v record.DriveVerdict) record.TargetStatus {
		p := record.ProbeStatus{Probe: record.Probe{Timeout: time.Second}, Drift: []record.Drift{{State: record.Stable}}}
		return record.TargetStatus{
			ID: "name:" + name, Path: "/dev/" + name, Device: record.Device{ID: "name:" + name, Name: name}, Probes: []record.ProbeStatus{p},
			Verdict: &record.Judgement{Verdict: v},
		}
	}
	hung, partly, gone := target("sda", record.Healthy), target("sdb", record.Healthy), target("sdc", record.Unjudged)
	hung.Probes[0].InflightSince = now.Add(-time.Hour)
	partly.Probes[0].Drift = append(partly.Probes[0].Drift, record.Drift{State: record.Waiting, Unjudged: &record.WhyUnjudged{Reason: record.ReasonFirstDay}})
	gone.Problem = "no medium found"
	held := target("sdd", record.Watch)
	held.Probes[0].InflightSince, held.Traffic = now.Add(-time.Hour), &record.TrafficStatus{HeldBack: &record.HeldBack{Since: now}}
	s := record.Snapshot{Time: now, Node: "stor-07", Targets: []record.TargetStatus{
		target("sde", record.Healthy), held, target("sdf", record.Watch), partly, target("sdg", record.Unjudged), gone, target("sdh", record.Degraded), hung,
		target("sdi", record.Severe),
	}}
	want := [][2]string{
		{"sda", "hung"}, {"sdi", "severe"}, {"sdh", "degraded"}, {"sdc", "not probed"}, {"sdd", "held back"}, {"sdf", "watch"}, {"sdg", "unknown"},
		{"sdb", "partly judged"}, {"sde", "healthy"},
	}
	o := options()
	o.Snapshot = func() record.Snapshot { return s }
	server := serve(t, o)

	shown := map[string][][2]string{}
	page := get(t, server.URL+"/").body
	for _, row := range regexp.MustCompile(`(?s)<bdi>/dev/(\w+)</bdi></a>.*?<span class="badge \w+">([\w ]+)</span>`).FindAllStringSubmatch(page, -1) {
		shown["page"] = append(shown["page"], [2]string{row[1], row[2]})
	}
	answer := decode[struct {
		Drives []struct{ Device, State, Text string }
	}](t, get(t, server.URL+"/api/v1/health"))
	for _, d := range answer.Drives {
		shown["API"] = append(shown["API"], [2]string{d.Device, d.State})
		assert.True(t, strings.HasPrefix(d.Text, d.State), d.Text)
	}
	var text bytes.Buffer
	require.NoError(t, report.Drift(&text, s))
	for _, row := range regexp.MustCompile(`(?m)^/dev/(\w+) +(\w+(?: \w+)*)(?:  |$)`).FindAllStringSubmatch(text.String(), -1) {
		shown["drift"] = append(shown["drift"], [2]string{row[1], row[2]})
	}
	for _, d := range check.Of(s, nil).Drives {
		shown["check"] = append(shown["check"], [2]string{d.Device, string(d.State)})
	}
	assert.Equal(t, map[string][][2]string{"page": want, "API": want, "drift": want, "check": want}, shown)
	const why = "it takes a day to learn what is normal"
	shows(t, page, "partly judged, because "+why)
	assert.Contains(t, text.String(), "partly judged  "+why)
}
