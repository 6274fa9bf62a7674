package finding

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// A finding of a stall or a verdict names its newest recording.
func TestFindingsNameTheirRecordings(t *testing.T) {
	head := func(id string, ago time.Duration, triggers ...record.Trigger) record.RecordingHead {
		return record.RecordingHead{ID: id, From: now().Add(-ago - time.Minute), Until: now().Add(-ago + time.Minute), Triggers: triggers}
	}
	of := func(kind record.TriggerKind, device string) record.Trigger {
		return record.Trigger{Kind: kind, TargetID: device, DeviceID: device}
	}
	stalls := []record.Stall{{Start: now().Add(-30 * time.Minute), Length: 3 * time.Second, Cause: record.StallByDevice}}
	target := func(id string) record.TargetStatus {
		return record.TargetStatus{
			ID: id, Device: record.Device{ID: id, Number: id}, Traffic: &record.TrafficStatus{Stalls: stalls},
			Verdict: &record.Judgement{Verdict: record.Degraded, ThanBefore: []string{"traffic"}, Since: now().Add(-time.Hour)},
		}
	}
	failing := func(id string) record.TargetStatus {
		return record.TargetStatus{
			ID: id, Device: record.Device{ID: id, Number: id},
			Verdict: &record.Judgement{
				Verdict: record.Severe, Witnesses: []string{"errors"}, Since: now().Add(-time.Hour),
				Onsets: map[string]time.Time{"errors": now().Add(-20 * time.Minute), "probes": now().Add(-time.Hour)},
			},
			Probes: []record.ProbeStatus{{Errors: map[string]uint64{"EIO": 3}, LastError: now().Add(-18 * time.Minute)}},
		}
	}
	slow := target("b")
	slow.Probes = failing("d").Probes
	s := record.Snapshot{
		Time: now(), Targets: []record.TargetStatus{target("a"), slow, target("c"), failing("d"), failing("e")},
		Together: []record.Together{{Scope: record.ScopeHost, Since: now().Add(-time.Hour), Drives: []string{"a"}, Of: 1}},
		Recorder: &record.RecorderStatus{Recordings: []record.RecordingHead{
			head("stall-of-c-before", 2*time.Hour, of(record.TriggerStall, "c")),
			head("slow-before", 35*time.Minute, of(record.TriggerVerdict, "d"), of(record.TriggerVerdict, "e")),
			head("errors", 18*time.Minute, of(record.TriggerVerdict, "d")),
			head("older", 30*time.Minute, of(record.TriggerStall, "a")),
			head("newer", 20*time.Minute, of(record.TriggerRequest, "a"), of(record.TriggerStall, "a")),
			head("verdict", 10*time.Minute, of(record.TriggerVerdict, "b")),
			head("host", 5*time.Minute, of(record.TriggerVerdict, "")),
		}},
	}
	got := map[string]string{}
	for _, f := range Of(s) {
		if f.Recording != "" {
			assert.Contains(t, f.String(), "recorded as "+f.Recording)
		}
		got[f.TargetID+" "+f.Code] = f.Recording
	}
	assert.Equal(t, "newer", got["a "+Stalled])
	assert.Empty(t, got["b "+Stalled])
	assert.Empty(t, got["c "+Stalled], "what was over before is of another one")
	assert.Empty(t, got["a "+TrafficSlower])
	assert.Equal(t, "verdict", got["b "+TrafficSlower])
	assert.Equal(t, "host", got[" "+HostSlower])
	assert.Empty(t, got["a "+NotJudged])
	assert.Equal(t, "errors", got["d "+IOErrors])
	assert.Empty(t, got["e "+IOErrors], "the recording is of what was slow before")
	assert.Empty(t, got["b "+IOErrors], "a few errors make no verdict, and so no recording")
	s.Recorder = nil
	for _, f := range Of(s) {
		assert.Empty(t, f.Recording)
	}
}
