package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
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
		"degraded: 50 % slower than before when last compared, 2026-03-02 10:00:00 UTC (rounds were refused), by its probes": {
			Verdict: record.Degraded, Ratio: slower, Witnesses: []string{"probes"}, ThanBefore: []string{"probes"},
			Unjudged: &record.WhyUnjudged{Reason: record.ReasonBusy, Since: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)},
		},
		"severe: 30 % slower than before, since 2026-03-02 10:00:00 UTC, by its probes and traffic, together with others; " +
			"since 2026-03-02 08:00:00 UTC, by its errors; since 2026-03-02 09:00:00 UTC, by its stalls": {
			Verdict: record.Severe, Scope: record.ScopeBatch, Ratio: record.Ratio{Ratio: 1.3},
			Since:     time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC),
			Witnesses: []string{"probes", "traffic", "errors", "stalls"}, ThanBefore: []string{"probes", "traffic"},
			Onsets: map[string]time.Time{
				"errors": time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), "stalls": time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
				"probes": time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), "traffic": time.Date(2026, 3, 2, 10, 30, 0, 0, time.UTC),
			},
		},
		"severe: 5 % slower, since 2026-03-02 10:00:00 UTC; since 2026-03-02 08:00:00 UTC, by its errors": { // it is no more than suspected to be slower
			Verdict: record.Severe, Ratio: record.Ratio{Ratio: 1.05}, Since: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), Witnesses: []string{"errors"},
			Onsets: map[string]time.Time{"errors": time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), "probes": time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)},
		},
		"severe: since 2026-03-02 10:00:00 UTC, by its errors": { // nothing says by how much it is slower
			Verdict: record.Severe, Since: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), Witnesses: []string{"errors"},
			Onsets: map[string]time.Time{"errors": time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), "probes": time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)},
		},
		"degraded: 50 % slower than before, by its traffic, changed with it: kernel 6.1 → 6.8 and firmware A → B": {
			Verdict: record.Degraded, Ratio: slower, Witnesses: []string{"traffic"}, ThanBefore: []string{"traffic"},
			Attribution: []record.Change{{Condition: "kernel", From: "6.1", To: "6.8"}, {Condition: "firmware", From: "A", To: "B"}},
		},
		"healthy":               {Verdict: record.Healthy},
		"severe: by its stalls": {Verdict: record.Severe, Witnesses: []string{"stalls"}},
	} {
		assert.Equal(t, want, DriveVerdict(v, units.UTC))
	}
}
