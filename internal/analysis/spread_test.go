package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

func repeats(series string, iops ...float64) []step {
	var steps []step
	for i, v := range iops {
		s := randomRead(32, v)
		s.Series, s.Workload.Repeat = series, i+1
		steps = append(steps, s)
	}
	return steps
}

// The intervals are Student's t intervals: t is 4.303, 3.182, 2.262 and 2.228 for 3, 4, 10 and 11 values.
func TestSpreadsHaveStudentsIntervals(t *testing.T) {
	for _, c := range []struct {
		values     []float64
		mean, half float64
	}{
		{[]float64{99, 101}, 100, 12.7062},                                          // s/√n = 1
		{[]float64{90, 100, 110}, 100, 24.841},                                      // 4.3027 · 10/√3
		{[]float64{98, 100, 100, 102}, 100, 2.5985},                                 // 3.1824 · 1.63299/2
		{[]float64{95, 96, 97, 98, 99, 101, 102, 103, 104, 105}, 100, 2.50095},      // 2.2622 · 3.49603/√10
		{[]float64{95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105}, 100, 2.22814}, // 2.2281 · 3.31662/√11
	} {
		got := analysis.Spreads(append(repeats("a", c.values...), randomRead(1, 5), short(repeats("a", 1)[0])))
		require.Len(t, got, 1)
		s := got[0]
		assert.Equal(t, []any{"a", record.Read, len(c.values)}, []any{s.Load, s.Direction, s.Repeats})
		assert.InDelta(t, c.mean, s.IOPS.Mean.Value, 1e-9)
		assert.InEpsilon(t, c.half, *s.IOPS.Mean.Upper-c.mean, 0.002)
		assert.InEpsilon(t, c.half, c.mean-*s.IOPS.Mean.Lower, 0.002)
		assert.Equal(t, []float64{c.values[0], c.values[len(c.values)-1]}, []float64{s.IOPS.Min, s.IOPS.Max})
		assert.InDelta(t, 4096*c.mean, s.BytesPerSecond.Mean.Value, 1e-6)
	}
	assert.Empty(t, analysis.Spreads(repeats("a", 100)), "one is no spread")
}

func cached(cache string, iops ...float64) []step {
	steps := repeats("8k "+cache, iops...)
	for i := range steps {
		steps[i].Workload.Settings = map[string]string{"write cache": cache}
	}
	return steps
}

func TestEffectOfASetting(t *testing.T) {
	steps := append(cached("off", 500, 510, 490, 500), cached("on", 5000, 5100, 4900, 5000)...)
	got := analysis.Effects(steps, "write cache")
	require.Len(t, got, 1)
	e := got[0]
	assert.Equal(t, []any{"4 KiB random read, depth 32", "write cache", "off", "on", record.Faster}, []any{e.Load, e.Setting, e.From, e.To, e.Verdict})
	assert.InEpsilon(t, 10, e.IOPS.Value, 1e-3)
	assert.InEpsilon(t, 0.1, e.Latency.Value, 1e-3)
	assert.True(t, *e.IOPS.Lower > 9.7 && *e.IOPS.Lower < 10 && *e.IOPS.Upper > 10 && *e.IOPS.Upper < 10.3)
	// Both sides have a standard deviation of 1.633 % (of the logarithms); Welch: t(6) · √(2·0.01633²/4).
	assert.InDelta(t, 0.02826, (*e.IOPS.Upper/e.IOPS.Value)-1, 0.001)

	noisy := analysis.Effects(append(cached("off", 500, 900, 700), cached("on", 600, 1000, 650)...), "write cache")[0]
	assert.Equal(t, record.Inconclusive, noisy.Verdict)
	single := analysis.Effects(append(cached("off", 500), cached("on", 600)...), "write cache")[0]
	assert.Equal(t, []any{record.Inconclusive, (*float64)(nil)}, []any{single.Verdict, single.IOPS.Lower})
	assert.Empty(t, analysis.Effects(steps, "interrupt coalescing"))
}

// A disturbed repeat does not count beside a calm one. Without a calm one, the effect is not certain.
func TestDisturbedRepeatsDecideNoEffect(t *testing.T) {
	steps := append(cached("off", 500, 510, 490), cached("on", 5000, 5100, 300)...)
	steps[5] = disturbed(steps[5])
	got := analysis.Effects(steps, "write cache")[0]
	assert.Equal(t, []any{record.Faster, []string(nil)}, []any{got.Verdict, got.Codes})
	assert.InEpsilon(t, 10, got.IOPS.Value, 0.02)

	for i := range 3 {
		steps[i] = disturbed(steps[i])
	}
	got = analysis.Effects(steps, "write cache")[0]
	assert.Equal(t, []any{record.Inconclusive, []string{"disturbed"}}, []any{got.Verdict, got.Codes})
	assert.NotNil(t, got.IOPS.Lower)
}

// Repeats alternate. The first one is what the others are compared with, although it was disturbed.
func TestTheFirstValueOfASettingStaysFirst(t *testing.T) {
	off, on := cached("off", 300, 500), cached("on", 5000, 5000)
	got := analysis.Effects([]step{disturbed(off[0]), on[0], off[1], on[1]}, "write cache")
	require.Len(t, got, 1)
	assert.Equal(t, []string{"off", "on"}, []string{got[0].From, got[0].To})
	assert.InEpsilon(t, 10, got[0].IOPS.Value, 1e-6)
}

