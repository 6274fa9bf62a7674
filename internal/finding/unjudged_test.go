package finding

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// unjudged returns a statistic that has not been judged since some time ago.
func unjudged(s record.Statistic, reason record.UnjudgedReason, detail string, since time.Duration) record.Drift {
	return record.Drift{Statistic: s, State: record.Unknown, Unjudged: &record.WhyUnjudged{Reason: reason, Detail: detail, Since: now().Add(-since)}}
}

func TestWhatIsNotJudgedForADayIsAFinding(t *testing.T) {
	const busy = "40 I/Os in flight, above the limit of 32"
	p := record.ProbeStatus{Probe: record.DefaultProbes()[0], LastSuccess: now(), Drift: []record.Drift{
		unjudged(record.LatencyP50, record.ReasonBusy, busy, 30*time.Hour),
		unjudged(record.LatencyP95, record.ReasonBusy, busy, 31*time.Hour),
		unjudged(record.LatencyP99, record.ReasonFirstDay, "", 40*time.Hour),
		unjudged(record.IOPS, record.ReasonLoad, "", 24*time.Hour),
	}}
	all := Of(snapshot(p))
	require.Equal(t, []string{NotJudged}, codes(all))
	assert.Equal(t, Info, all[0].Severity, "nobody is woken")
	assert.Equal(t, now().Add(-40*time.Hour), all[0].Since)
	assert.Equal(t, "not judged for a day: p50 and p95 as rounds were refused: "+busy+", p99 as it takes a day to learn what is normal", all[0].String())

	for i := range p.Drift {
		p.Drift[i].Unjudged.Since = now().Add(-24 * time.Hour)
	}
	assert.Empty(t, Of(snapshot(p)), "the first day is none, with the hour of the first baseline")

	p.Drift[0].Unjudged.Since = now().Add(-48 * time.Hour)
	stored := snapshot(p)
	stored.Started = time.Time{}
	assert.Empty(t, Of(stored), "no daemon runs")
}

func TestWhatAnotherFindingSaysIsNotSaidTwice(t *testing.T) {
	told := unjudged(record.IOPS, record.ReasonLoad, "", 30*time.Hour)
	assert.Len(t, ofUnjudged(record.ProbeStatus{Drift: []record.Drift{told}}, snapshot()), 1)
	before := told
	before.Unjudged = &record.WhyUnjudged{Reason: record.ReasonNoRounds}
	regressed := told
	regressed.State = record.Regressed
	for name, d := range map[string]record.Drift{
		"hung":                   unjudged(record.IOPS, record.ReasonHung, "", 30*time.Hour),
		"unavailable":            unjudged(record.IOPS, record.ReasonUnavailable, "", 30*time.Hour),
		"learning":               unjudged(record.IOPS, record.ReasonLearning, "", 30*time.Hour),
		"regressed":              regressed,
		"before the first round": before,
	} {
		assert.Empty(t, ofUnjudged(record.ProbeStatus{Drift: []record.Drift{d}}, snapshot()), name)
	}
}

// A probe whose rounds are refused from its first day would be learning for ever.
func TestABaselineThatIsNotLearnedIsAFinding(t *testing.T) {
	busy := &record.Measurement{Start: now().Add(-time.Minute), Outcome: record.OutcomeBusy, Reason: "utilisation 97 %"}
	p := record.ProbeStatus{
		Probe: record.DefaultProbes()[0], LastSuccess: now(), Last: busy, LearningRounds: 12, LearningGoal: 60,
		Drift: []record.Drift{unjudged(record.IOPS, record.ReasonLearning, "", 30*time.Hour)},
	}
	p.Probe.Interval = time.Minute
	all := Of(snapshot(p))
	require.Equal(t, []string{NotJudged}, codes(all))
	assert.Equal(t, "not judged for a day: IOPS as the baseline is being learned: 12 of 60 rounds so far; the last round was busy, utilisation 97 %", all[0].String())

	rare := p
	rare.Probe.Interval = 2 * time.Hour
	assert.Empty(t, Of(snapshot(rare)), "twelve rounds in 30 hours are nearly all")
	learned := p
	learned.LearningRounds = 60
	assert.Empty(t, Of(snapshot(learned)), "it has all rounds, and waits for something else")
	soon := p
	soon.Drift = []record.Drift{unjudged(record.IOPS, record.ReasonLearning, "", 20*time.Hour)}
	assert.Empty(t, Of(snapshot(soon)))
}

func TestADriveWithoutProbesThatIsNotJudgedIsAFinding(t *testing.T) {
	target := record.TargetStatus{ID: "a", Verdict: &record.Judgement{
		Verdict: record.Unjudged, Unjudged: &record.WhyUnjudged{Reason: record.ReasonNoLike, Since: now().Add(-26 * time.Hour)},
	}}
	all := ofVerdict(target, now())
	require.Equal(t, []string{NotJudged}, codes(all))
	assert.Equal(t, "the drive was not judged for a day: the baseline has no comparable I/O", all[0].String())
	target.Verdict.Unjudged.Since = time.Time{}
	assert.Empty(t, ofVerdict(target, now()), "it has just come")
	target.Verdict.Unjudged.Since = now().Add(-time.Hour)
	assert.Empty(t, ofVerdict(target, now()))
}

// A severe drive without probes stays so when nothing has confirmed that for a day.
func TestASlowDriveThatNothingConfirmsIsStillAFinding(t *testing.T) {
	all := ofVerdict(record.TargetStatus{ID: "a", Verdict: &record.Judgement{
		Verdict: record.Severe, Ratio: record.Ratio{Ratio: 3}, Witnesses: []string{"traffic"}, ThanBefore: []string{"traffic"},
		Unjudged: &record.WhyUnjudged{Reason: record.ReasonNoRounds, Since: now().Add(-30 * time.Hour)},
	}}, now())
	assert.Equal(t, []string{TrafficSlower}, codes(all))
}
