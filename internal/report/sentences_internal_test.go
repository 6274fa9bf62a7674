package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// A depth that the kernel did not report does not count as 0.
func TestDepthSeenIsTheMeanOfWhatIsKnown(t *testing.T) {
	var s sweep
	for _, depth := range []*record.Depth{{Asked: 32}, nil, {Asked: 32, Mean: 30}, {Asked: 32, Mean: 32}} {
		s.add(record.Step{Workload: &record.Workload{QueueDepth: 32, Jobs: 1}, Depth: depth}, part{direction: "read", result: record.Result{IOPS: 100}})
	}
	assert.InDelta(t, 31, s.points[0].seen, 1e-9)
	assert.Equal(t, 4, s.points[0].repeats)
}

// A device is not called slower while its interval includes its speed alone.
func TestSlowedDownMost(t *testing.T) {
	line := func(target string, value, lower, upper float64) offsetLine {
		return offsetLine{speeds: record.OffsetSpeeds{Target: target, Beside: 1, AgainstAlone: &record.Interval{Value: value, Lower: &lower, Upper: &upper}}}
	}
	assert.Equal(t, "Beside 1 other, no device is certainly slower: each reads at 97 % to 101 % of its speed alone.",
		offsetsSentence([]offsetLine{line("/dev/a", 1.01, 0.98, 1.04), line("/dev/b", 0.97, 0.93, 1.01)}))
	assert.Contains(t, offsetsSentence([]offsetLine{line("/dev/a", 1.01, 0.98, 1.04), line("/dev/b", 0.5, 0.48, 0.52)}),
		"Beside 1 other, /dev/b reads at 50 % of its speed alone")
	assert.Equal(t, "Beside 1 other, /dev/b reads at 90 % of its speed alone over all its length (95 % interval 88 % to 92 %); /dev/a may be slowed down more.",
		offsetsSentence([]offsetLine{line("/dev/a", 0.8, 0.5, 1.3), line("/dev/b", 0.9, 0.88, 0.92)}), "one that is uncertain hides none")
	assert.Contains(t, offsetsSentence([]offsetLine{line("/dev/a", 1.02, 1.01, 1.03)}), "no device is certainly slower")
}

// The knee is stated only as exactly as the repeats allow.
func TestWhereTheKneeIs(t *testing.T) {
	points := func(rises ...record.Interval) record.SpanSweep {
		s := record.SpanSweep{Load: "4 KiB random read", Verdict: record.SpanKnee, KneeBytes: 100e9, Limit: 1.1}
		for i, rise := range rises {
			s.Points = append(s.Points, record.SpanPoint{SpanBytes: int64(i+1) * 100e9, Rise: rise})
		}
		return s
	}
	rise := func(value, lower, upper float64) record.Interval {
		return record.Interval{Value: value, Lower: &lower, Upper: &upper}
	}
	assert.Equal(t, "at a span of 100 GB", kneeText(points(record.Interval{Value: 1}, rise(1.5, 1.4, 1.6), rise(1.5, 1.4, 1.6))))
	assert.Equal(t, "between spans of 100 GB and 300 GB", kneeText(points(record.Interval{Value: 1}, rise(1.5, 0.7, 3.4), rise(1.5, 1.4, 1.6))))
	gone := points(record.Interval{Value: 1}, rise(1.5, 1.4, 1.6), rise(1, 0.99, 1.01))
	gone.Verdict = record.SpanUnsure
	assert.Equal(t, "Whether latency has a knee over span is not known for 1 of 1 load: smaller spans are slower than the largest one.", spanSentence([]record.SpanSweep{gone}))
}

// Two repeats that differ widely have an interval that includes almost everything, so it is not
// shown as a figure.
func TestAnIntervalThatSaysNothingIsSaidInWords(t *testing.T) {
	interval := func(lower, upper float64) string {
		return intervalText(record.Interval{Value: 2, Lower: &lower, Upper: &upper}, units.Ratio)
	}
	assert.Equal(t, "1.90× to 2.10×", interval(1.9, 2.1))
	assert.Equal(t, "0.10× to 10.0×", interval(0.1, 10))
	assert.Equal(t, "repeats differ too much", interval(1e-14, 2e14))
	assert.Equal(t, "repeats differ too much", interval(0, 4))
	assert.Equal(t, none, intervalText(record.Interval{Value: 2}, units.Ratio))
}

// Learning takes longer on a busy host, and the text says so.
func TestLearningSaysHowLongItTakes(t *testing.T) {
	p := record.ProbeStatus{Probe: record.Probe{Interval: 30 * time.Second}, LearningRounds: 12, LearningGoal: 120}
	assert.Equal(t, "learning, 12 of 120 rounds", LearningText(p))
	assert.Equal(t, "learning, 12 of 120 rounds", notCompared(p, time.Time{}), "by an earlier daemon")
	p.Rounds = map[record.Outcome]uint64{record.OutcomeOK: 12, record.OutcomeBusy: 0}
	assert.Equal(t, "learning, 12 of 120 rounds, about 54 min more", LearningText(p))
	p.Rounds[record.OutcomeDisturbed] = 36
	assert.Equal(t, "learning, 12 of 120 rounds, about 3 h 36 min more; 12 of 48 rounds since the start were good", LearningText(p))
	p.Rounds[record.OutcomeOK], p.Rounds[record.OutcomeDisturbed] = 6120, 17
	assert.Equal(t, "learning, 12 of 120 rounds, about 54 min more; 6 120 of 6 137 rounds since the start were good", LearningText(p))
	p.Rounds[record.OutcomeOK], p.Rounds[record.OutcomeDisturbed], p.LearningRounds = 0, 36, 0
	assert.Equal(t, "learning, 0 of 120 rounds; 0 of 36 rounds since the start were good", LearningText(p))
}

// A conclusion that the repeats do not support is not stated.
func TestScalingThatCannotBeTold(t *testing.T) {
	s := record.Scaling{Load: "reads", Unit: "IOPS", Limit: 0.9, Points: []record.ScalePoint{
		{Devices: 1, Total: 100, Linearity: 1},
		{Devices: 2, Total: 190, Linearity: 0.95, Lower: new(0.6), Upper: new(1.5)},
	}}
	assert.Equal(t, "reads: 2 devices reach 190 IOPS together, 95 % of the ideal; whether 2 devices slow each other down is not known: they reach between 60 % and 150 % of the ideal; want more --repeats.", scalingSentence(s))
	s.Points[1].Lower = new(0.93)
	assert.Equal(t, "reads: 2 devices reach 190 IOPS together, 95 % of the ideal: they do not slow each other down.", scalingSentence(s))
}