func TestOffsets(t *testing.T) {
	at := func(offset int64, speed float64) step {
		w := &record.Workload{Direction: record.Read, Pattern: record.Sequential, BlockBytes: 1 << 20, QueueDepth: 8, Jobs: 1, OffsetBytes: offset}
		return step{Workload: w, Read: &record.Result{BytesPerSecond: speed}}
	}
	lines := analysis.Offsets([]step{at(200, 50e6), at(0, 100e6), at(100, 70e6), at(100, 80e6)})
	require.Len(t, lines, 1)
	got := &lines[0]
	// t(1) · √(50e12/2)
	assert.InDelta(t, 75e6-63.531e6, *got.Points[1].Lower, 1e3)
	assert.InDelta(t, 75e6+63.531e6, *got.Points[1].Upper, 1e3)
	got.Points[1].Lower, got.Points[1].Upper = nil, nil
	assert.Equal(t, &record.OffsetSpeeds{
		Points:  []record.OffsetSpeed{{OffsetBytes: 0, BytesPerSecond: 100e6}, {OffsetBytes: 100, BytesPerSecond: 75e6}, {OffsetBytes: 200, BytesPerSecond: 50e6}},
		Slowest: record.OffsetSpeed{OffsetBytes: 200, BytesPerSecond: 50e6}, Fastest: record.OffsetSpeed{OffsetBytes: 0, BytesPerSecond: 100e6}, Evenness: 0.5,
	}, got)
	assert.Nil(t, analysis.Offsets([]step{at(0, 100e6)}))
}

// Each device has a line alone and one beside others; the difference has an interval over the places.
func TestOffsetsBesideOthers(t *testing.T) {
	at := func(target string, offset int64, speed float64, beside ...string) step {
		w := &record.Workload{Direction: record.Read, Pattern: record.Sequential, BlockBytes: 1 << 20, QueueDepth: 8, Jobs: 1, OffsetBytes: offset, Targets: []string{target}, Beside: beside}
		s := step{Workload: w, Read: &record.Result{BytesPerSecond: speed}}
		if len(beside) > 0 {
			s.Parts = []record.Part{{Read: s.Read}, {Read: &record.Result{BytesPerSecond: 30e6}}, {Read: &record.Result{BytesPerSecond: 10e6}}}
		}
		return s
	}
	got := analysis.Offsets([]step{
		at("a", 0, 100e6), at("a", 100, 80e6), at("a", 0, 50e6, "b", "c"), at("a", 100, 40e6, "b", "c"), at("b", 0, 100e6), at("b", 100, 100e6),
	})
	require.Len(t, got, 3)
	assert.Equal(t, []any{"a", 0, "a", 2, "b", 0}, []any{got[0].Target, got[0].Beside, got[1].Target, got[1].Beside, got[2].Target, got[2].Beside})
	assert.Nil(t, got[0].AgainstAlone)
	assert.InDelta(t, 0.5, got[1].AgainstAlone.Value, 1e-9)
	assert.InDelta(t, 0.5, *got[1].AgainstAlone.Lower, 1e-9)
	assert.InDelta(t, 40e6, got[1].OthersBytesPerSecond, 1)

	var before record.OffsetLines
	require.NoError(t, before.UnmarshalJSON([]byte(`{"points":[{"offset_bytes":7,"bytes_per_second":1}]}`)))
	assert.Equal(t, int64(7), before[0].Points[0].OffsetBytes, "as one device was stored")
}

// A place measured while the host was disturbed is shown, but is neither the slowest nor part of an interval.
func TestDisturbedPlacesDecideNothing(t *testing.T) {
	at := func(offset int64, speed float64, codes ...string) step {
		w := &record.Workload{Direction: record.Read, Pattern: record.Sequential, BlockBytes: 1 << 20, QueueDepth: 8, Jobs: 1, OffsetBytes: offset}
		s := step{Workload: w, Read: &record.Result{BytesPerSecond: speed}}
		for _, code := range codes {
			s.Warnings = append(s.Warnings, record.Warning{Code: code})
		}
		return s
	}
	got := analysis.Offsets([]step{at(0, 100e6), at(100, 10e6, record.WarnDisturbed), at(200, 80e6), at(200, 20e6, record.WarnDisturbed)})[0]
	assert.Equal(t, []any{0.8, int64(200), 2, []string{"disturbed"}}, []any{got.Evenness, got.Slowest.OffsetBytes, got.Disregarded, got.Codes})
	assert.Equal(t, []bool{false, true, false}, []bool{got.Points[0].Disregarded, got.Points[1].Disregarded, got.Points[2].Disregarded})

	all := analysis.Offsets([]step{at(0, 100e6, record.WarnDisturbed), at(100, 10e6, record.WarnOthersActive)})[0]
	assert.Zero(t, all.Evenness)
	assert.Len(t, all.Points, 2)
	assert.Equal(t, []string{"disturbed", "others_active"}, all.Codes)

	beside := at(0, 50e6, record.WarnDisturbed)
	beside.Workload.Beside = []string{"b"}
	other := at(100, 40e6)
	other.Workload.Beside = []string{"b"}
	pair := analysis.Offsets([]step{at(0, 100e6), at(100, 100e6), beside, other})
	assert.InDelta(t, 0.4, pair[1].AgainstAlone.Value, 1e-9)
}
