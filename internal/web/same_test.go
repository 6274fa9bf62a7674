package web_test

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
