package record_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The last round explains what a comparison only knows as "no rounds".
func TestTheLastRoundSaysWhyThereWereNone(t *testing.T) {
	now := time.Date(2026, 5, 4, 13, 0, 0, 0, time.UTC)
	of := func(o record.Outcome) *record.Measurement {
		return &record.Measurement{Start: now.Add(-time.Minute), Outcome: o, Reason: "why"}
	}
	small, few := of(record.OutcomeOK), of(record.OutcomeOK)
	small.Loaded = true
	few.Warnings = []record.Warning{{Code: record.WarnPoolSmall, Text: "12 blocks"}}
	for name, c := range map[string]struct {
		probe   record.ProbeStatus
		problem string
		reason  record.UnjudgedReason
		text    string
	}{
		"busy":      {record.ProbeStatus{Last: of(record.OutcomeBusy)}, "", record.ReasonBusy, "rounds were refused: why"},
		"small":     {record.ProbeStatus{Last: small}, "", record.ReasonBusy, "rounds were refused: only small rounds were admitted, which are not compared"},
		"disturbed": {record.ProbeStatus{Last: of(record.OutcomeDisturbed)}, "", record.ReasonDisturbed, "rounds were disturbed by this host: why"},
		"unmapped":  {record.ProbeStatus{Last: of(record.OutcomeUnmapped)}, "", record.ReasonUnwritten, "too few written blocks are known: why"},
		"few":       {record.ProbeStatus{Last: few}, "", record.ReasonUnwritten, "too few written blocks are known: 12 blocks"},
		"failed":    {record.ProbeStatus{Last: of(record.OutcomeError)}, "", record.ReasonFailed, "rounds failed: why"},
		"timeout":   {record.ProbeStatus{Last: of(record.OutcomeTimeout)}, "it hangs", record.ReasonHung, "the device does not answer"},
		"hangs": {
			record.ProbeStatus{Probe: record.Probe{Timeout: 20 * time.Second}, InflightSince: now.Add(-time.Minute)}, "", record.ReasonHung, "the device does not answer",
		},
		"gone": {record.ProbeStatus{Last: of(record.OutcomeBusy)}, "no such device", record.ReasonUnavailable, "the target cannot be probed: no such device"},
		"none": {record.ProbeStatus{}, "", record.ReasonNoRounds, "there was no round"},
		"old":  {record.ProbeStatus{Last: of(record.OutcomeOK)}, "", record.ReasonNoRounds, "there was no round"},
	} {
		t.Run(name, func(t *testing.T) {
			shared := &record.WhyUnjudged{Reason: record.ReasonNoRounds, Since: now}
			load := &record.WhyUnjudged{Reason: record.ReasonLoad}
			c.probe.Drift = []record.Drift{{State: record.Unknown, Unjudged: shared}, {Unjudged: load}, {}}
			c.probe.ExplainUnjudged(c.problem, now)
			assert.Equal(t, c.reason, c.probe.Drift[0].Unjudged.Reason)
			assert.Equal(t, c.text, c.probe.Drift[0].Unjudged.String())
			assert.Equal(t, now, c.probe.Drift[0].Unjudged.Since)
			assert.Equal(t, record.ReasonNoRounds, shared.Reason, "what the tracker said is not changed")
			assert.Same(t, load, c.probe.Drift[1].Unjudged, "the comparison knows better")
			assert.Nil(t, c.probe.Drift[2].Unjudged)

			target := record.TargetStatus{Probes: []record.ProbeStatus{c.probe}, Verdict: &record.Judgement{Unjudged: shared}}
			target.ExplainVerdict()
			require.NotNil(t, target.Verdict.Unjudged)
			if c.reason != record.ReasonNoRounds {
				assert.Equal(t, c.reason, target.Verdict.Unjudged.Reason)
			}
		})
	}
}

func TestATargetWithoutRoundsHasItsProblemAsTheReason(t *testing.T) {
	now := time.Now()
	for _, reason := range []record.UnjudgedReason{record.ReasonNoRounds, record.ReasonLearning} {
		why := &record.WhyUnjudged{Reason: reason}
		probe := record.ProbeStatus{Drift: []record.Drift{{State: record.Learning, Unjudged: why}}}
		probe.ExplainUnjudged("filling the probe file: 9 of 64 MiB", now)
		assert.Equal(t, record.ReasonUnavailable, probe.Drift[0].Unjudged.Reason)
		target := record.TargetStatus{Problem: "filling the probe file: 9 of 64 MiB", Probes: []record.ProbeStatus{probe}}
		target.Verdict = &record.Judgement{Verdict: record.Unjudged, Unjudged: why}
		target.ExplainVerdict()
		assert.Equal(t, "the target cannot be probed: filling the probe file: 9 of 64 MiB", target.Verdict.Unjudged.String())
	}
}

func TestABaselineThatCanBeLearnedIsBeingLearned(t *testing.T) {
	why := &record.WhyUnjudged{Reason: record.ReasonLearning}
	probe := record.ProbeStatus{Drift: []record.Drift{{State: record.Learning, Unjudged: why}}}
	probe.ExplainUnjudged("", time.Now())
	target := record.TargetStatus{Probes: []record.ProbeStatus{probe}, Verdict: &record.Judgement{Verdict: record.Unjudged, Unjudged: why}}
	target.ExplainVerdict()
	assert.Same(t, why, probe.Drift[0].Unjudged)
	assert.Same(t, why, target.Verdict.Unjudged)
}

// A verdict stands for an hour after the last round, but nobody knows that a target is healthy which cannot be opened.
func TestATargetThatCannotBeProbedIsNotHealthy(t *testing.T) {
	for verdict, want := range map[record.DriveVerdict]record.DriveVerdict{
		record.Healthy: record.Unjudged, record.Watch: record.Watch, record.Degraded: record.Degraded, record.Severe: record.Severe,
	} {
		target := record.TargetStatus{Problem: "open /dev/nvme0n1: input/output error", Verdict: &record.Judgement{Verdict: verdict}}
		target.ExplainVerdict()
		assert.Equal(t, want, target.Verdict.Verdict)
		if want == record.Unjudged {
			assert.Equal(t, "the target cannot be probed: open /dev/nvme0n1: input/output error", target.Verdict.Unjudged.String())
		}
	}
}

func TestEveryReasonHasWords(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range record.UnjudgedReasons() {
		assert.NotEqual(t, string(r), r.Words())
		assert.False(t, seen[r.Words()], r)
		seen[r.Words()] = true
	}
	assert.Equal(t, "the reason is not known", (*record.WhyUnjudged)(nil).String())
}
