package analysis_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// spans returns reads over parts of a drive of 1000 GB. rises holds, by percent, the latency of each repeat
// relative to that of the smallest span.
func spans(rises map[int][]float64) []record.Step {
	var steps []record.Step
	for percent, repeats := range rises {
		for i, rise := range repeats {
			s := randomRead(1, 10_000/rise)
			s.Workload.SpanPercent, s.Workload.SpanBytes, s.Workload.Repeat = percent, int64(percent)*10e9, i+1
			steps = append(steps, s)
		}
	}
	return steps
}

func TestSpans(t *testing.T) {
	for name, c := range map[string]struct {
		rises   map[int][]float64
		verdict record.SpanVerdict
		knee    int // percent
	}{
		"table in memory": {map[int][]float64{1: {1, 1.01, 0.99}, 50: {1.01, 1, 1.02}, 100: {1.02, 1.01, 1}}, record.SpanFlat, 0},
		"half of it":      {map[int][]float64{1: {1, 1.01, 0.99}, 25: {1.03, 1, 1.01}, 50: {1.01, 1.02, 1}, 75: {1.3, 1.31, 1.29}, 100: {1.5, 1.51, 1.49}}, record.SpanKnee, 50},
		"from the first":  {map[int][]float64{1: {1, 1.01, 0.99}, 50: {1.2, 1.21, 1.2}, 100: {1.3, 1.31, 1.3}}, record.SpanKnee, 1},
		// A span in the middle that is not slower moves the knee up to it.
		"uneven":            {map[int][]float64{1: {1, 1.01, 0.99}, 25: {1.3, 1.31, 1.29}, 50: {1, 1.01, 1}, 100: {1.5, 1.5, 1.51}}, record.SpanKnee, 50},
		"noise":             {map[int][]float64{1: {1, 1.9, 0.6}, 50: {1, 1.2, 1.4}, 100: {1.5, 0.9, 2}}, record.SpanUnsure, 0},
		"not for certain":   {map[int][]float64{1: {1, 1.1, 0.9}, 50: {1, 1.1, 0.9}, 100: {1.2, 1.1, 1.1}}, record.SpanUnsure, 0},
		"too wide for flat": {map[int][]float64{1: {0.9, 1, 1.1}, 50: {1, 1, 1}, 100: {0.85, 1.08, 1.3}}, record.SpanUnsure, 0},
		"gone at the end":   {map[int][]float64{1: {1, 1.01, 0.99}, 50: {1.5, 1.51, 1.49}, 100: {1, 1.01, 1}}, record.SpanUnsure, 0},
		// A span that is slow but noisy may be slower, so the knee is before it.
		"noise before the end": {map[int][]float64{1: {1, 1.01, 0.99}, 25: {1, 1.01, 1}, 50: {1.1, 1.3, 2.3}, 100: {1.5, 1.51, 1.49}}, record.SpanKnee, 25},
		"one run each":         {map[int][]float64{1: {1}, 50: {1.5}, 100: {2}}, record.SpanUnsure, 0},
	} {
		got := analysis.Spans(spans(c.rises))
		require.Len(t, got, 1, name)
		assert.Equal(t, []any{"4 KiB random read, depth 1", record.Read, c.verdict, int64(c.knee) * 10e9},
			[]any{got[0].Load, got[0].Direction, got[0].Verdict, got[0].KneeBytes}, name)
		for i, p := range got[0].Points[1:] {
			assert.Greater(t, p.SpanBytes, got[0].Points[i].SpanBytes, name)
			assert.Equal(t, len(c.rises[p.Percent]), p.Repeats, name)
			assert.InEpsilon(t, 1/p.IOPS, p.Mean.Seconds(), 0.15, name)
		}
	}
	assert.Empty(t, analysis.Spans(spans(map[int][]float64{1: {1, 1}, 100: {2, 2}})), "two spans are no curve")
	assert.Empty(t, analysis.Spans([]step{randomRead(1, 100)}))
}

// Disturbed steps decide nothing about the span. Those of which another repeat may decide do not count.
func TestDisturbedStepsDecideNoSpan(t *testing.T) {
	steps := spans(map[int][]float64{1: {1, 1.01, 0.99}, 50: {1, 1.01, 1}, 100: {1.5, 1.51, 1.49}})
	for i := range steps {
		steps[i].Series = fmt.Sprint(steps[i].Workload.SpanPercent)
	}
	steps = append(steps, disturbed(steps[0]))
	steps[len(steps)-1].Read = rate(10, 4096, 1)
	got := analysis.Spans(steps)[0]
	assert.Equal(t, []any{record.SpanKnee, []string(nil)}, []any{got.Verdict, got.Codes})
	for i := range steps {
		if steps[i].Workload.SpanPercent == 100 {
			steps[i] = disturbed(steps[i])
		}
	}
	got = analysis.Spans(steps)[0]
	assert.Equal(t, []any{record.SpanUnsure, int64(0), []string{"disturbed"}}, []any{got.Verdict, got.KneeBytes, got.Codes})
}

// A sweep over spans is not a depth sweep: each span is a load of its own.
func TestSpansAreNoDepths(t *testing.T) {
	var steps []step
	for _, depth := range []int{1, 8, 64} {
		for _, percent := range []int{10, 100} {
			s := randomRead(depth, 1000*float64(depth)*float64(percent))
			s.Workload.SpanPercent = percent
			steps = append(steps, s)
		}
	}
	var loads []string
	for _, k := range analysis.Knees(steps) {
		loads = append(loads, k.Load)
	}
	assert.Equal(t, []string{"4 KiB random read, over 10 %", "4 KiB random read, over 100 %"}, loads)
}

// The rounds of each over-provisioning are evaluated separately.
func TestSpares(t *testing.T) {
	var steps []step
	for _, spare := range []int{20, 0} {
		fill := rounds(50_000)[0]
		fill.Name, fill.Workload.Round, fill.Workload.SparePercent = "fill", 0, &spare
		steps = append(steps, fill)
		for _, s := range rounds(30_000+float64(spare)*1000, 20_000+float64(spare)*1000, 20_000+float64(spare)*1000) {
			s.Name = fmt.Sprintf("spare%d-%s", spare, s.Name)
			s.Workload.SparePercent, s.Workload.SpanBytes = &spare, int64(100-spare)*1e9
			steps = append(steps, s)
		}
	}
	rule := analysis.Rule{Window: 2, MaxRange: 0.2, MaxSlope: 0.1}
	got := analysis.Spares(append(steps, rounds(1, 2)...), rule)
	require.Len(t, got, 2)
	for i, want := range []struct {
		spare  int
		iops   float64
		filled int64
	}{{0, 20_000, 100e9}, {20, 40_000, 80e9}} {
		s := got[i]
		assert.Equal(t, []any{want.spare, want.filled, true, 3, want.iops}, []any{s.SparePercent, s.FilledBytes, s.Steady.Reached, s.Steady.Round, s.Steady.Mean})
		assert.InEpsilon(t, 32/want.iops, s.MeanLatency.Seconds(), 1e-6, "of the window")
		assert.Greater(t, s.Steady.Path[0].WrittenBytes, int64(50_000*4096), "its own filling counts")
		assert.Less(t, s.Steady.Path[2].WrittenBytes, int64(200_000*4096), "that of the others does not")
	}
	assert.Len(t, analysis.RoundsOf(append(steps, rounds(1, 2)...), nil), 2)
}
