package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestARoundThatIsHeldBackIsNotTheDevice(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	p := record.ProbeStatus{InflightSince: now.Add(-time.Minute), Probe: record.Probe{Timeout: time.Second}}
	target := record.TargetStatus{Probes: []record.ProbeStatus{p}, Traffic: &record.TrafficStatus{}}
	for _, c := range []struct {
		held *record.HeldBack
		tone tone
		text string
	}{
		{nil, toneBad, "hung"},
		{&record.HeldBack{Since: now}, toneWarn, "held back"},
	} {
		target.Traffic.HeldBack = c.held
		for _, b := range []badge{newBadge(finding.HealthOfTarget(target, now).State), newProbeView(p, false, c.held != nil, now).State} {
			assert.Equal(t, c.text, b.Text)
			assert.Equal(t, c.tone, b.Tone)
		}
	}
}
