package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestAVerdictSaysWhatTheDriveWasComparedWith(t *testing.T) {
	slower := record.Ratio{Ratio: 1.5}
	for want, v := range map[string]record.Judgement{
		"degraded: 50 % slower than before, by its probes and stalls": {
			Verdict: record.Degraded, Ratio: slower, Witnesses: []string{"probes", "stalls"}, ThanBefore: []string{"probes"},
		},
		"degraded: 50 % slower than its peers, by its traffic": {Verdict: record.Degraded, Ratio: slower, Witnesses: []string{"traffic"}},
		"degraded: 50 % slower than before or than its peers, by its probes and traffic": {
			Verdict: record.Degraded, Ratio: slower, Witnesses: []string{"probes", "traffic"}, ThanBefore: []string{"probes"},
		},
		"degraded: 50 % slower than its 11 peers, by its probes, together with others": {
			Verdict: record.Degraded, Ratio: slower, Witnesses: []string{"probes"}, Peers: 11, Scope: record.ScopeBatch,
		},
		"severe: by its traffic, better now; the verdict is held, because the trouble came back within a week": {Verdict: record.Severe, Witnesses: []string{"traffic"}, Held: true},
		"severe: by its traffic, not judged now; the verdict is held, because the trouble came back within a week": {
			Verdict: record.Severe, Witnesses: []string{"traffic"}, Held: true, Unjudged: &record.WhyUnjudged{Reason: record.ReasonNoRounds},
		},
		"unknown: rounds were refused": {Verdict: record.Unjudged, Unjudged: &record.WhyUnjudged{Reason: record.ReasonBusy}},
		"degraded: 50 % slower than before when last compared, 2026-03-02 12:00:00 +02:00 (rounds were refused), by its probes": {
			Verdict: record.Degraded, Ratio: slower, Witnesses: []string{"probes"}, ThanBefore: []string{"probes"},
			Unjudged: &record.WhyUnjudged{Reason: record.ReasonBusy, Since: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)},
		},
		"healthy":               {Verdict: record.Healthy},
		"severe: by its stalls": {Verdict: record.Severe, Witnesses: []string{"stalls"}},
	} {
		assert.Equal(t, want, DriveVerdict(v))
	}
}
