package run

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// round returns a round of read-4k with two I/Os of the given latency.
func round(outcome record.Outcome, latency time.Duration) record.Measurement {
	return record.Measurement{
		Outcome: outcome, Reason: "because", Duration: 2 * latency, ReadBytes: 3 * 4096,
		Latency: record.Histogram{{Latency: latency, Count: 2}}, Disturbance: record.Disturbance{CPUWait: latency / 2},
	}
}

func summed(rounds ...record.Measurement) *summing {
	s := &summing{probe: record.DefaultProbes()[0]}
	for _, m := range rounds {
		s.add(m)
	}
	return s
}

func codes(warnings []record.Warning) []string {
	var all []string
	for _, w := range warnings {
		all = append(all, w.Code)
	}
	return all
}

func TestGoodRoundsAddUp(t *testing.T) {
	s := summed(round(record.OutcomeOK, time.Millisecond), round(record.OutcomeOK, 3*time.Millisecond))
	step := s.step(1.5)
	require.NotNil(t, step.Read)
	assert.Equal(t, record.Result{
		IOs: 4, Bytes: 4 * 4096, IOPS: 500, BytesPerSecond: 500 * 4096,
		Latency: record.Histogram{{Latency: time.Millisecond, Count: 2}, {Latency: 3 * time.Millisecond, Count: 2}},
		Min:     time.Millisecond, Mean: 2 * time.Millisecond, Max: 3 * time.Millisecond,
	}, *step.Read)
	assert.Equal(t, 8*time.Millisecond, step.Duration)
	assert.InDelta(t, 0.25, step.Disturbance.CPUWaitRatio, 1e-9)
	assert.InDelta(t, 1.5, step.InterruptsPerIO, 0)
	assert.Empty(t, step.Warnings)
	assert.Equal(t, int64(6), s.issued, "warm-up included")
}

func TestDisturbedRoundsDoNotCountBesideGoodOnes(t *testing.T) {
	step := summed(round(record.OutcomeDisturbed, time.Second), round(record.OutcomeOK, time.Millisecond)).step(-1)
	assert.Equal(t, int64(2), step.Read.IOs)
	assert.Equal(t, time.Millisecond, step.Read.Max)
	assert.Equal(t, record.Disturbance{CPUWait: time.Millisecond / 2, CPUWaitRatio: 0.25}, step.Disturbance, "as the figures, without the other round")
	assert.Equal(t, []string{record.WarnFewSamples}, codes(step.Warnings))
	assert.Contains(t, step.Warnings[0].Text, "1 of 2 rounds did not count; the last because: disturbed: because")
}

// What is left of a step that was disturbed most of the time decides no comparison.
func TestFewGoodRoundsAmongDisturbedOnesAreDisturbed(t *testing.T) {
	bad := round(record.OutcomeDisturbed, time.Second)
	step := summed(bad, bad, round(record.OutcomeOK, time.Millisecond)).step(-1)
	assert.Equal(t, int64(2), step.Read.IOs, "the good ones are shown")
	assert.Equal(t, []string{record.WarnDisturbed}, codes(step.Warnings))
	assert.Contains(t, step.Warnings[0].Text, "2 of 3 rounds did not count")
}

// An impossible round does not invalidate the possible ones.
func TestAnImpossibleRoundDoesNotCountBesideGoodOnes(t *testing.T) {
	impossible := round(record.OutcomeDisturbed, time.Microsecond)
	impossible.Reason = "impossible: too fast"
	impossible.Warnings = []record.Warning{{Code: record.WarnImpossible, Text: impossible.Reason}}
	step := summed(round(record.OutcomeOK, time.Millisecond), impossible).step(-1)
	assert.True(t, step.Measured())
	assert.Equal(t, []string{record.WarnFewSamples}, codes(step.Warnings))
	assert.Contains(t, step.Warnings[0].Text, impossible.Reason)

	alone := summed(impossible).step(-1)
	assert.True(t, alone.Impossible())
}

func TestDisturbedRoundsAloneStandInWithAWarning(t *testing.T) {
	step := summed(round(record.OutcomeDisturbed, time.Second)).step(-1)
	require.NotNil(t, step.Read)
	assert.Equal(t, []string{record.WarnDisturbed}, codes(step.Warnings))
}

func TestFailedRoundsMeasureNothing(t *testing.T) {
	m := round(record.OutcomeError, time.Millisecond)
	m.Errors = map[string]int64{"EIO": 2}
	step := summed(m, m).step(-1)
	assert.Nil(t, step.Read)
	assert.Equal(t, map[string]int64{"EIO": 4}, step.Errors)
}

func TestWarningsOfAKindAreToldOnce(t *testing.T) {
	a, b := round(record.OutcomeOK, time.Millisecond), round(record.OutcomeOK, time.Millisecond)
	a.Warnings = []record.Warning{{Code: record.WarnPoolSmall, Text: "100 blocks"}}
	b.Warnings = []record.Warning{{Code: record.WarnPoolSmall, Text: "200 blocks"}}
	assert.Equal(t, b.Warnings, summed(a, b).step(-1).Warnings, "the latest of a kind")
}
