package analysis

import (
	"cmp"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// SpanLimit is the ratio of a span's mean latency to that of the smallest span from which the span
// counts as slower.
const SpanLimit = 1.1

// Spans reports for each load that was measured over three or more spans how its latency rises with
// the span. A drive looks up blocks in a mapping table and may hold only a part of that table in fast
// memory. A block outside that part takes another read of flash.
func Spans(steps []record.Step) []record.SpanSweep {
	type load struct {
		text      string
		direction record.Direction
	}
	var loads groups[load, groups[int64, []result]] // by the span
	var codes groups[load, []string]
	percents := map[int64]int{}
	for _, s := range calm(steps) {
		if s.Workload == nil || s.Workload.SpanPercent == 0 || s.Workload.SparePercent != nil {
			continue
		}
		w := *s.Workload
		percents[w.SpanBytes] = w.SpanPercent
		w.SpanPercent = 0
		for _, r := range results(s) {
			l := load{w.String(), r.direction}
			add(loads.at(l), s.Workload.SpanBytes, r)
			*codes.at(l) = addSpoiled(*codes.at(l), s)
		}
	}
	var all []record.SpanSweep
	for _, l := range loads.keys {
		spans := loads.at(l)
		if len(spans.keys) < 3 {
			continue
		}
		slices.SortFunc(spans.keys, cmp.Compare)
		s := record.SpanSweep{Load: l.text, Direction: l.direction, Limit: SpanLimit, Codes: *codes.at(l)}
		smallest := *spans.at(spans.keys[0])
		for i, bytes := range spans.keys {
			p := spanPoint(*spans.at(bytes))
			p.SpanBytes, p.Percent, p.Rise = bytes, percents[bytes], record.Interval{Value: 1}
			if i > 0 {
				p.Rise = confidence.Ratio(means(smallest), means(*spans.at(bytes)))
			}
			s.Points = append(s.Points, p)
		}
		s.Verdict = record.SpanUnsure
		if len(s.Codes) == 0 {
			s.Verdict, s.KneeBytes = spanVerdict(s.Points)
		}
		all = append(all, s)
	}
	return all
}

// spanPoint returns the mean of the repeats.
func spanPoint(repeats []result) record.SpanPoint {
	p := record.SpanPoint{Repeats: len(repeats)}
	n := float64(len(repeats))
	for _, r := range repeats {
		p.IOPS += r.IOPS / n
		p.Mean += r.Mean / time.Duration(len(repeats))
		p.P50 += r.Latency.Quantile(0.5) / time.Duration(len(repeats))
		p.P99 += r.Latency.Quantile(0.99) / time.Duration(len(repeats))
		p.P99Unsure = p.P99Unsure || r.Unsure(0.99)
	}
	return p
}

// means returns the mean latency of each repeat, in seconds.
func means(repeats []result) []float64 {
	all := make([]float64, len(repeats))
	for i, r := range repeats {
		all[i] = r.Mean.Seconds()
	}
	return all
}

// spanVerdict reports a knee when the largest span is certainly slower. The knee is the last span
// before the rise that is certainly not slower. It reports a flat curve when a rise can be excluded.
// An interval wider than the rise itself decides nothing.
func spanVerdict(points []record.SpanPoint) (record.SpanVerdict, int64) {
	slower := func(p record.SpanPoint) bool { return p.Rise.Value >= SpanLimit && p.Rise.Excludes(1) }
	last := points[len(points)-1]
	switch {
	case last.Rise.Lower == nil || last.Rise.Wide():
		return record.SpanUnsure, 0
	case *last.Rise.Upper < SpanLimit && !slices.ContainsFunc(points, slower):
		return record.SpanFlat, 0
	case !slower(last):
		return record.SpanUnsure, 0
	}
	first := len(points) - 1
	for first > 1 && (points[first-1].Rise.Upper == nil || *points[first-1].Rise.Upper >= SpanLimit) {
		first--
	}
	return record.SpanKnee, points[first-1].SpanBytes
}

// Spares returns the steady states of the rounds that left a part of the device unused, in rising
// order of that part.
func Spares(steps []record.Step, rule Rule) []record.SpareState {
	var all []record.SpareState
	var seen groups[int, struct{}]
	for _, s := range steps {
		if s.Workload != nil && s.Workload.SparePercent != nil && s.Workload.Round > 0 {
			seen.at(*s.Workload.SparePercent)
		}
	}
	for _, spare := range seen.keys {
		own := RoundsOf(steps, &spare)
		steady := Steadiness(own, rule)
		if steady == nil {
			continue
		}
		state := record.SpareState{SparePercent: spare, Steady: *steady}
		var mean, p99 []float64
		var unsure []bool
		for _, s := range complete(own) {
			if s.Workload.Round > 0 {
				r := results(s)[0]
				state.FilledBytes = s.Workload.SpanBytes
				mean, p99 = append(mean, r.Mean.Seconds()), append(p99, r.Latency.Quantile(0.99).Seconds())
				unsure = append(unsure, r.Unsure(0.99))
			}
		}
		from := max(0, len(mean)-rule.Window)
		state.MeanLatency = time.Duration(stat.Mean(mean[from:], nil) * float64(time.Second))
		state.P99 = time.Duration(stat.Mean(p99[from:], nil) * float64(time.Second))
		state.P99Unsure = slices.Contains(unsure[from:], true)
		all = append(all, state)
	}
	slices.SortFunc(all, func(a, b record.SpareState) int { return cmp.Compare(a.SparePercent, b.SparePercent) })
	return all
}

// RoundsOf returns the steps that belong to one over-provisioning, or those that belong to none when
// spare is nil.
func RoundsOf(steps []record.Step, spare *int) []record.Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s record.Step) bool {
		if s.Workload == nil || s.Workload.SparePercent == nil || spare == nil {
			return (s.Workload == nil || s.Workload.SparePercent == nil) != (spare == nil)
		}
		return *s.Workload.SparePercent != *spare
	})
}
